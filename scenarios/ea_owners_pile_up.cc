// EA-01 to EA-04: what updates of an executable's nodes bring stays with that executable until it goes.
//
// Intent: update one node of one of two executables several times; each owner stays until that executable is gone, the
// superseded ones too, and the other executable has nothing to do with it. An update that the driver refuses, and one
// for which memory runs out at any allocation, leave the executable running what it ran, and drop the new owner at
// once.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with one fault fired by the plan.
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/exec_node.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/expected_errors.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

constexpr std::size_t kUpdates = 10;

int LaunchAndCount(const DeviceSession& session, const GraphExec& executable, int& runs) {
  const int before = runs;
  executable.Launch(session.stream());
  session.stream()->Synchronize();
  return runs - before;
}

void CheckPilingUp(harness::Context& context, const DeviceSession& session) {
  OwnerProbe original, others;
  std::vector<OwnerProbe> owners(kUpdates);
  std::vector<int> runs(kUpdates + 2);
  GraphDefinition definition;
  const GraphNode node = definition.AddHostNode(CountingCallback(runs[0], original.Take()));
  std::optional<GraphExec> executable(definition);
  std::optional<GraphExec> other(definition);
  other->Node(node).UpdateHost(CountingCallback(runs[kUpdates + 1], others.Take()));
  for (std::size_t i = 0; i < kUpdates; ++i) {
    executable->Node(node).UpdateHost(CountingCallback(runs[i + 1], owners[i].Take()));
    Settle(context);
    for (std::size_t earlier = 0; earlier <= i; ++earlier) {
      CheckAlive(context, owners[earlier], "owners pile up until the executable goes");
    }
    context.Check(LaunchAndCount(session, *executable, runs[i + 1]) == 1, "the executable runs the latest callback");
  }
  other.reset();
  CheckReleasedLate(context, others, "its executable is gone");
  for (const OwnerProbe& owner : owners) {
    CheckAlive(context, owner, "another executable of the same source is gone, not its own");
  }
  executable.reset();
  for (const OwnerProbe& owner : owners) {
    CheckReleasedLate(context, owner, "its executable is gone");
  }
  context.Check(runs[0] == 0, "the callback of the definition never ran");
  CheckAlive(context, original, "the definition has it");
}

void CheckRefusedUpdate(harness::Context& context, const DeviceSession& session, GraphExec& executable,
                        const GraphNode& node, int& runs) {
  OwnerProbe refused;
  int refused_runs = 0;
  context.shim().announce_step("refused");
  const CUresult result = CheckRefused(context, "an update that the driver refuses", [&] {
    executable.Node(node).UpdateHost(CountingCallback(refused_runs, refused.Take()));
  });
  context.shim().announce_step("after");
  context.RequireFaults("cuGraphExecNodeSetParams");
  context.Check(result == CUDA_ERROR_OUT_OF_MEMORY, "the driver's answer is passed on");
  context.Check(refused.releases() == 1, "the owner of a refused update is dropped at once");
  context.Check(LaunchAndCount(session, executable, runs) == 1 && refused_runs == 0, "the executable is as it was");
}

void CheckFailedAllocations(harness::Context& context, const DeviceSession& session, GraphExec& executable,
                            const GraphNode& node, int& runs) {
  int new_runs = 0;
  ExecNode view = executable.Node(node);
  for (std::uint64_t failing = 1;; ++failing) {
    OwnerProbe owner;
    HostCallback callback = CountingCallback(new_runs, owner.Take());
    bool updated = false;
    context.shim().arm({"alloc", failing, false, false, 0});
    try {
      const harness::AllocationFaultWindow window(context);
      view.UpdateHost(callback);
      updated = true;
    } catch (const std::bad_alloc&) {
    }
    const std::uint64_t fired = context.shim().disarm();
    callback.function_owner = nullptr;
    context.Check(updated == (fired == 0), "an update without memory says so");
    if (updated) {
      CheckAlive(context, owner, "the executable needs it");
      context.Check(failing > 1, "an update allocates");
      context.Check(LaunchAndCount(session, executable, new_runs) == 1, "the update succeeds when nothing fails");
      executable.Close();
      CheckReleasedLate(context, owner, "the executable is gone");
      return;
    }
    context.Check(owner.releases() == 1, "the owner of a failed update is dropped at once");
    context.Check(LaunchAndCount(session, executable, runs) == 1, "the executable is as it was");
  }
}

void CheckFailures(harness::Context& context, const DeviceSession& session) {
  OwnerProbe kept;
  int runs = 0;
  int definition_runs = 0;
  GraphDefinition definition;
  const GraphNode node = definition.AddHostNode(CountingCallback(definition_runs));
  GraphExec executable(definition);
  executable.Node(node).UpdateHost(CountingCallback(runs, kept.Take()));
  CheckRefusedUpdate(context, session, executable, node, runs);
  CheckAlive(context, kept, "the update after it was refused");
  CheckFailedAllocations(context, session, executable, node, runs);
  CheckReleasedLate(context, kept, "the executable is gone");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckPilingUp(context, session);
  CheckFailures(context, session);
  context.Oracle("owners of accepted, refused and failed updates of an executable's node");
}

const harness::Registration registration({
    .name = "EA.owners-pile-up",
    .summary = "Owners that updates of an executable's nodes bring stay until it goes; those of failed updates do not",
    .covers = {"EA-01", "EA-02", "EA-03", "EA-04", "D-30"},
    .catches = {"accepted-update-drops-its-owners"},
    .plan = {"cuGraphExecNodeSetParams:nth=1,step=refused,count=step,return=CUDA_ERROR_OUT_OF_MEMORY"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
