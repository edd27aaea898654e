// A decision is a pure function of the visit: which calls a rule lets through, and that nothing else moves it.

#include "fault/plan/decide.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fault/plan/load.h"

namespace holdfast::fault {
namespace {

DecisionTable TableOf(const std::vector<std::string>& rules, std::uint64_t seed = 1) {
  return DecisionTable(WithCommandLine(Plan{}, rules, seed));
}

Visit VisitOf(std::string_view site, std::uint64_t ordinal, ThreadName thread = {}) {
  Visit visit;
  visit.site = FindSite(site);
  visit.ordinal = ordinal;
  visit.thread = thread;
  return visit;
}

// The ordinals from 1 to `last` at which a rule fires.
std::vector<std::uint64_t> FiringOrdinals(const DecisionTable& table, std::uint64_t last, ThreadName thread = {}) {
  ThreadMemory memory = table.NewMemory();
  std::vector<std::uint64_t> ordinals;
  for (std::uint64_t ordinal = 1; ordinal <= last; ++ordinal) {
    if (table.Decide(VisitOf("cuGraphLaunch", ordinal, thread), memory) >= 0) ordinals.push_back(ordinal);
  }
  return ordinals;
}

std::string Launch(const std::string& conditions) {
  return "cuGraphLaunch:" + conditions + ",return=CUDA_ERROR_UNKNOWN";
}

using Ordinals = std::vector<std::uint64_t>;

TEST(Decide, CountsTheCallsOfAThread) {
  EXPECT_EQ(FiringOrdinals(TableOf({Launch("nth=3")}), 10), Ordinals({3}));
  EXPECT_EQ(FiringOrdinals(TableOf({Launch("first=2")}), 10), Ordinals({1, 2}));
  EXPECT_EQ(FiringOrdinals(TableOf({Launch("after=8")}), 10), Ordinals({9, 10}));
  EXPECT_EQ(FiringOrdinals(TableOf({Launch("every=4")}), 10), Ordinals({4, 8}));
  EXPECT_EQ(FiringOrdinals(TableOf({Launch("after=3,first=2")}), 10), Ordinals({4, 5}));
  EXPECT_EQ(FiringOrdinals(TableOf({Launch("after=1,every=3")}), 10), Ordinals({4, 7, 10}));
  EXPECT_EQ(FiringOrdinals(TableOf({Launch("every=2,times=3")}), 10), Ordinals({2, 4, 6}));
}

TEST(Decide, TakesTheFirstRuleThatFires) {
  const DecisionTable table = TableOf({Launch("nth=2"), Launch("first=3")});
  ThreadMemory memory = table.NewMemory();
  EXPECT_EQ(table.Decide(VisitOf("cuGraphLaunch", 1), memory), 1);
  EXPECT_EQ(table.Decide(VisitOf("cuGraphLaunch", 2), memory), 0);
  EXPECT_EQ(table.Decide(VisitOf("cuGraphLaunch", 3), memory), 1);
  EXPECT_EQ(table.Decide(VisitOf("cuGraphLaunch", 4), memory), -1);
  EXPECT_EQ(table.Decide(VisitOf("cuGraphUpload", 1), memory), -1);
}

TEST(Decide, TellsThreadsApart) {
  const DecisionTable table = TableOf({Launch("thread=subject-2")});
  EXPECT_EQ(FiringOrdinals(table, 1, {Role::kSubject, 2}), Ordinals({1}));
  EXPECT_TRUE(FiringOrdinals(table, 5, {Role::kSubject, 1}).empty());
  EXPECT_TRUE(FiringOrdinals(table, 5, {Role::kCallback, 2}).empty());
  const DecisionTable subjects = TableOf({Launch("thread=subject")});
  EXPECT_EQ(FiringOrdinals(subjects, 1, {Role::kSubject, 9}), Ordinals({1}));
  EXPECT_TRUE(FiringOrdinals(subjects, 5, {Role::kMain, 0}).empty());
}

TEST(Decide, AsksForTheContextAndTheStep) {
  const DecisionTable table = TableOf({Launch("while=capture,step=warm")});
  ThreadMemory memory = table.NewMemory();
  Visit visit = VisitOf("cuGraphLaunch", 1);
  EXPECT_EQ(table.Decide(visit, memory), -1);
  visit.contexts = static_cast<std::uint8_t>(Context::kCapture) | static_cast<std::uint8_t>(Context::kDrain);
  EXPECT_EQ(table.Decide(visit, memory), -1);
  visit.step = table.FindStep("warm");
  EXPECT_EQ(table.Decide(visit, memory), 0);
  visit.contexts = static_cast<std::uint8_t>(Context::kDrain);
  EXPECT_EQ(table.Decide(visit, memory), -1);
}

TEST(Decide, CountsFromTheStepWhereARuleSaysSo) {
  const DecisionTable table = TableOf({Launch("nth=2,step=warm,count=step"), Launch("after=3,step=warm,count=step")});
  ThreadMemory memory = table.NewMemory();
  const auto decide = [&](std::uint64_t ordinal, std::uint64_t ordinal_in_step, StepId step) {
    Visit visit = VisitOf("cuGraphLaunch", ordinal);
    visit.ordinal_in_step = ordinal_in_step;
    visit.step = step;
    return table.Decide(visit, memory);
  };
  const StepId warm = table.FindStep("warm");
  EXPECT_EQ(decide(2, 1, warm), -1);
  EXPECT_EQ(decide(9, 2, warm), 0);
  EXPECT_EQ(decide(10, 2, kNoStep), -1);
  EXPECT_EQ(decide(11, 3, warm), -1);
  EXPECT_EQ(decide(12, 4, warm), 1);
  EXPECT_EQ(decide(13, 2, warm), 0) << "the step was announced again";
}

TEST(Decide, DrawsTheSameForTheSameSeed) {
  const auto draws = [](std::uint64_t seed, ThreadName thread) {
    return FiringOrdinals(TableOf({Launch("probability=1/4")}, seed), 400, thread);
  };
  EXPECT_EQ(draws(1, {}), draws(1, {}));
  EXPECT_NE(draws(1, {}), draws(2, {}));
  EXPECT_NE(draws(1, {Role::kSubject, 1}), draws(1, {Role::kSubject, 2}));
  EXPECT_NE(draws(1, {Role::kSubject, 1}), draws(1, {Role::kCallback, 1}));
}

TEST(Decide, DrawsAboutAsOftenAsTheRatioSays) {
  const std::size_t fired = FiringOrdinals(TableOf({Launch("probability=1/8")}, 42), 80'000).size();
  EXPECT_GT(fired, 9'500U);
  EXPECT_LT(fired, 10'500U);
  EXPECT_EQ(FiringOrdinals(TableOf({Launch("probability=1/1")}), 50).size(), 50U);
}

TEST(Decide, PinsOneSequenceSoThatOldReplaysStayTrue) {
  EXPECT_EQ(FiringOrdinals(TableOf({Launch("probability=1/16")}, 0x1c0ffee), 60), Ordinals({11, 19}));
}

TEST(Decide, CoversEverySiteThatCanDoIt) {
  const DecisionTable table = TableOf({"*:nth=1,after,return=CUDA_ERROR_UNKNOWN"});
  EXPECT_TRUE(table.Concerns(FindSite("cuGraphDestroy")));
  EXPECT_FALSE(table.Concerns(FindSite("cuGraphCreate")));  // fails before it takes effect, or not at all
  EXPECT_FALSE(table.Concerns(FindSite("cuGetErrorName")));
  EXPECT_FALSE(table.Concerns(FindSite("cuTexRefCreate")));
  EXPECT_FALSE(table.Concerns(AllocationSite()));
}

}  // namespace
}  // namespace holdfast::fault
