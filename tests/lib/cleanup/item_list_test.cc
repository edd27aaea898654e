// The list by itself: order, emptiness, and that nothing is lost between pushers and a taker.
#include "lib/cleanup/item_list.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "lib/cleanup/standard_atomics.h"

namespace holdfast::cleanup {
namespace {

using Item = CleanupItem<StandardAtomics>;
using List = ItemList<StandardAtomics>;

struct NumberedItem : Item {
  explicit NumberedItem(int number_of_item) : Item([](Item*) noexcept {}), number(number_of_item) {}
  int number;
};

std::vector<int> TakeNumbers(List& list) {
  std::vector<int> numbers;
  for (Item* item = list.TakeAll(); item != nullptr; item = item->next) {
    numbers.push_back(static_cast<NumberedItem*>(item)->number);
  }
  return numbers;
}

TEST(ItemListTest, NewListIsEmpty) {
  List list;
  EXPECT_TRUE(list.Empty());
  EXPECT_EQ(list.TakeAll(), nullptr);
}

TEST(ItemListTest, TakesOldestFirst) {
  List list;
  NumberedItem first(1), second(2), third(3);
  list.Push(&first);
  list.Push(&second);
  list.Push(&third);
  EXPECT_FALSE(list.Empty());
  EXPECT_EQ(TakeNumbers(list), (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(list.Empty());
}

TEST(ItemListTest, LosesNothingBetweenThreads) {
  constexpr int kThreads = 3;
  constexpr int kItems = 20'000;
  List list;
  std::vector<std::unique_ptr<NumberedItem>> items;
  for (int i = 0; i < kThreads * kItems; ++i) {
    items.push_back(std::make_unique<NumberedItem>(i));
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kItems; ++i) {
        list.Push(items[t * kItems + i].get());
      }
    });
  }
  // Numbers of one thread must come in order; each must come once.
  std::vector<int> last(kThreads, -1);
  int taken = 0;
  while (taken < kThreads * kItems) {
    for (const int number : TakeNumbers(list)) {
      ASSERT_LT(last[number / kItems], number);
      last[number / kItems] = number;
      ++taken;
    }
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_TRUE(list.Empty());
}

}  // namespace
}  // namespace holdfast::cleanup
