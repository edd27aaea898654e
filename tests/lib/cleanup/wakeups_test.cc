// The wakeups and the retry thread: that they run what they were given, where, and stop when told.
#include "lib/cleanup/wakeups.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "lib/cleanup/retry_thread.h"

namespace holdfast::cleanup {
namespace {

struct Drains {
  static void Count(void* drains) noexcept {
    static_cast<Drains*>(drains)->thread = std::this_thread::get_id();
    ++static_cast<Drains*>(drains)->count;
  }
  DrainFunction function() { return {&Count, this}; }
  std::atomic<std::thread::id> thread{};
  std::atomic<int> count{0};
};

void AwaitCount(const std::atomic<int>& count, int wanted) {
  while (count < wanted) {
    std::this_thread::yield();
  }
}

TEST(WakeupsTest, ManualAcceptsAndRunsNothing) {
  ManualWakeup wakeup;
  Drains drains;
  wakeup.Start(drains.function());
  EXPECT_TRUE(wakeup.Request());
  wakeup.Stop();
  EXPECT_EQ(drains.count, 0);
}

TEST(WakeupsTest, WorkerDrainsOnItsOwnThread) {
  WorkerWakeup wakeup;
  Drains drains;
  wakeup.Start(drains.function());
  EXPECT_TRUE(wakeup.Request());
  AwaitCount(drains.count, 1);
  EXPECT_NE(drains.thread.load(), std::this_thread::get_id());
  wakeup.Stop();
  EXPECT_TRUE(wakeup.Request());
  wakeup.Stop();
  EXPECT_EQ(drains.count, 1) << "nothing runs after Stop";
}

int (*pending_call)(void*) = nullptr;
void* pending_argument = nullptr;
bool host_accepts = true;

int AddPendingCall(int (*call)(void*), void* argument) {
  if (!host_accepts) {
    return -1;
  }
  pending_call = call;
  pending_argument = argument;
  return 0;
}

TEST(WakeupsTest, PendingCallRunsTheDrainWhenTheHostCallsIt) {
  PendingCallWakeup wakeup(&AddPendingCall);
  Drains drains;
  wakeup.Start(drains.function());
  host_accepts = false;
  EXPECT_FALSE(wakeup.Request());
  host_accepts = true;
  ASSERT_TRUE(wakeup.Request());
  EXPECT_EQ(drains.count, 0);
  EXPECT_EQ(pending_call(pending_argument), 0);
  EXPECT_EQ(drains.count, 1);
}

TEST(RetryThreadTest, ParkedUntilAlertedAndTriesUntilSettled) {
  std::atomic<int> attempts{0};
  RetryThread retry([&attempts] { return ++attempts == 3; });
  EXPECT_EQ(attempts, 0);
  retry.Alert();
  AwaitCount(attempts, 3);
  retry.Stop();
  EXPECT_EQ(attempts, 3) << "settled: parked again";
}

// A refused attempt alerts again by itself. That must not make the next one come at once.
TEST(RetryThreadTest, PausesBetweenAttemptsThoughEachAlerts) {
  std::atomic<int> attempts{0};
  std::atomic<RetryThread*> self{nullptr};
  RetryThread retry([&] {
    self.load()->Alert();
    return ++attempts == 5;
  });
  self = &retry;
  const auto start = std::chrono::steady_clock::now();
  retry.Alert();
  AwaitCount(attempts, 5);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 4 * RetryThread::kInterval);
}

TEST(RetryThreadTest, StopsInTheMiddleOfTrying) {
  std::atomic<int> attempts{0};
  RetryThread retry([&attempts] {
    ++attempts;
    return false;
  });
  retry.Alert();
  AwaitCount(attempts, 1);
  retry.Stop();
  const int at_stop = attempts;
  retry.Alert();
  EXPECT_EQ(attempts, at_stop);
}

}  // namespace
}  // namespace holdfast::cleanup
