// The registry of handles with objects of its own making, so that raw values can come again at any moment.
#include "lib/handles/handle_registry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace holdfast::handles {
namespace {

class Thing {
 public:
  explicit Thing(int raw) : raw_(raw) {}
  ~Thing() { HandleRegistry<Thing>::Process().Remove(*this); }
  int raw() const noexcept { return raw_; }

 private:
  const int raw_;
};

using Registry = HandleRegistry<Thing>;
using Handle = Registry::Handle;

Registry& Things() { return Registry::Process(); }

TEST(HandleRegistry, KeepsNothingAlive) {
  Handle thing = std::make_shared<const Thing>(1);
  Things().Add(thing);
  EXPECT_EQ(Things().Find(1), thing);
  EXPECT_EQ(Things().Find(2), nullptr);
  EXPECT_EQ(thing.use_count(), 1);
  thing = nullptr;
  EXPECT_EQ(Things().Find(1), nullptr);
  EXPECT_EQ(Things().size(), 0u);
}

// Covers: IH-12
TEST(HandleRegistry, LookingUpTwiceGivesTheLiveHandle) {
  const Handle first = Things().FindOrAdd(std::make_shared<const Thing>(1));
  const Handle second = Things().FindOrAdd(std::make_shared<const Thing>(1));
  EXPECT_EQ(first, second);
  EXPECT_EQ(Things().Find(1), first) << "the one that was made for nothing took no entry out";
}

TEST(HandleRegistry, AYoungerObjectTakesTheEntryOverAndKeepsIt) {
  Handle older = std::make_shared<const Thing>(1);
  Things().Add(older);
  const Handle younger = std::make_shared<const Thing>(1);
  Things().Add(younger);
  older = nullptr;
  EXPECT_EQ(Things().Find(1), younger);
  EXPECT_EQ(Things().size(), 1u);
}

// Each thread drops its handles at its own pace; a raw value is given to the next one at once.
TEST(HandleRegistry, ThreadsThatShareRawValuesFindOneAnothersOrNone) {
  constexpr int kRounds = 2'000;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&wrong] {
      for (int round = 0; round < kRounds; ++round) {
        const Handle found = Things().FindOrAdd(std::make_shared<const Thing>(round % 3));
        const Handle again = Things().Find(round % 3);
        wrong += found->raw() != round % 3 || again != found;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(Things().size(), 0u);
}

}  // namespace
}  // namespace holdfast::handles
