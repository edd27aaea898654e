// A13: payloads that come after shutdown are leaked, counted and harmless, whatever the host has become.
//
// Intent: keep graphs and executables alive past the shutdown of the cleanup and the finalization of the host, one of
// them with a launch in flight. Then let everything go, from several threads. No owner may be released, nothing may
// touch the host, the queue must still be there, and the counter must say how many were leaked. Before that, shutdown
// has drained what was there.
//
// Interleaving: the callbacks come from the main thread, from other threads and from the driver's own, all after
// finalization; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed. A queue that was freed shows as a crash.
#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/cleanup/deferred_cleanup.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/blocking_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/host_session.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

using cleanup::DeferredCleanup;

constexpr int kThreads = 3;

void CUDA_CB Nothing(void*) {}

GraphDefinition GraphOwnedBy(OwnerProbe& owner) {
  GraphDefinition graph;
  graph.AddHostNode({&Nothing, nullptr, owner.Take(), nullptr});
  return graph;
}

void CheckShutdown(harness::Context& context, HostSession& session) {
  OwnerProbe early;
  GraphOwnedBy(early);
  context.shim().release_held();
  context.shim().quiesce();
  CheckAlive(context, early, "the host has run no pending call yet");
  OwnerProbe inside_drain([&context] {
    context.Check(!ShutdownCleanup(), "a shutdown inside a drain is refused, it would wait for itself");
  });
  GraphOwnedBy(inside_drain);
  context.shim().release_held();
  context.shim().quiesce();
  session.host().RunPending();
  CheckReleasedOnce(context, early, "the host ran its pending call");
  CheckReleasedOnce(context, inside_drain, "the host ran its pending call");
  OwnerProbe last;
  GraphOwnedBy(last);
  context.shim().release_held();
  context.shim().quiesce();
  context.Check(ShutdownCleanup(), "the first shutdown does the work");
  context.Check(last.releases() == 1, "shutdown drains what is there");
  context.Check(!ShutdownCleanup(), "a second shutdown does nothing");
  session.Finalize();
}

void Run(harness::Context& context) {
  DeviceSession device(context);
  HostSession session(context, 12);
  OwnerProbe in_flight_owner;
  std::deque<OwnerProbe> late_owners(kThreads);
  BlockingCallback blocking;
  std::vector<GraphDefinition> late_graphs;
  late_graphs.reserve(kThreads);
  for (OwnerProbe& owner : late_owners) {
    late_graphs.push_back(GraphOwnedBy(owner));
  }
  std::optional<GraphDefinition> source(std::in_place);
  source->AddHostNode(blocking.Callback(in_flight_owner.Take()));
  std::optional<GraphExec> executable(*source);
  executable->Launch(device.stream());
  context.CheckEventually([&] { return blocking.HasStarted(); }, "the launch starts");

  CheckShutdown(context, session);
  const fault::HostCounts before = session.host().counts();
  source.reset();
  executable.reset();
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.push_back(context.StartThread(i + 1, [&device, graph = std::optional(std::move(late_graphs[i]))]() mutable {
      device.MakeCurrent();
      graph.reset();
    }));
  }
  late_graphs.clear();
  for (std::jthread& thread : threads) {
    thread.join();
  }
  blocking.Open();
  device.stream()->Synchronize();
  // The threads' owners, the one in flight, and the executable's own list.
  context.CheckEventually(
      [&] {
        context.shim().release_held();
        return DeferredCleanup::Process().Counters().leaked_at_shutdown == kThreads + 2;
      },
      "every late payload is counted");
  DeferredCleanup::Process().Drain();
  DeferredCleanup::Process().OnSafeEntry();
  CheckAlive(context, in_flight_owner, "it came after shutdown");
  for (const OwnerProbe& owner : late_owners) {
    CheckAlive(context, owner, "it came after shutdown");
  }
  const fault::HostCounts after = session.host().counts();
  context.Check(session.late_calls() == 0 && after.accepted == before.accepted && after.refused == before.refused,
                "nothing calls the host after shutdown");
  context.Count("leaked_at_shutdown", DeferredCleanup::Process().Counters().leaked_at_shutdown);
  context.Oracle("owners and host calls after shutdown");
}

const harness::Registration registration({
    .name = "A13.late-payloads-are-leaked",
    .summary = "Payloads after shutdown are kept unreleased and counted, and touch neither the host nor a freed queue",
    .covers = {"A13", "SH-01", "SH-02", "SH-03", "DC-07", "DC-08", "DC-09", "D-12", "BR-25"},
    .catches = {"late-payload-released-after-shutdown", "queue-freed-at-shutdown"},
    .variants = harness::MixedDeliveryVariants(),
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
