// A11: an executable destroyed with a launch in flight does not queue its attachments until CUDA says that the launch
// no longer needs them.
//
// Intent: a host node keeps the launch in flight; close the executable and destroy the graph. Nothing may reach the
// queue while the callback waits; after the gate is opened the owner goes, late, from a driver thread, and is released
// by a drain. The same for a whole update during a launch.
//
// Interleaving:
//   scenario             driver's stream thread
//   launch
//                        callback starts, waits
//   close, destroy
//   (queue is empty)
//   open the gate
//                        callback ends, launch ends
//                        destructor -> queue
//   drain
//
// Expected verdict: passed.
#include <optional>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/cleanup/deferred_cleanup.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/blocking_callback.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/live_objects.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

using cleanup::DeferredCleanup;

void CUDA_CB Nothing(void*) {}

void CheckNothingQueued(harness::Context& context, const OwnerProbe& owner, const char* when) {
  context.shim().release_held();
  context.shim().quiesce();
  context.Check(!DeferredCleanup::Process().HasWork(), std::string("nothing is queued ") + when);
  DrainNow();
  CheckAlive(context, owner, when);
}

void CheckReleasedAfterLaunch(harness::Context& context, const DeviceSession& session, BlockingCallback& blocking,
                              const OwnerProbe& owner) {
  blocking.Open();
  session.stream()->Synchronize();
  CheckReleasedLate(context, owner, "the launch has ended");
  context.Check(blocking.HasEnded(), "the callback had ended when its owner went");
}

void CheckClose(harness::Context& context, const DeviceSession& session) {
  OwnerProbe owner;
  BlockingCallback blocking;
  std::optional<GraphDefinition> graph(std::in_place);
  graph->AddHostNode(blocking.Callback(owner.Take()));
  GraphExec executable(*graph);
  executable.Launch(session.stream());
  context.CheckEventually([&] { return blocking.HasStarted(); }, "the launch starts");
  executable.Close();
  graph.reset();
  context.Check(!blocking.HasEnded(), "closing does not wait for the launch");
  CheckNothingQueued(context, owner, "while the launch of a closed executable is in flight");
  CheckReleasedAfterLaunch(context, session, blocking, owner);
}

void CheckUpdate(harness::Context& context, const DeviceSession& session) {
  OwnerProbe old_owner, new_owner;
  BlockingCallback blocking;
  std::optional<GraphDefinition> source(std::in_place);
  source->AddHostNode(blocking.Callback(old_owner.Take()));
  std::optional<GraphExec> executable(*source);
  executable->Launch(session.stream());
  context.CheckEventually([&] { return blocking.HasStarted(); }, "the launch starts");
  source.emplace();
  source->AddHostNode({&Nothing, nullptr, new_owner.Take(), nullptr});
  executable->Update(*source);
  source.reset();
  CheckNothingQueued(context, old_owner, "while a launch from before the update is in flight");
  CheckReleasedAfterLaunch(context, session, blocking, old_owner);
  CheckAlive(context, new_owner, "the updated executable needs it");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckClose(context, session);
  // What else the closed executable held may come later than its owner.
  CheckNoOwnersLeft(context);
  CheckUpdate(context, session);
  context.Oracle("queue and owner while a launch is in flight");
}

const harness::Registration registration({
    .name = "A11.destroyed-with-a-launch-in-flight",
    .summary = "Owners of a destroyed or updated executable are not even queued while a launch needs them",
    .covers = {"A11", "EX-05", "EA-05", "BR-16"},
    .catches = {"executable-trusts-the-definition"},
    .variants = harness::MixedDeliveryVariants(),
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
