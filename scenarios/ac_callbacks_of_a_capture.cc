// AC-01, AC-02, AC-04, AC-05: a captured callback is kept by its node; other captured work is the caller's.
//
// Intent: capture callbacks while the driver refuses one before it took effect, and answers another with the error of
// earlier work after it did. The refused one leaves nothing; the other is in the graph and has its owner all the same.
// Found again by their nodes, the owners live and die with graph and executable. Memory that a captured fill works on
// is not kept. Outside of a capture a callback is refused.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with two faults fired.
#include <optional>
#include <string>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
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

struct Callback {
  OwnerProbe owner;
  int runs = 0;

  HostCallback Take() { return CountingCallback(runs, owner.Take()); }
};

void CheckOutsideACapture(harness::Context& context, GraphBuilder& builder, const char* when) {
  int runs = 0;
  CheckMisuse(context, std::string("a callback ") + when, "AddCallback",
              [&] { builder.AddCallback(CountingCallback(runs)); });
}

// Captures: nothing of `refused`, then `plain`, then `late`.
void Capture(harness::Context& context, GraphBuilder& builder, Callback& refused, Callback& plain, Callback& late) {
  CheckOutsideACapture(context, builder, "before the capture");
  builder.Begin();
  context.shim().announce_step("refused");
  CUresult result =
      CheckRefused(context, "a callback that the driver refuses", [&] { builder.AddCallback(refused.Take()); });
  context.shim().announce_step("accepted");
  context.RequireFaults("cuLaunchHostFunc", 1);
  context.Check(result == CUDA_ERROR_OUT_OF_MEMORY, "the driver's answer is passed on");
  Settle(context);
  CheckReleasedOnce(context, refused.owner, "its callback was not captured");
  context.Check(IsCapturing(context, builder.stream()), "the capture goes on");

  builder.AddCallback(plain.Take());
  context.shim().announce_step("late");
  result = CheckRefused(context, "a callback captured with the error of earlier work",
                        [&] { builder.AddCallback(late.Take()); });
  context.shim().announce_step("done");
  context.RequireFaults("cuLaunchHostFunc", 2);
  context.Check(result == CUDA_ERROR_LAUNCH_FAILED, "the driver's answer is passed on");
  Settle(context);
  CheckAlive(context, plain.owner, "its callback was captured");
  CheckAlive(context, late.owner, "its callback was captured, whatever the driver answered");
  builder.End();
  CheckOutsideACapture(context, builder, "after the capture");
}

void CheckCallbacks(harness::Context& context, const DeviceSession& session) {
  Callback refused, plain, late;
  std::optional<GraphBuilder> builder(Stream::Create());
  Capture(context, *builder, refused, plain, late);

  std::vector<GraphNode> nodes = builder->Definition().Nodes();
  context.Check(nodes.size() == 2 && builder->Definition().attachment_count() == 2, "two callbacks are in the graph");
  for (const GraphNode& node : nodes) {
    context.Check(node.type() == CU_GRAPH_NODE_TYPE_HOST && node.Owners().size() == 1,
                  "the owner of a captured callback is its node's");
  }
  std::optional<GraphExec> executable(builder->Complete());
  nodes.front().Destroy();
  nodes.clear();
  builder.reset();
  Settle(context);
  CheckAlive(context, plain.owner, "the executable needs it");
  CheckAlive(context, late.owner, "the executable needs it");
  executable->Launch(session.stream());
  session.stream()->Synchronize();
  context.Check(refused.runs == 0 && plain.runs == 1 && late.runs == 1, "what was captured runs, and nothing else");
  executable.reset();
  CheckReleasedLate(context, plain.owner, "nothing needs it any more");
  CheckReleasedLate(context, late.owner, "nothing needs it any more");
}

void CheckOtherWork(harness::Context& context) {
  DeviceMemoryHandle memory = DeviceMemory::Allocate(16);
  GraphBuilder builder(Stream::Create());
  builder.Begin();
  EnqueueFill(builder.stream(), memory, 1, 16);
  memory = nullptr;
  Settle(context);
  context.Check(context.shim().live().allocations == 0, "what other captured work refers to is the caller's to keep");
  builder.End();
  context.Check(builder.Definition().attachment_count() == 0, "a captured fill has no owners");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckCallbacks(context, session);
  CheckOtherWork(context);
  context.Oracle("owners of captured callbacks, refused, captured and captured with an error");
}

const harness::Registration registration({
    .name = "AC.callbacks-of-a-capture",
    .summary = "A captured callback is kept by its node, a refused one leaves nothing, other work is the caller's",
    .covers = {"AC-01", "AC-02", "AC-04", "AC-05"},
    .catches = {},
    .plan = {"cuLaunchHostFunc:nth=1,step=refused,count=step,return=CUDA_ERROR_OUT_OF_MEMORY",
             "cuLaunchHostFunc:nth=1,step=late,count=step,return=CUDA_ERROR_LAUNCH_FAILED,after"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
