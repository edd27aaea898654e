// The queue against a host that the test controls. Single-threaded first, so that the oracle itself is known to be
// right; the interleavings are A12's.
#include "lib/cleanup/cleanup_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "lib/cleanup/standard_atomics.h"

namespace holdfast::cleanup {
namespace {

using Queue = CleanupQueue<StandardAtomics>;
using Item = CleanupItem<StandardAtomics>;

class TestWakeup : public Wakeup {
 public:
  void Start(DrainFunction) override {}
  void Stop() noexcept override {}
  bool Request() noexcept override {
    ++requests;
    return accepts;
  }

  bool accepts = true;
  std::atomic<int> requests{0};
};

struct TestItem : Item {
  explicit TestItem(std::function<void()> action = {}) : Item(&Release), on_release(std::move(action)) {}
  static void Release(Item* item) noexcept {
    auto* self = static_cast<TestItem*>(item);
    ++self->releases;
    if (self->on_release) {
      self->on_release();
    }
  }
  std::function<void()> on_release;
  int releases = 0;
};

class CleanupQueueTest : public testing::Test {
 protected:
  TestWakeup wakeup_;
  int alerts_ = 0;
  Queue queue_{wakeup_, nullptr, {[](void* alerts) noexcept { ++*static_cast<int*>(alerts); }, &alerts_}};
};

TEST_F(CleanupQueueTest, AsksForOneWakeupHoweverManyPayloads) {
  TestItem first, second;
  queue_.Enqueue(&first);
  queue_.Enqueue(&second);
  EXPECT_EQ(wakeup_.requests, 1);
  EXPECT_TRUE(queue_.HasWork());
  EXPECT_TRUE(queue_.IsScheduled());
  EXPECT_EQ(first.releases + second.releases, 0);
}

TEST_F(CleanupQueueTest, WakeupDrainsAndTheNextPayloadAsksAgain) {
  TestItem first, second;
  queue_.Enqueue(&first);
  queue_.DrainForWakeup();
  EXPECT_EQ(first.releases, 1);
  EXPECT_FALSE(queue_.HasWork());
  EXPECT_FALSE(queue_.IsScheduled());
  queue_.Enqueue(&second);
  EXPECT_EQ(wakeup_.requests, 2);
}

TEST_F(CleanupQueueTest, ExplicitDrainLeavesTheOutstandingWakeup) {
  TestItem first, second;
  queue_.Enqueue(&first);
  queue_.Drain();
  EXPECT_EQ(first.releases, 1);
  EXPECT_TRUE(queue_.IsScheduled()) << "the host still has the call";
  queue_.Enqueue(&second);
  EXPECT_EQ(wakeup_.requests, 1) << "a second call would be one too many";
  queue_.DrainForWakeup();
  EXPECT_EQ(second.releases, 1);
}

TEST_F(CleanupQueueTest, RefusedWakeupIsToldAndCanBeAskedForAgain) {
  wakeup_.accepts = false;
  TestItem item;
  queue_.Enqueue(&item);
  EXPECT_EQ(alerts_, 1);
  EXPECT_FALSE(queue_.IsScheduled());
  EXPECT_FALSE(queue_.RequestIfNeeded());
  wakeup_.accepts = true;
  EXPECT_TRUE(queue_.RequestIfNeeded());
  EXPECT_TRUE(queue_.IsScheduled());
  const CleanupCounters counters = queue_.Counters();
  EXPECT_EQ(counters.wakeups_refused, 2u);
  EXPECT_EQ(counters.wakeups_requested, 1u);
}

TEST_F(CleanupQueueTest, NoRequestWithoutWork) {
  EXPECT_TRUE(queue_.RequestIfNeeded());
  EXPECT_EQ(wakeup_.requests, 0);
}

TEST_F(CleanupQueueTest, DrainIsBoundedAndAsksForTheRest) {
  std::vector<std::unique_ptr<TestItem>> items;
  for (std::size_t i = 0; i < Queue::kBatchItemsMax + 10; ++i) {
    items.push_back(std::make_unique<TestItem>());
    queue_.Enqueue(items.back().get());
  }
  queue_.DrainForWakeup();
  const auto released = std::count_if(items.begin(), items.end(), [](const auto& item) { return item->releases == 1; });
  EXPECT_EQ(static_cast<std::size_t>(released), Queue::kBatchItemsMax);
  EXPECT_EQ(wakeup_.requests, 2);
  EXPECT_TRUE(queue_.HasWork());
  queue_.DrainForWakeup();
  EXPECT_FALSE(queue_.HasWork());
  EXPECT_EQ(queue_.Counters().queue_length_peak, Queue::kBatchItemsMax + 10);
}

TEST_F(CleanupQueueTest, ReleasesInOrderAcrossDrains) {
  std::vector<int> order;
  std::vector<std::unique_ptr<TestItem>> items;
  for (int i = 0; i < 3000; ++i) {
    items.push_back(std::make_unique<TestItem>([&order, i] { order.push_back(i); }));
    queue_.Enqueue(items.back().get());
  }
  while (queue_.HasWork()) {
    queue_.DrainForWakeup();
  }
  EXPECT_EQ(order.size(), items.size());
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_F(CleanupQueueTest, ReleaseMayEnqueueAndDrain) {
  TestItem late;
  int depth = 0;
  TestItem outer([&] {
    ++depth;
    queue_.Enqueue(&late);
    queue_.Drain();
    EXPECT_EQ(late.releases, 0) << "a nested drain releases nothing on top of a release";
    --depth;
  });
  queue_.Enqueue(&outer);
  queue_.DrainForWakeup();
  EXPECT_EQ(late.releases, 1) << "the drain under way looks again";
}

TEST_F(CleanupQueueTest, ShutdownDrainsAndTurnsLaterPayloadsAway) {
  TestItem early, late;
  queue_.Enqueue(&early);
  EXPECT_TRUE(queue_.Shutdown());
  EXPECT_EQ(early.releases, 1);
  queue_.Enqueue(&late);
  queue_.Drain();
  queue_.DrainForWakeup();
  EXPECT_EQ(late.releases, 0);
  EXPECT_EQ(wakeup_.requests, 1);
  EXPECT_EQ(queue_.Counters().leaked_at_shutdown, 1u);
  EXPECT_FALSE(queue_.Shutdown());
}

TEST_F(CleanupQueueTest, ShutdownReleasesMoreThanOneBatch) {
  std::vector<std::unique_ptr<TestItem>> items;
  for (std::size_t i = 0; i < 2 * Queue::kBatchItemsMax + 1; ++i) {
    items.push_back(std::make_unique<TestItem>());
    queue_.Enqueue(items.back().get());
  }
  EXPECT_TRUE(queue_.Shutdown());
  for (const auto& item : items) {
    ASSERT_EQ(item->releases, 1);
  }
}

TEST_F(CleanupQueueTest, ShutdownReleasesWhatReleasesBring) {
  TestItem third;
  TestItem second([&] { queue_.Enqueue(&third); });
  TestItem first([&] { queue_.Enqueue(&second); });
  queue_.Enqueue(&first);
  EXPECT_TRUE(queue_.Shutdown());
  EXPECT_EQ(first.releases + second.releases + third.releases, 3);
  EXPECT_EQ(queue_.Counters().leaked_at_shutdown, 0u);
}

TEST_F(CleanupQueueTest, WorkThatWasTakenAndNotReleasedIsWork) {
  bool has_work = false;
  TestItem first([&] { has_work = queue_.HasWork(); });
  TestItem second;
  queue_.Enqueue(&first);
  queue_.Enqueue(&second);
  queue_.Drain();
  EXPECT_TRUE(has_work) << "the second one was still to be released";
  EXPECT_FALSE(queue_.HasWork());
}

TEST_F(CleanupQueueTest, RefusedRequestForALostWakeupIsToldToo) {
  TestItem item;
  queue_.Enqueue(&item);
  wakeup_.accepts = false;
  queue_.RequestAgain();
  EXPECT_EQ(alerts_, 1);
  EXPECT_FALSE(queue_.IsScheduled()) << "the retry must be able to ask";
  wakeup_.accepts = true;
  EXPECT_TRUE(queue_.RequestIfNeeded());
  queue_.DrainForWakeup();
  EXPECT_EQ(item.releases, 1);
}

class CountingScope : public BatchScope {
 public:
  void BeforeBatch() noexcept override { ++before; }
  void AfterBatch() noexcept override { ++after; }
  int before = 0;
  int after = 0;
};

TEST(CleanupQueueScopeTest, EachBatchIsInsideTheScope) {
  TestWakeup wakeup;
  CountingScope scope;
  Queue queue(wakeup, &scope, {});
  queue.Drain();
  EXPECT_EQ(scope.before, 0) << "an empty drain has no batch";
  TestItem item([&] { EXPECT_EQ(scope.before, scope.after + 1); });
  queue.Enqueue(&item);
  queue.Drain();
  EXPECT_EQ(scope.before, 1);
  EXPECT_EQ(scope.after, 1);
}

// Several producers, a drainer, and at the end nothing is left without a wakeup.
TEST(CleanupQueueThreadTest, QuietMeansEmptyOrWakeupOutstanding) {
  constexpr int kThreads = 3;
  constexpr int kItems = 2'000;
  for (int round = 0; round < 20; ++round) {
    TestWakeup wakeup;
    Queue queue(wakeup, nullptr, {});
    std::vector<std::unique_ptr<TestItem>> items;
    for (int i = 0; i < kThreads * kItems; ++i) {
      items.push_back(std::make_unique<TestItem>());
    }
    std::atomic<int> running{kThreads};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kItems; ++i) {
          queue.Enqueue(items[t * kItems + i].get());
        }
        --running;
      });
    }
    int wakeups_run = 0;
    while (running > 0 || wakeups_run < wakeup.requests) {
      if (wakeups_run < wakeup.requests) {
        ++wakeups_run;
        queue.DrainForWakeup();
      }
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    while (wakeups_run < wakeup.requests) {
      ++wakeups_run;
      queue.DrainForWakeup();
    }
    ASSERT_FALSE(queue.HasWork());
    for (const auto& item : items) {
      ASSERT_EQ(item->releases, 1);
    }
  }
}

}  // namespace
}  // namespace holdfast::cleanup
