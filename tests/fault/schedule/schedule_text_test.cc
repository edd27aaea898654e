// The text of a schedule: written step by step, read back, read by the explorer, refused.
#include "fault/schedule/schedule_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/explore/schedule.h"

namespace holdfast::schedule {
namespace {

std::string Write(const std::vector<std::size_t>& threads, std::size_t room = 1 << 12) {
  std::vector<char> memory(room);
  ScheduleWriter writer;
  writer.Begin(memory.data(), memory.size());
  std::uint32_t hash = 0xfffffff0;
  for (const std::size_t thread : threads) {
    if (!writer.Append(thread, ++hash)) return "no room";
  }
  return memory.data();
}

std::vector<std::uint8_t> g_threads(kStepsMax);

const char* WhatIsWrongWith(std::string_view text) {
  std::size_t steps = 0;
  const ScheduleProblem problem = ReadSchedule(text, g_threads.data(), steps);
  return problem.what == nullptr ? "nothing" : problem.what;
}

TEST(ScheduleTextTest, RunsOfOneThreadAreCounted) {
  EXPECT_EQ(Write({}), "x1:");
  EXPECT_EQ(Write({0}), "x1:a#fffffff1");
  EXPECT_EQ(Write({0, 0, 0, 1, 1, 0}), "x1:a3b2a#fffffff6");
  EXPECT_EQ(Write({25, 26, 51}), "x1:zAZ#fffffff3");
  EXPECT_EQ(Write(std::vector<std::size_t>(12, 2)), "x1:c12#fffffffc");
}

TEST(ScheduleTextTest, AShorterHashLeavesNothingOfALongerOne) {
  EXPECT_EQ(Write(std::vector<std::size_t>(17, 0)), "x1:a17#1");
}

TEST(ScheduleTextTest, WhatHasNoRoomIsNotWritten) {
  std::vector<std::size_t> threads;
  for (std::size_t step = 0; step < 100; ++step) threads.push_back(step % 2);
  EXPECT_EQ(Write(threads, 64), "no room");
}

TEST(ScheduleTextTest, WhatWasWrittenIsReadBack) {
  const std::vector<std::size_t> threads{0, 0, 3, 51, 51, 51, 26, 0};
  std::size_t steps = 0;
  ASSERT_EQ(ReadSchedule(Write(threads), g_threads.data(), steps).what, nullptr);
  EXPECT_EQ(std::vector<std::size_t>(g_threads.begin(), g_threads.begin() + static_cast<std::ptrdiff_t>(steps)),
            threads);
}

TEST(ScheduleTextTest, TheExplorerReadsItToo) {
  const std::vector<std::size_t> threads{0, 0, 1, 2, 2, 7, 0};
  const explore::Schedule schedule = explore::ParseSchedule(Write(threads));
  ASSERT_EQ(schedule.steps.size(), threads.size());
  for (std::size_t step = 0; step < threads.size(); ++step) EXPECT_EQ(schedule.steps[step].thread, threads[step]);
  EXPECT_EQ(schedule.hash, 0xfffffff7);
  EXPECT_EQ(Format(schedule), Write(threads));
}

TEST(ScheduleTextTest, WhatIsNoScheduleIsRefused) {
  EXPECT_STREQ(WhatIsWrongWith("x1:a3b2a#5f3a9c01"), "nothing");
  EXPECT_STREQ(WhatIsWrongWith("y1:a#1"), "it does not begin with x1:");
  EXPECT_STREQ(WhatIsWrongWith("x1:a3b"), "there is no # and no hash: was it cut off?");
  EXPECT_STREQ(WhatIsWrongWith("x1:a?#1"), "there is no thread of this name");
  EXPECT_STREQ(WhatIsWrongWith("x1:a0#1"), "a count is at least 1, and there are at most ten million steps");
  EXPECT_STREQ(WhatIsWrongWith("x1:a99999999999999999999#1"),
               "a count is at least 1, and there are at most ten million steps");
}

}  // namespace
}  // namespace holdfast::schedule
