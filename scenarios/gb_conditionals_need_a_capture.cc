// GB-25: conditional nodes of a builder need a capture that goes on, and a driver that has them.
//
// Intent: ask for a condition and for each kind of conditional node before a capture, after it and on a driver that is
// too old (the answer of each call in turn is NOT_SUPPORTED). Each is refused, the streams that were made for bodies
// are gone, and the capture goes on.
//
// Interleaving: one thread.
//
// Expected verdict: passed, with a fault fired for each call.
#include <functional>
#include <string>
#include <utility>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_builder.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/captured_work.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/expected_errors.h"
#include "scenarios/support/live_objects.h"

namespace holdfast::scenarios {
namespace {

void CheckOutsideACapture(harness::Context& context, GraphBuilder& builder, const Condition& condition) {
  const std::pair<const char*, std::function<void()>> operations[] = {
      {"MakeCondition", [&] { (void)builder.MakeCondition(); }}, {"If", [&] { (void)builder.If(condition); }},
      {"IfElse", [&] { (void)builder.IfElse(condition); }},      {"While", [&] { (void)builder.While(condition); }},
      {"Switch", [&] { (void)builder.Switch(condition, 2); }},
  };
  for (const auto& [name, operation] : operations) {
    CheckMisuse(context, std::string(name) + " outside of a capture", name, operation);
  }
}

void CheckFailure(harness::Context& context, GraphBuilder& builder, const char* step, const char* call,
                  const std::function<void()>& operation) {
  const fault::LiveObjects before = context.shim().live();
  const std::uint64_t faults_before = context.shim().faults(call);
  context.shim().announce_step(step);
  const CUresult result =
      CheckRefused(context, std::string("a conditional node on a driver without ") + call, operation);
  context.shim().announce_step("after");
  context.RequireFaults(call, faults_before + 1);
  context.Check(result == CUDA_ERROR_NOT_SUPPORTED, "the driver's answer is passed on");
  CheckSameLive(context, before, std::string("the driver has no ") + call);
  context.Check(builder.IsBuilding() && IsCapturing(context, builder.stream()), "the capture goes on");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  GraphBuilder builder(Stream::Create());
  {
    const Condition foreign = GraphDefinition().MakeCondition(0);
    CheckOutsideACapture(context, builder, foreign);
  }
  builder.Begin();
  CheckFailure(context, builder, "condition", "cuGraphConditionalHandleCreate",
               [&] { (void)builder.MakeCondition(0); });
  const Condition condition = builder.MakeCondition(0);
  CheckFailure(context, builder, "node", "cuGraphAddNode", [&] { (void)builder.Switch(condition, 3); });
  CheckFailure(context, builder, "stream", "cuStreamCreateWithPriority", [&] { (void)builder.Switch(condition, 3); });
  context.Check(builder.Switch(condition, 3).size() == 3, "the condition serves a node once the driver has them");
  builder.End();
  context.Check(builder.Definition().Nodes().size() == 1, "one node came of four attempts");
  CheckOutsideACapture(context, builder, condition);
  context.Oracle("what is refused outside of a capture and by an old driver");
}

const harness::Registration registration({
    .name = "GB.conditionals-need-a-capture",
    .summary = "Conditional nodes of a builder are refused outside of a capture and by a driver that lacks them",
    .covers = {"GB-25", "D-18"},
    .catches = {},
    .variants = harness::SingleVariant(),
    .plan = {"cuGraphConditionalHandleCreate:nth=1,step=condition,count=step,return=CUDA_ERROR_NOT_SUPPORTED",
             "cuGraphAddNode:nth=1,step=node,count=step,return=CUDA_ERROR_NOT_SUPPORTED",
             "cuStreamCreateWithPriority:nth=3,step=stream,count=step,return=CUDA_ERROR_NOT_SUPPORTED"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
