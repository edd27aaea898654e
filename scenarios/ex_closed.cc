// EX-04: an executable is closed once, and refuses everything from then on.
//
// Intent: close an executable twice, through two handles, and try every operation on it and on views of its nodes. It
// is destroyed once (the ledger would tell of a second time); each operation is refused with an error that names it.
// When the driver answers the close with an error the executable counts as closed all the same, since it may be gone.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with one fault fired.
#include <optional>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/status.h"
#include "lib/graph/exec_node.h"
#include "lib/graph/graph_builder.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/expected_errors.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

void CheckRefusesAll(harness::Context& context, const DeviceSession& session, GraphExec& executable,
                     const GraphDefinition& definition, ExecNode& view) {
  GraphBuilder builder(Stream::Create());
  builder.Begin();
  builder.End();
  int runs = 0;
  const GraphNode node = definition.Nodes().front();
  context.Check(executable.raw() == nullptr, "a closed executable has no handle");
  CheckMisuse(context, "launching what is closed", "Launch", [&] { executable.Launch(session.stream()); });
  CheckMisuse(context, "uploading what is closed", "Upload", [&] { executable.Upload(session.stream()); });
  CheckMisuse(context, "updating what is closed", "Update", [&] { executable.Update(definition); });
  CheckMisuse(context, "updating what is closed from a builder", "Update", [&] { executable.Update(builder); });
  CheckMisuse(context, "a view of what is closed", "Node", [&] { (void)executable.Node(node); });
  CheckMisuse(context, "updating through a view from before", "UpdateHost",
              [&] { view.UpdateHost(CountingCallback(runs)); });
}

void CheckClosedOnce(harness::Context& context, const DeviceSession& session) {
  OwnerProbe owner, update_owner;
  int runs = 0;
  std::optional<GraphDefinition> definition(std::in_place);
  const GraphNode node = definition->AddHostNode(CountingCallback(runs, owner.Take()));
  GraphExec executable(*definition);
  GraphExec other_handle = executable;
  ExecNode view = executable.Node(node);
  view.UpdateHost(CountingCallback(runs, update_owner.Take()));
  executable.Close();
  Settle(context);
  CheckReleasedOnce(context, update_owner, "the executable alone had it");
  CheckAlive(context, owner, "its node is in the definition");
  CheckRefusesAll(context, session, other_handle, *definition, view);
  other_handle.Close();
  executable.Close();
  context.Check(context.shim().live().executables == 0 && context.shim().findings() == 0,
                "the executable was destroyed, once");
}

void CheckFailedClose(harness::Context& context) {
  OwnerProbe owner;
  int runs = 0;
  const std::uint64_t reported_before = driver::CleanupFailureCount();
  std::optional<GraphDefinition> definition(std::in_place);
  definition->AddHostNode(CountingCallback(runs, owner.Take()));
  std::optional<GraphExec> executable(*definition);
  definition.reset();
  context.shim().announce_step("close");
  const CUresult result =
      CheckRefused(context, "a close that the driver answers with an error", [&] { executable->Close(); });
  context.shim().announce_step("after");
  context.RequireFaults("cuGraphExecDestroy");
  context.Check(result == CUDA_ERROR_LAUNCH_FAILED, "the driver's answer is passed on");
  context.Check(executable->raw() == nullptr, "the executable counts as closed");
  executable->Close();
  executable.reset();
  Settle(context);
  CheckReleasedOnce(context, owner, "the executable was gone, whatever the driver answered");
  context.Check(driver::CleanupFailureCount() == reported_before, "what is thrown is not reported as well");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckClosedOnce(context, session);
  CheckFailedClose(context);
  context.Oracle("every operation on a closed executable");
}

const harness::Registration registration({
    .name = "EX.closed-once",
    .summary = "An executable is destroyed once, however often it is closed, and refuses all operations from then on",
    .covers = {"EX-04"},
    .catches = {"accepted-update-drops-its-owners"},
    .plan = {"cuGraphExecDestroy:nth=1,step=close,count=step,return=CUDA_ERROR_LAUNCH_FAILED,after"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
