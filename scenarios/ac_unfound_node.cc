// AC-03, AC-06: a captured callback whose node cannot be found keeps its owners all the same, without a name.
//
// Intent: fail the driver's answer to where the capture is, after the callback was captured. The error comes out, the
// capture goes on, the callback is in the graph and runs. Its owner belongs to no node but to the graph: clones and
// executables get it like any other, and it goes with the last of them.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with one fault fired.
#include <optional>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_builder.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/captured_work.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/expected_errors.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

void LaunchOnce(const DeviceSession& session, const GraphExec& executable) {
  executable.Launch(session.stream());
  session.stream()->Synchronize();
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  OwnerProbe owner;
  int runs = 0;
  std::optional<GraphBuilder> builder(Stream::Create());
  builder->Begin();
  context.shim().announce_step("unfound");
  const driver::DriverError error =
      CheckThrows<driver::DriverError>(context, "capturing a callback whose node cannot be found",
                                       [&] { builder->AddCallback(CountingCallback(runs, owner.Take())); });
  context.shim().announce_step("found");
  context.RequireFaults("cuStreamGetCaptureInfo");
  context.Check(error.call() == "cuStreamGetCaptureInfo" && error.result() == CUDA_ERROR_OUT_OF_MEMORY,
                "the error is the driver's");
  context.Check(IsCapturing(context, builder->stream()), "the capture goes on");
  Settle(context);
  CheckAlive(context, owner, "its callback was captured");

  builder->End();
  std::optional<GraphDefinition> definition(builder->Definition());
  context.Check(definition->Nodes().size() == 1 && definition->attachment_count() == 0,
                "the callback is in the graph, and its owner belongs to no node");
  std::optional<GraphDefinition> clone(definition->Clone());
  std::optional<GraphExec> executable(builder->Complete());
  builder.reset();
  definition.reset();
  Settle(context);
  CheckAlive(context, owner, "clone and executable have it");
  LaunchOnce(session, *executable);
  executable.reset();
  SettleIdle(context);
  CheckAlive(context, owner, "the clone has it");
  executable.emplace(*clone);
  clone.reset();
  LaunchOnce(session, *executable);
  context.Check(runs == 2, "the callback runs, from the graph and from its clone");
  CheckAlive(context, owner, "the clone's executable has it");
  executable.reset();
  CheckReleasedLate(context, owner, "nothing needs it any more");
  context.Oracle("the owner of a callback whose node was not found");
}

const harness::Registration registration({
    .name = "AC.unfound-node-keeps-its-owners",
    .summary = "Owners of a captured callback whose node cannot be found live with the graph and all made from it",
    .covers = {"AC-03", "AC-06"},
    .catches = {"anonymous-owners-dropped"},
    // The second question: the first is where the callback will be.
    .plan = {"cuStreamGetCaptureInfo:nth=2,step=unfound,count=step,return=CUDA_ERROR_OUT_OF_MEMORY"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
