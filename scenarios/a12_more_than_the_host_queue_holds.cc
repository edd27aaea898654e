// A12: ten thousand payloads pass through a host queue of 31 or 32 slots, with refusals, while threads enqueue and the
// main thread drains; and what was refused is asked for again without another graph call.
//
// Intent, in four parts:
//   1. the plan refuses the wakeup, and then the first attempts of the retry. No graph is touched meanwhile: the retry
//      alone must bring the drain about.
//   2. the same, for as long as a busy main thread leaves the queue full of somebody else's calls.
//   3. one drain releases up to its bound and no more.
//   4. four threads create and destroy graphs while the main thread runs pending calls and somebody keeps filling the
//      queue. At no time is more than one call outstanding.
//
// Interleaving: native threads. A12.no-lost-wakeup-at-any-step enumerates what this one samples.
//
// Expected verdict: passed, with refusals fired.
#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/cleanup/deferred_cleanup.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/host_session.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

using cleanup::DeferredCleanup;

constexpr int kThreads = 4;

// Out of the way of the threads that the library starts, which the shim numbers as they come.
constexpr int kFirstOrdinal = 11;
constexpr int kNodes = 500;
constexpr int kGraphsPerThread = 5;

// What CleanupQueue documents as the most that one drain releases.
constexpr int kDrainBound = 1024;

void CUDA_CB Nothing(void*) {}

// Counts the releases of many owners, each of which keeps the counts alive.
class ReleaseCounter {
 public:
  OpaqueHandle NewOwner() const {
    return OpaqueHandle(counts_.get(), [counts = counts_](const void*) {
      counts->outside_cleanup += InsideCleanup() ? 0 : 1;
      ++counts->releases;
    });
  }

  int releases() const noexcept { return counts_->releases; }
  int outside_cleanup() const noexcept { return counts_->outside_cleanup; }

 private:
  struct Counts {
    std::atomic<int> releases{0};
    std::atomic<int> outside_cleanup{0};
  };

