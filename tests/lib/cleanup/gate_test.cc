// The gate: entering, closing, and that closing waits for exactly those inside.
#include "lib/cleanup/gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "lib/cleanup/standard_atomics.h"

namespace holdfast::cleanup {
namespace {

using Gate = ShutdownGate<StandardAtomics>;

TEST(ShutdownGateTest, LetsInUntilClosed) {
  Gate gate;
  EXPECT_FALSE(gate.IsClosed());
  ASSERT_TRUE(gate.Enter());
  ASSERT_TRUE(gate.Enter());
  gate.Leave();
  gate.Leave();
  EXPECT_TRUE(gate.Close());
  EXPECT_TRUE(gate.IsClosed());
  EXPECT_FALSE(gate.Enter());
}

TEST(ShutdownGateTest, ClosesOnce) {
  Gate gate;
  EXPECT_TRUE(gate.Close());
  EXPECT_FALSE(gate.Close());
}

TEST(ShutdownGateTest, CloseWaitsForThoseInside) {
  Gate gate;
  std::atomic<bool> left{false};
  ASSERT_TRUE(gate.Enter());
  std::thread closer([&] {
    EXPECT_TRUE(gate.Close());
    EXPECT_TRUE(left) << "Close returned with a thread inside";
  });
  while (!gate.IsClosed()) {
    std::this_thread::yield();
  }
  EXPECT_FALSE(gate.Enter());
  left = true;
  gate.Leave();
  closer.join();
}

// What is done inside happens before Close returns: under ThreadSanitizer a missing order is a report.
TEST(ShutdownGateTest, WhatIsDoneInsideHappensBeforeCloseReturns) {
  for (int round = 0; round < 500; ++round) {
    Gate gate;
    std::vector<int> written(2, 0);
    std::atomic<int> attempts{0};
    std::vector<std::thread> threads;
    for (int& mine : written) {
      threads.emplace_back([&] {
        while (gate.Enter()) {
          ++mine;
          gate.Leave();
          ++attempts;
        }
      });
    }
    while (attempts < 4) {
      std::this_thread::yield();
    }
    ASSERT_TRUE(gate.Close());
    const int sum = written[0] + written[1];
    for (std::thread& thread : threads) {
      thread.join();
    }
    ASSERT_EQ(sum, written[0] + written[1]) << "a thread was inside after Close";
  }
}

}  // namespace
}  // namespace holdfast::cleanup
