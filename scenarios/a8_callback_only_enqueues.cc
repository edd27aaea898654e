// A8: the callback releases no owner and calls no CUDA; adding a pending call is the one call to the host that it may
// make.
//
// Intent: destroy many graphs from several threads while the main thread of the host runs nothing. The callbacks run
// meanwhile: no owner may be released, the ledger must see no driver call from a callback, and the host must have been
// asked once. Then the main thread runs what is pending, and everything is released there.
//
// Interleaving: four threads destroy graphs at the same time (fact U3: callbacks are concurrent); the variants differ
// in where CUDA's destructor callbacks run.
//
// Expected verdict: passed. The finding of a callback that calls the driver comes from the ledger.
#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/cleanup/deferred_cleanup.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/host_session.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

using cleanup::DeferredCleanup;

constexpr int kThreads = 4;
constexpr int kGraphsPerThread = 16;

void CUDA_CB Nothing(void*) {}

void DestroyGraphs(std::deque<OwnerProbe>& owners) {
  for (OwnerProbe& owner : owners) {
    GraphDefinition graph;
    graph.AddHostNode({&Nothing, nullptr, owner.Take(), nullptr});
  }
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  HostSession host(context, 12);
  host.host().SetBusy(true);
  std::vector<std::deque<OwnerProbe>> owners(kThreads);
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    owners[i].resize(kGraphsPerThread);
    threads.push_back(context.StartThread(i + 1, [&session, &mine = owners[i]] {
      session.MakeCurrent();
      DestroyGraphs(mine);
    }));
  }
  for (std::jthread& thread : threads) {
    thread.join();
  }
  context.shim().release_held();
  context.shim().quiesce();
  constexpr std::uint64_t kPayloads = std::uint64_t{kThreads} * kGraphsPerThread;
  context.Check(DeferredCleanup::Process().Counters().enqueued == kPayloads, "each callback enqueued its payload");
  for (const std::deque<OwnerProbe>& mine : owners) {
    for (const OwnerProbe& owner : mine) {
      CheckAlive(context, owner, "callbacks release nothing");
    }
  }
  const fault::HostCounts before = host.host().counts();
  context.Check(before.accepted == 1 && before.refused == 0, "however many callbacks, the host is asked once");

  host.host().SetBusy(false);
  host.host().RunPending();
  for (const std::deque<OwnerProbe>& mine : owners) {
    for (const OwnerProbe& owner : mine) {
      CheckReleasedOnce(context, owner, "the host's main thread ran the drain");
    }
  }
  context.Count("payloads", kPayloads);
  context.Oracle("owners, driver calls and host calls while callbacks ran");
}

const harness::Registration registration({
    .name = "A8.callback-only-enqueues",
    .summary = "A destructor callback enqueues and asks the host once; it releases nothing and calls no CUDA",
    .covers = {"A8", "DC-01", "DC-02", "DC-03", "D-04", "D-07", "BR-11"},
    .catches = {"owners-released-in-the-callback", "callback-calls-the-driver"},
    .variants = harness::MixedDeliveryVariants(),
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
