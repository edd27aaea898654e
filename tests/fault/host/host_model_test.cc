// The host model against what the interpreters do (facts P1 to P5) and what a plan can make it do.
// Threads are started to be other threads, not to race, except in the one test that says so.
#include "fault/host/host_model.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::fault {
namespace {

int Append(void* list_and_value) {
  auto* pair = static_cast<std::pair<std::vector<int>*, int>*>(list_and_value);
  pair->first->push_back(pair->second);
  return 0;
}

int Count(void* counter) {
  ++*static_cast<int*>(counter);
  return 0;
}

int CountAtomic(void* counter) {
  static_cast<std::atomic<int>*>(counter)->fetch_add(1, std::memory_order_relaxed);
  return 0;
}

int Fail(void* counter) {
  ++*static_cast<int*>(counter);
  return 1;
}

// Options whose plan decides the same at each call.
HostOptions Always(const std::function<void(SiteDecision*)>& fill) {
  SiteDecision decision{};
  decision.fires = true;
  fill(&decision);
  return {.decide = [decision](const char*) { return decision; }};
}

void OnOtherThread(const std::function<void()>& work) { std::thread(work).join(); }

class CapacityTest : public testing::TestWithParam<std::pair<int, std::size_t>> {};

TEST_P(CapacityTest, OneMoreThanFitsIsRefused) {
  const auto [minor_version, capacity] = GetParam();
  HostModel host({.minor_version = minor_version});
  int count = 0;
  for (std::size_t i = 0; i < capacity; ++i) ASSERT_EQ(host.AddPendingCall(&Count, &count), 0) << i;
  EXPECT_EQ(host.AddPendingCall(&Count, &count), -1);
  EXPECT_EQ(host.counts().refused, 1u);
  EXPECT_EQ(host.counts().outstanding_peak, capacity);
  EXPECT_EQ(host.RunPending(), 0);
  EXPECT_EQ(count, static_cast<int>(capacity));
  EXPECT_EQ(host.AddPendingCall(&Count, &count), 0);
}

INSTANTIATE_TEST_SUITE_P(Versions, CapacityTest,
                         testing::Values(std::pair{10, std::size_t{31}}, std::pair{11, std::size_t{31}},
                                         std::pair{12, std::size_t{31}}, std::pair{13, std::size_t{32}},
                                         std::pair{14, std::size_t{32}}));

TEST(HostModelTest, RunsOldestFirst) {
  HostModel host;
  std::vector<int> order;
  std::pair<std::vector<int>*, int> calls[] = {{&order, 1}, {&order, 2}, {&order, 3}};
  for (auto& call : calls) host.AddPendingCall(&Append, &call);
  host.RunPending();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(HostModelTest, FailingCallEndsThePassAndTheRestStays) {
  HostModel host;
  int failed = 0;
  int count = 0;
  host.AddPendingCall(&Fail, &failed);
  host.AddPendingCall(&Count, &count);
  EXPECT_EQ(host.RunPending(), -1);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(host.outstanding(), 1u);
  EXPECT_EQ(host.RunPending(), 0);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(host.counts().failed, 1u);
}

TEST(HostModelTest, OtherThreadsAddAndDoNotRun) {
  HostModel host;
  int count = 0;
  OnOtherThread([&] {
    EXPECT_EQ(host.AddPendingCall(&Count, &count), 0);
    EXPECT_EQ(host.RunPending(), 0);
  });
  EXPECT_EQ(count, 0);
  host.RunPending();
  EXPECT_EQ(count, 1);
}

TEST(HostModelTest, PendingCallsDoNotNest) {
  struct Nesting {
    HostModel* host;
    int inner = 0;
    int inner_when_outer_returned = -1;
  };
  HostModel host;
  Nesting nesting{&host};
  host.AddPendingCall(
      [](void* argument) {
        auto* self = static_cast<Nesting*>(argument);
        self->host->AddPendingCall(&Count, &self->inner);
        self->host->RunPending();
        self->inner_when_outer_returned = self->inner;
        return 0;
      },
      &nesting);
  host.RunPending();
  EXPECT_EQ(nesting.inner_when_outer_returned, 0);
  EXPECT_EQ(nesting.inner, 1);
}

TEST(HostModelTest, CallThatAddsItselfDoesNotHoldThePassForEver) {
  struct Again {
    HostModel* host;
    int runs = 0;
    static int Run(void* argument) {
      auto* self = static_cast<Again*>(argument);
      ++self->runs;
      return self->host->AddPendingCall(&Run, self);
    }
  };
  HostModel host;
  Again again{&host};
  host.AddPendingCall(&Again::Run, &again);
  host.RunPending();
  EXPECT_EQ(again.runs, static_cast<int>(host.capacity()));
  EXPECT_EQ(host.outstanding(), 1u);
}

TEST(HostModelTest, BusyMainThreadRunsNothingAndTheQueueStaysFull) {
  HostModel host;
  int count = 0;
  host.SetBusy(true);
  while (host.AddPendingCall(&Count, &count) == 0) {
  }
  host.RunPending();
  EXPECT_EQ(count, 0);
  EXPECT_EQ(host.outstanding(), host.capacity());
  host.SetBusy(false);
  host.RunPending();
  EXPECT_EQ(count, static_cast<int>(host.capacity()));
}

TEST(HostModelTest, SaturatedQueueRefusesUntilItHasRun) {
  HostModel host;
  int count = 0;
  EXPECT_EQ(host.Saturate(1000), host.capacity());
  EXPECT_EQ(host.AddPendingCall(&Count, &count), -1);
  host.RunPending();
  EXPECT_EQ(host.AddPendingCall(&Count, &count), 0);
  EXPECT_EQ(host.counts().run, 0u) << "fillers are no calls of the subject";
}

TEST(HostModelTest, PlanRefuses) {
  HostModel host(Always([](SiteDecision* decision) {
    decision->fails = true;
    decision->result = -1;
  }));
  int count = 0;
  EXPECT_EQ(host.AddPendingCall(&Count, &count), -1);
  host.RunPending();
  EXPECT_EQ(count, 0);
  EXPECT_EQ(host.counts().refused, 1u);
}

TEST(HostModelTest, PlanLosesAnAcceptedCall) {
  HostModel host(Always([](SiteDecision* decision) { decision->drops = true; }));
  int count = 0;
  EXPECT_EQ(host.AddPendingCall(&Count, &count), 0);
  host.RunPending();
  EXPECT_EQ(count, 0);
  EXPECT_EQ(host.counts().accepted, 1u);
  EXPECT_EQ(host.counts().lost, 1u);
}

TEST(HostModelTest, PlanDelays) {
  constexpr std::uint64_t kDelayNs = 2'000'000;
  HostModel host(Always([](SiteDecision* decision) { decision->delay_ns = kDelayNs; }));
  int count = 0;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(host.AddPendingCall(&Count, &count), 0);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::nanoseconds(kDelayNs));
}

TEST(HostModelTest, PlanSaturatesAndSoRefuses) {
  HostModel host(Always([](SiteDecision* decision) { decision->saturate = 100; }));
  int count = 0;
  EXPECT_EQ(host.AddPendingCall(&Count, &count), -1);
  EXPECT_EQ(host.counts().fillers, host.capacity());
}

TEST(HostModelTest, PlanIsAskedForTheSiteOnceACall) {
  std::vector<std::string> sites;
  HostModel host({.decide = [&sites](const char* site) {
    sites.emplace_back(site);
    return SiteDecision{};
  }});
  int count = 0;
  host.AddPendingCall(&Count, &count);
  host.AddPendingCall(&Count, &count);
  EXPECT_EQ(sites, (std::vector<std::string>{"Py_AddPendingCall", "Py_AddPendingCall"}));
}

class OldHostTest : public testing::TestWithParam<int> {};

TEST_P(OldHostTest, CallDuringOrAfterFinalizationIsAViolation) {
  HostModel host({.minor_version = GetParam()});
  int count = 0;
  host.BeginFinalization();
  EXPECT_EQ(host.AddPendingCall(&Count, &count), -1);
  host.FinishFinalization();
  OnOtherThread([&] { EXPECT_EQ(host.AddPendingCall(&Count, &count), -1); });
  ASSERT_EQ(host.violations().size(), 2u);
  EXPECT_EQ(host.violations()[0].phase, HostPhase::kFinalizing);
  EXPECT_EQ(host.violations()[1].phase, HostPhase::kFinalized);
  EXPECT_NE(host.violations()[1].thread, std::this_thread::get_id());
}

INSTANTIATE_TEST_SUITE_P(Versions, OldHostTest, testing::Values(10, 11, 12));

TEST(HostModelTest, From313OnACallAfterFinalizationIsHarmless) {
  HostModel host({.minor_version = 13});
  int count = 0;
  host.BeginFinalization();
  host.FinishFinalization();
  EXPECT_EQ(host.AddPendingCall(&Count, &count), 0);
  host.RunPending();
  EXPECT_EQ(count, 0);
  EXPECT_TRUE(host.violations().empty());
}

TEST(HostModelTest, FinalizationFlushesWhatIsQueued) {
  HostModel host({.minor_version = 12});
  int count = 0;
  host.AddPendingCall(&Count, &count);
  host.BeginFinalization();
  EXPECT_EQ(count, 1);
  EXPECT_EQ(host.counts().lost, 0u);
}

TEST(HostModelTest, FinalFlushThatFailsLosesTheRest) {
  HostModel host({.minor_version = 12});
  int failed = 0;
  int count = 0;
  host.AddPendingCall(&Fail, &failed);
  host.AddPendingCall(&Count, &count);
  host.BeginFinalization();
  host.FinishFinalization();
  EXPECT_EQ(count, 0);
  EXPECT_EQ(host.counts().lost, 1u);
}

TEST(HostModelTest, LeftoversRunInTheNextGenerationFrom313On) {
  HostModel host({.minor_version = 13});
  int count = 0;
  host.AddPendingCall(&Count, &count);
  host.BeginFinalization(/*flush=*/false);
  host.FinishFinalization();
  host.Reinitialize();
  EXPECT_EQ(host.generation(), 2u);
  host.RunPending();
  EXPECT_EQ(count, 1);
  EXPECT_EQ(host.counts().stale, 1u);
}

TEST(HostModelTest, LeftoversAreLostUpTo312) {
  HostModel host({.minor_version = 12});
  int count = 0;
  host.AddPendingCall(&Count, &count);
  host.BeginFinalization(/*flush=*/false);
  host.FinishFinalization();
  host.Reinitialize();
  host.RunPending();
  EXPECT_EQ(count, 0);
  EXPECT_EQ(host.counts().lost, 1u);
}

TEST(HostModelTest, StepsOutOfOrderAreRefused) {
  HostModel host;
  EXPECT_THROW(host.FinishFinalization(), std::logic_error);
  EXPECT_THROW(host.Reinitialize(), std::logic_error);
  OnOtherThread([&] { EXPECT_THROW(host.BeginFinalization(), std::logic_error); });
  host.BeginFinalization();
  EXPECT_THROW(host.BeginFinalization(), std::logic_error);
}

TEST(HostModelTest, CountsCallsByThreadAndFromDestructors) {
  thread_local bool inside = false;
  HostModel host({.in_destructor = [] { return inside; }});
  int count = 0;
  host.AddPendingCall(&Count, &count);
  std::thread::id other;
  OnOtherThread([&] {
    other = std::this_thread::get_id();
    inside = true;
    host.AddPendingCall(&Count, &count);
    host.AddPendingCall(&Count, &count);
  });
  EXPECT_EQ(host.counts().from_destructors, 2u);
  EXPECT_EQ(host.calls_by_thread().at(other), 2u);
  EXPECT_EQ(host.calls_by_thread().at(std::this_thread::get_id()), 1u);
}

// Threads add while the main thread runs and then finalizes: each call is run once, refused or lost, and never two of
// them.
TEST(HostModelTest, EveryCallHasOneEndUnderThreads) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 2000;
  HostModel host({.minor_version = 13});
  std::atomic<int> ran{0};
  std::atomic<int> accepted{0};
  std::atomic<int> finished{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < kCalls; ++call) {
        if (host.AddPendingCall(&CountAtomic, &ran) == 0) accepted.fetch_add(1);
      }
      finished.fetch_add(1);
    });
  }
  while (finished.load() < kThreads) host.RunPending();
  for (std::thread& thread : threads) thread.join();
  while (host.outstanding() > 0) host.RunPending();
  EXPECT_EQ(ran.load(), accepted.load());
  EXPECT_EQ(host.counts().accepted + host.counts().refused, static_cast<std::uint64_t>(kThreads * kCalls));
  EXPECT_LE(host.counts().outstanding_peak, host.capacity());
}

}  // namespace
}  // namespace holdfast::fault
