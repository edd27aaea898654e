// D-18: a node that was added to a captured graph and could not be placed in the capture.
//
// Intent: fail the driver's move of the capture's tail after a child-graph node, then after a conditional node, was
// added. As long as a graph is captured the driver destroys no node of it, so the node stays until the capture ends,
// and is destroyed then: the documented outcome. The error comes out, the capture goes on and can be embedded into
// again; what the node brought is released after the end, its bodies' builders were never seen, and a launch runs the
// rest alone.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with two faults fired.
#include <functional>
#include <optional>
#include <string>
#include <vector>

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
#include "scenarios/support/live_objects.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

// `add` fails in its step at the placing of the node that it has added.
void CheckNotPlaced(harness::Context& context, GraphBuilder& builder, const char* step, std::uint64_t fault,
                    const std::function<void()>& add) {
  const std::uint64_t streams_before = context.shim().live().streams;
  context.shim().announce_step(step);
  const driver::DriverError error =
      CheckThrows<driver::DriverError>(context, std::string("a node that cannot be placed: ") + step, add);
  context.shim().announce_step("after");
  context.RequireFaults("cuStreamUpdateCaptureDependencies", fault);
  context.Check(error.call() == "cuStreamUpdateCaptureDependencies" && error.result() == CUDA_ERROR_OUT_OF_MEMORY,
                "the error is the driver's");
  context.Check(builder.IsBuilding() && IsCapturing(context, builder.stream()), "the capture goes on");
  context.Check(context.shim().live().streams == streams_before, "no stream of a body is left");
}

void CheckEmbed(harness::Context& context, const DeviceSession& session) {
  OwnerProbe unplaced_owner;
  int runs = 0;
  int unplaced_runs = 0;
  std::optional<GraphDefinition> source(std::in_place);
  source->AddHostNode(CountingCallback(unplaced_runs, unplaced_owner.Take()));
  GraphBuilder builder(Stream::Create());
  builder.Begin();
  builder.AddCallback(CountingCallback(runs));
  CheckNotPlaced(context, builder, "embed", 1, [&] { builder.Embed(*source); });
  source.reset();
  builder.AddCallback(CountingCallback(runs));
  builder.End();
  Settle(context);
  CheckReleasedOnce(context, unplaced_owner, "the node that could not be placed is destroyed with the capture's end");

  const std::vector<GraphNode> nodes = builder.Definition().Nodes();
  context.Check(nodes.size() == 2, "the node that could not be placed is not in the finished graph");
  context.Check(builder.Definition().Edges().size() == 1, "what was captured after it comes behind what was before");
  const GraphExec executable = builder.Complete();
  executable.Launch(session.stream());
  session.stream()->Synchronize();
  context.Check(runs == 2 && unplaced_runs == 0, "the rest runs, and it alone");
}

void CheckConditional(harness::Context& context, const DeviceSession& session) {
  const DeviceMemoryHandle memory = DeviceMemory::Allocate(1);
  GraphBuilder builder(Stream::Create());
  builder.Begin();
  EnqueueFill(builder.stream(), memory, 1, 1);
  const Condition condition = builder.MakeCondition(1);
  CheckNotPlaced(context, builder, "conditional", 2, [&] { (void)builder.IfElse(condition); });
  GraphBuilder body = builder.If(builder.MakeCondition(1));
  body.Begin();
  EnqueueFill(body.stream(), memory, 2, 1);
  body.End();
  builder.End();
  context.Check(builder.Definition().Nodes().size() == 2, "the node that could not be placed is gone");
  // A condition without a node keeps a graph from being instantiated.
  builder.Definition().AddIfNode(condition);
  const GraphExec executable = builder.Complete();
  executable.Launch(session.stream());
  session.stream()->Synchronize();
  context.Check(DeviceSession::Read(memory).front() == 2,
                "a conditional node that could be placed runs behind the rest");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  const fault::LiveObjects before = context.shim().live();
  CheckEmbed(context, session);
  CheckConditional(context, session);
  CheckSameLive(context, before, "two nodes could not be placed");
  context.CheckUndisturbed(driver::CleanupFailureCount() == 0, "the driver refused nothing else");
  context.Oracle("the graph and its owners after nodes that could not be placed");
}

const harness::Registration registration({
    .name = "GB.unplaced-nodes-go-with-the-capture",
    .summary = "A node that was added to a capture and could not be placed is destroyed when the capture has ended",
    .covers = {"D-18"},
    .catches = {"unplaced-nodes-stay"},
    .plan = {"cuStreamUpdateCaptureDependencies:nth=1,step=embed,count=step,return=CUDA_ERROR_OUT_OF_MEMORY",
             "cuStreamUpdateCaptureDependencies:nth=1,step=conditional,count=step,return=CUDA_ERROR_OUT_OF_MEMORY"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
