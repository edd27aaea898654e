// A12: a host that accepts a wakeup and never runs it does not strand the payloads for ever.
//
// Intent: the plan loses the accepted call. The library believes a wakeup to be outstanding, so no later payload asks
// for one. A safe entry that finds the call overdue must ask again; the one that the host then runs drains everything.
//
// Interleaving: one thread; the time after which a call counts as overdue is set to a few milliseconds.
//
// Expected verdict: passed, with one loss fired.
#include <chrono>

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

void CUDA_CB Nothing(void*) {}

void DropGraphOwnedBy(OwnerProbe& owner) {
  GraphDefinition graph;
  graph.AddHostNode({&Nothing, nullptr, owner.Take(), nullptr});
}

void Run(harness::Context& context) {
  DeviceSession device(context);
  HostSession session(context, 13, {}, {.presumed_lost_after = std::chrono::milliseconds(5)});
  OwnerProbe first, second;
  DropGraphOwnedBy(first);
  context.shim().release_held();
  context.shim().quiesce();
  context.RequireFaults("Py_AddPendingCall");
  context.Check(session.host().counts().lost == 1, "the host lost the call");
  DropGraphOwnedBy(second);
  context.shim().release_held();
  context.shim().quiesce();
  context.CheckEventually(
      [&] {
        DeferredCleanup::Process().OnSafeEntry();
        session.host().RunPending();
        return !first.IsAlive() && !second.IsAlive();
      },
      "a safe entry asks again when an accepted wakeup is overdue");
  CheckReleasedOnce(context, first, "the wakeup that was asked for again ran");
  CheckReleasedOnce(context, second, "the wakeup that was asked for again ran");

  OwnerProbe third;
  DropGraphOwnedBy(third);
  context.shim().release_held();
  context.shim().quiesce();
  session.host().RunPending();
  CheckReleasedOnce(context, third, "after a loss the next wakeup comes by itself");
  context.Oracle("releases after a lost call");
}

const harness::Registration registration({
    .name = "A12.lost-call-is-asked-for-again",
    .summary = "A wakeup that the host accepted and lost is asked for again once it is overdue",
    .covers = {"A12", "D-03", "DC-05", "BR-24"},
    .catches = {"lost-call-never-noticed"},
    .plan = {"Py_AddPendingCall:nth=1,drop"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
