// Schedules: the text, the order with the fewest switches, replays, and how findings are shortened.
//
// Method: a specimen whose shortest failure is known: three switches, for the drain must run between the two producers
// and after the first of them, and wait at the end.
#include "harness/explore/schedule.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "harness/explore/explore.h"
#include "harness/explore/explorer.h"

namespace holdfast::explore {
namespace {

constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;

// A wakeup that is coalesced by a flag which the drain clears with a plain store.
struct Mailbox {
  atomic<int> letters{0};
  atomic<bool> is_called{false};
  semaphore bell;
};

void Post(Mailbox& mailbox) {
  mailbox.letters.fetch_add(1, kRelease);
  bool not_called = false;
  if (mailbox.is_called.compare_exchange_strong(not_called, true, std::memory_order_acq_rel, kAcquire)) {
    mailbox.bell.release();
  }
}

void Coalesced(Threads& threads, bool host_may_refuse) {
  Mailbox& mailbox = threads.Make<Mailbox>();
  for (const char* name : {"first", "second"}) {
    threads.Add(name, [&mailbox, host_may_refuse] {
      if (!host_may_refuse || !Fails()) {
        Post(mailbox);
      }
    });
  }
  threads.AddWaiting("postman", [&mailbox] {
    while (true) {
      mailbox.bell.acquire();
      mailbox.is_called.store(false, kRelease);
      mailbox.letters.exchange(0, kAcquire);
    }
  });
  threads.Finally([&mailbox] { RequireNotStranded(mailbox.letters.load() == 0, "letters and nobody called"); });
}

Program Specimen(bool host_may_refuse = false) {
  return {"specimen", "", [host_may_refuse](Threads& threads) { Coalesced(threads, host_may_refuse); }, {}};
}

std::string MessageOf(const std::string& text) {
  try {
    ParseSchedule(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "it was read";
}

TEST(ScheduleTest, TextAndStepsAreTheSame) {
  for (const char* text : {"x1:#1", "x1:a#ff", "x1:a3b2.1a#5f3a9c01", "x1:h12.34h2#0"}) {
    EXPECT_EQ(Format(ParseSchedule(text)), text);
  }
  const Schedule schedule = ParseSchedule("x1:a3b2.1a#5f3a9c01");
  const std::vector<Step> steps{{0, 0}, {0, 0}, {0, 0}, {1, 0}, {1, 1}, {0, 0}};
  EXPECT_EQ(schedule.steps, steps);
  EXPECT_EQ(schedule.hash, 0x5f3a9c01u);
}

TEST(ScheduleTest, WhatIsWrongIsNamedWithItsPlace) {
  EXPECT_EQ(MessageOf(""), "the schedule '' is wrong at character 1: it begins with x1:");
  EXPECT_NE(MessageOf("x1:ab").find("at character 6: expected # and the hash"), std::string::npos);
  EXPECT_NE(MessageOf("x1:a?#1").find("at character 5: expected a thread"), std::string::npos);
  EXPECT_NE(MessageOf("x1:i#1").find("at character 4: expected a thread"), std::string::npos);
  EXPECT_NE(MessageOf("x1:a0#1").find("a count is at least 1"), std::string::npos);
  EXPECT_NE(MessageOf("x1:a99999999#1").find("at most 1000000 steps"), std::string::npos);
  EXPECT_NE(MessageOf("x1:ab18446744073709551615#0").find("at most 1000000 steps"), std::string::npos);
  EXPECT_NE(MessageOf("x1:a999999999999999999999#1").find("expected a count"), std::string::npos);
  EXPECT_NE(MessageOf("x1:a.#1").find("expected the number of an option"), std::string::npos);
  EXPECT_NE(MessageOf("x1:a#").find("expected the hash"), std::string::npos);
  EXPECT_NE(MessageOf("x1:a#1 ").find("there is something after the hash"), std::string::npos);
}

TEST(ScheduleTest, TheShortestFailureIsFoundAndReplaysToTheSameTable) {
  const Program program = Specimen();
  const Exploration found = Explore(program, {});
  ASSERT_TRUE(found.failure);
  EXPECT_EQ(found.failure->finding.verdict, Verdict::kStrandedWork);
  EXPECT_EQ(found.failure->switches, 3u);
  const Exploration again = Replay(program, {}, ParseSchedule(Format(found.failure->schedule)));
  ASSERT_TRUE(again.failure);
  EXPECT_EQ(again.failure->finding.verdict, Verdict::kStrandedWork);
  EXPECT_EQ(again.failure->finding.text, found.failure->finding.text);
  EXPECT_EQ(again.table, found.table);
}

TEST(ScheduleTest, EveryStrategyFindsItAndShrinksItAsFar) {
  const Program program = Specimen();
  for (const Strategy strategy : {Strategy::kRandom, Strategy::kPct, Strategy::kBursts, Strategy::kStarvation}) {
    ExploreOptions options;
    options.strategy = strategy;
    options.executions_max = 20'000;
    const Exploration found = Explore(program, options);
    ASSERT_TRUE(found.failure) << static_cast<int>(strategy);
    EXPECT_EQ(found.failure->switches, 3u) << static_cast<int>(strategy);
    EXPECT_EQ(Replay(program, {}, found.failure->schedule).table, found.table);
    EXPECT_EQ(Format(Explore(program, options).failure->schedule), Format(found.failure->schedule))
        << "the same seed, and something else was found";
  }
}

// Without a preemption a producer runs to its end before anybody else does: the letter and the call are one step.
TEST(ScheduleTest, PreemptionsAreBounded) {
  Machine machine;
  const Program program = Specimen();
  RandomSearch search(machine, program, {}, Strategy::kRandom, 1, 0);
  for (std::uint64_t number = 0; number < 200; ++number) {
    search.Draw(number);
    const Graph& graph = search.execution().graph();
    std::size_t last = 0;
    for (std::uint16_t thread = 0; thread < 2; ++thread) {
      std::uint32_t stamp = graph.At({thread, 1}).stamp;
      for (std::uint16_t index = 2; index <= graph.Size(thread); ++index) {
        EXPECT_EQ(graph.At({thread, index}).stamp, ++stamp);
      }
      last += graph.Size(thread);
    }
    EXPECT_GE(last, 4u);
  }
}

// Within enough preemptions nothing is left out; the failure needs one, of the postman before he empties the box.
TEST(ScheduleTest, ABoundOnPreemptionsLeavesOutWhatNeedsMore) {
  const Program program = Specimen();
  ExploreOptions options;
  options.shrinking_executions_max = UINT64_MAX;
  const Exploration all = Explore(program, options);
  ASSERT_TRUE(all.certificate.is_complete);
  std::uint64_t executions = 0;
  for (std::uint64_t bound = 0; bound <= 6; ++bound) {
    options.preemptions_max = bound;
    const Exploration within = Explore(program, options);
    EXPECT_TRUE(within.certificate.is_complete) << bound;
    EXPECT_GE(within.certificate.executions, executions) << bound;
    executions = within.certificate.executions;
  }
  EXPECT_EQ(executions, all.certificate.executions);
}

TEST(ScheduleTest, FaultsThatAreNotNeededGoAway) {
  const Exploration found = Explore(Specimen(true), {});
  ASSERT_TRUE(found.failure);
  EXPECT_EQ(found.failure->faults, 0u);
}

TEST(ScheduleTest, AScheduleOfAnotherProgramIsRefused) {
  const Schedule schedule = Explore(Specimen(), {}).failure->schedule;
  EXPECT_THROW(Replay(Specimen(true), {}, schedule), std::invalid_argument);
  Schedule changed = schedule;
  changed.hash ^= 1;
  EXPECT_THROW(Replay(Specimen(), {}, changed), std::invalid_argument);
  changed = schedule;
  changed.steps.push_back({7, 0});
  EXPECT_THROW(Replay(Specimen(), {}, changed), std::invalid_argument);
}

TEST(ScheduleTest, ExplorationsAreTheSameEachTime) {
  const Program program = Specimen(true);
  ExploreOptions options;
  options.shrinking_executions_max = UINT64_MAX;
  const Exploration first = Explore(program, options);
  const Exploration second = Explore(program, options);
  EXPECT_EQ(first.certificate.executions, second.certificate.executions);
  EXPECT_EQ(first.certificate.blocked, second.certificate.blocked);
  EXPECT_EQ(first.certificate.faults, second.certificate.faults);
  EXPECT_EQ(Format(first.failure->schedule), Format(second.failure->schedule));
  EXPECT_EQ(first.table, second.table);
}

TEST(ScheduleTest, AnEndlessLoopIsFoundAndReplayed) {
  const Program program{"endless",
                        "",
                        [](Threads& threads) {
                          auto& state = threads.Make<Mailbox>();
                          threads.Add("a", [&state] {
                            while (true) {
                              state.letters.store(1, kRelease);
                            }
                          });
                        },
                        {}};
  ExploreOptions options;
  options.limits.events_of_a_thread_max = 20;
  const Exploration found = Explore(program, options);
  ASSERT_TRUE(found.failure);
  EXPECT_EQ(found.failure->finding.verdict, Verdict::kTooManySteps);
  EXPECT_EQ(Replay(program, options.limits, found.failure->schedule).table, found.table);
}

TEST(ScheduleTest, ARepairedProgramGoesOnFromWhereTheScheduleEnds) {
  const auto make = [](bool is_repaired) {
    return Program{"",
                   "",
                   [is_repaired](Threads& threads) {
                     auto& state = threads.Make<Mailbox>();
                     threads.Add("a", [&state, is_repaired] {
                       state.letters.store(1, kRelease);
                       Require(is_repaired, "it is repaired");
                       state.letters.store(2, kRelease);
                     });
                     threads.Finally([&state] { Require(state.letters.load() == 2, "all is done"); });
                   },
                   {}};
  };
  const Exploration found = Explore(make(false), {});
  ASSERT_TRUE(found.failure);
  const Exploration again = Replay(make(true), {}, found.failure->schedule);
  EXPECT_FALSE(again.failure) << again.failure->finding.text;
}

// One execution, and more runs to it than there is time for.
TEST(ScheduleTest, TheTimeIsKeptWhereNothingNewIsFound) {
  const Program program{"",
                        "",
                        [](Threads& threads) {
                          for (int thread = 0; thread < 6; ++thread) {
                            auto& mine = threads.Make<Mailbox>();
                            threads.Add("a", [&mine] {
                              for (int store = 0; store < 8; ++store) {
                                mine.letters.store(store, kRelease);
                              }
                            });
                          }
                        },
                        {}};
  ExploreOptions options;
  options.preemptions_max = 4;
  options.time_max = std::chrono::milliseconds(50);
  EXPECT_TRUE(Explore(program, options).is_out_of_time);
}

TEST(ScheduleTest, WhatIsFoundAtTheVeryEndHasATable) {
  const Program program{"",
                        "",
                        [](Threads& threads) {
                          auto& state = threads.Make<Mailbox>();
                          threads.Add("leaker", [&state] {
                            state.letters.store(1, kRelease);
                            int* volatile kept = new int(7);
                            static_cast<void>(kept);
                          });
                        },
                        {}};
  const Exploration found = Explore(program, {});
  ASSERT_TRUE(found.failure);
  EXPECT_EQ(found.failure->finding.verdict, Verdict::kLeak);
  EXPECT_NE(found.table.find("a: leaker"), std::string::npos) << found.table;
}

}  // namespace
}  // namespace holdfast::explore