  const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

void MakeAndDropGraph(ReleaseCounter& counter, int nodes) {
  GraphDefinition graph;
  for (int i = 0; i < nodes; ++i) {
    graph.AddHostNode({&Nothing, nullptr, counter.NewOwner(), nullptr});
  }
}

// Drops a graph and waits until its destructors have been called.
void DropGraphAndDeliver(harness::Context& context, ReleaseCounter& counter, int nodes) {
  MakeAndDropGraph(counter, nodes);
  context.shim().release_held();
  context.shim().quiesce();
}

// The same for a graph that only the driver knows: nothing of the library but the callback runs.
void DropCloneAndDeliver(harness::Context& context, ReleaseCounter& counter) {
  CUgraph clone = nullptr;
  {
    GraphDefinition graph;
    graph.AddHostNode({&Nothing, nullptr, counter.NewOwner(), nullptr});
    driver::Check("cuGraphClone", driver::GetDriver().cuGraphClone(&clone, graph.raw()), "cloning");
  }
  driver::Check("cuGraphDestroy", driver::GetDriver().cuGraphDestroy(clone), "destroying the clone");
  context.shim().release_held();
  context.shim().quiesce();
}

// The library is not touched here: the host alone goes on.
void CheckHostAloneDrains(harness::Context& context, HostSession& session, const ReleaseCounter& counter, int payloads,
                          const char* contract) {
  context.CheckEventually(
      [&] {
        session.host().RunPending();
        return counter.releases() == payloads;
      },
      contract);
}

void CheckRetryAfterRefusals(harness::Context& context, HostSession& session) {
  ReleaseCounter counter;
  context.shim().announce_step("refused");
  DropCloneAndDeliver(context, counter);
  CheckHostAloneDrains(context, session, counter, 1, "a refused wakeup is asked for again by itself");
  context.RequireFaults("Py_AddPendingCall", 4);
  context.shim().announce_step("accepted");
}

void CheckRetryAfterFullQueue(harness::Context& context, HostSession& session) {
  fault::HostModel& host = session.host();
  ReleaseCounter counter;
  // A wakeup that an earlier refusal led to would be the one that is outstanding, and none would be asked for.
  context.CheckEventually(
      [&] {
        session.host().RunPending();
        const cleanup::CleanupCounters counters = DeferredCleanup::Process().Counters();
        return host.outstanding() == 0 && counters.wakeups_requested == counters.wakeups_run;
      },
      "no wakeup is outstanding");
  host.SetBusy(true);
  const std::size_t others = host.Saturate(1000);
  context.Check(host.outstanding() == host.capacity() && others > 0, "the host queue is full");
  const std::uint64_t refused_before = host.counts().refused;
  DropGraphAndDeliver(context, counter, 100);
  context.Check(host.counts().refused > refused_before, "a full host queue refuses the wakeup");
  context.Check(counter.releases() == 0, "nothing is released without a drain");
  host.SetBusy(false);
  CheckHostAloneDrains(context, session, counter, 100, "a wakeup is asked for again once the host queue has room");
}

// One pending call that released a great backlog would stop the host's main thread for as long.
void CheckBound(harness::Context& context, HostSession& session) {
  constexpr int kPayloads = 3 * kDrainBound / 2;
  ReleaseCounter counter;
  session.host().SetBusy(true);
  DropGraphAndDeliver(context, counter, kPayloads);
  DrainNow();
  context.Check(counter.releases() > 0 && counter.releases() <= kDrainBound,
                "one drain releases up to its bound and no more");
  session.host().SetBusy(false);
  CheckHostAloneDrains(context, session, counter, kPayloads, "the rest comes with the next drains");
}

void CheckLoad(harness::Context& context, const DeviceSession& device, HostSession& session) {
  ReleaseCounter counter;
  std::atomic<int> running{kThreads};
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.push_back(context.StartThread(kFirstOrdinal + i, [&] {
      device.MakeCurrent();
      for (int graph = 0; graph < kGraphsPerThread; ++graph) {
        MakeAndDropGraph(counter, kNodes);
      }
      --running;
    }));
  }
  constexpr int kPayloads = kThreads * kGraphsPerThread * kNodes;
  context.CheckEventually(
      [&] {
        context.shim().release_held();
        session.host().Saturate(1000);
        session.host().RunPending();
        return running == 0 && counter.releases() == kPayloads;
      },
      "every payload is released");
  for (std::jthread& thread : threads) {
    thread.join();
  }
  context.Check(counter.outside_cleanup() == 0, "every owner is released in the cleanup context");
}

void Run(harness::Context& context) {
  DeviceSession device(context);
  HostSession session(context, context.variant() == "31-slots" ? 12 : 13);
  // What the plan acts on comes first: later the number of calls depends on timing, and with it their ordinals.
  CheckRetryAfterRefusals(context, session);
  CheckRetryAfterFullQueue(context, session);
  CheckBound(context, session);
  CheckLoad(context, device, session);
  const fault::HostCounts host = session.host().counts();
  context.Check(host.outstanding_peak <= 1, "at most one pending call is outstanding at any time");
  const cleanup::CleanupCounters counters = DeferredCleanup::Process().Counters();
  context.Check(counters.enqueued == counters.released, "everything that was enqueued was released");
  context.Count("payloads", counters.enqueued);
  context.Count("wakeups_refused", counters.wakeups_refused);
  context.Count("queue_length_peak", counters.queue_length_peak);
  context.Oracle("releases and pending calls under load");
}

const harness::Registration registration({
    .name = "A12.more-than-the-host-queue-holds",
    .summary = "Ten thousand payloads pass through 31 or 32 slots with refusals and concurrent drains",
    .covers = {"A12", "DC-02", "DC-04", "DC-05", "DC-06", "D-02", "D-10", "BR-24"},
    .catches = {"one-pending-call-a-payload", "refused-wakeup-never-retried", "drain-without-a-bound"},
    .variants = {{"31-slots", {}}, {"32-slots", {}}, {"thread", {"destructor:deliver=thread"}}},
    .plan = {"Py_AddPendingCall:step=refused,first=3,return=-1"},
    .timeout_s = 90,
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
