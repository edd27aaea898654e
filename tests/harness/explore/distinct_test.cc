// The search visits each execution of a program, and each once: for many small programs what it visits is compared with
// what two plain enumerations find, one by the explorer's own steps and one by nothing but the axioms of the paper.
#include <gtest/gtest.h>

#include "tests/harness/explore/enumeration.h"
#include "tests/harness/explore/random_program.h"

namespace holdfast::explore {
namespace {

const std::vector<Action> kAccesses{Action::kLoad, Action::kStore, Action::kStore};
const std::vector<Action> kUpdates{Action::kLoad,     Action::kStore,           Action::kExchange,
                                   Action::kFetchAdd, Action::kCompareExchange, Action::kWeakCompareExchange};
const std::vector<Action> kFences{Action::kLoad, Action::kStore, Action::kFence, Action::kFetchAdd};
const std::vector<Action> kChoices{Action::kLoad, Action::kStore, Action::kChoose, Action::kCompareExchange,
                                   Action::kWeakCompareExchange};
const std::vector<Action> kWaits{Action::kLoad,    Action::kStore,      Action::kRelease,    Action::kRelease,
                                 Action::kAcquire, Action::kTryAcquire, Action::kLockedStore};
const std::vector<Action> kLoops{Action::kLoad, Action::kStore, Action::kStore, Action::kExchange, Action::kAwait};

void Compare(const Listing& listing, const Limits& limits) {
  const Program program = MakeProgram(listing);
  const std::map<std::string, int> visited = Search(program, limits);
  std::set<std::string> distinct;
  for (const auto& [execution, times] : visited) {
    distinct.insert(execution);
    EXPECT_EQ(times, 1) << "visited more than once: " << execution;
  }
  const auto expect_same = [&](Judge judge, const char* name) {
    const std::set<std::string> all = Enumerate(program, limits, judge);
    for (const std::string& execution : all) {
      EXPECT_TRUE(distinct.contains(execution)) << "missed, says " << name << ": " << execution;
    }
    for (const std::string& execution : distinct) {
      EXPECT_TRUE(all.contains(execution)) << "is none, says " << name << ": " << execution;
    }
  };
  expect_same(Judge::kExplorer, "the explorer");
  expect_same(Judge::kAxioms, "the paper");
}

void CompareMany(const Mix& mix, std::uint64_t first, std::uint64_t count, const Limits& limits = {}) {
  for (std::uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    const Listing listing = Draw(seed, mix);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + TextOf(listing));
    Compare(listing, limits);
  }
}

TEST(Distinct, LoadsAndStoresOfTwoThreads) {
  CompareMany({.threads = 2, .statements_max = 4, .actions = kAccesses}, 1000, 60);
}

TEST(Distinct, LoadsAndStoresOfThreeThreads) {
  CompareMany({.threads = 3, .statements_max = 3, .actions = kAccesses}, 2000, 40);
}

TEST(Distinct, ReadModifyWritesOfTwoThreads) {
  CompareMany({.threads = 2, .statements_max = 4, .actions = kUpdates}, 3000, 60);
}

TEST(Distinct, ReadModifyWritesOfThreeThreads) {
  CompareMany({.threads = 3, .statements_max = 3, .actions = kUpdates}, 4000, 40);
}

TEST(Distinct, ReadModifyWritesOfOneLocation) {
  CompareMany({.threads = 3, .statements_max = 3, .locations = 1, .actions = kUpdates}, 5000, 40);
}

TEST(Distinct, FencesOfTwoThreads) { CompareMany({.threads = 2, .statements_max = 5, .actions = kFences}, 6000, 900); }

TEST(Distinct, FencesOfThreeThreads) {
  CompareMany({.threads = 3, .statements_max = 3, .actions = kFences}, 7000, 400);
}

TEST(Distinct, SequentiallyConsistentOnes) {
  CompareMany({.threads = 3, .statements_max = 3, .actions = kUpdates, .only_seq_cst = true}, 8000, 40);
}

TEST(Distinct, SequentiallyConsistentByTheLimits) {
  Limits limits;
  limits.sequential_consistency = true;
  CompareMany({.threads = 3, .statements_max = 3, .actions = kUpdates}, 9000, 40, limits);
}

TEST(Distinct, Choices) { CompareMany({.threads = 3, .statements_max = 3, .actions = kChoices}, 10000, 40); }

TEST(Distinct, TwoSpuriousFailures) {
  Limits limits;
  limits.spurious_failures_max = 2;
  CompareMany({.threads = 2, .statements_max = 3, .locations = 1, .actions = kChoices}, 11000, 40, limits);
}

TEST(Distinct, WaitsOfTwoThreads) { CompareMany({.threads = 2, .statements_max = 4, .actions = kWaits}, 12000, 60); }

TEST(Distinct, WaitsOfThreeThreads) { CompareMany({.threads = 3, .statements_max = 3, .actions = kWaits}, 13000, 40); }

TEST(Distinct, LoopsThatAwait) { CompareMany({.threads = 2, .statements_max = 3, .actions = kLoops}, 14000, 60); }

}  // namespace
}  // namespace holdfast::explore
