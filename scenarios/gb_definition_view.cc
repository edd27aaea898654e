// GB-22, GB-23, C1: the definition of a builder, and when there is one.
//
// Intent: ask for the definition in each state. A primary builder has one after its end alone, and it is the very graph
// that was captured into, with what was retained on it meanwhile; a body has one before its beginning and after its
// end; a fork never has. Edits by the explicit API show in what the builder completes, and the definition outlives it.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <optional>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
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

void CheckHasNone(harness::Context& context, const GraphBuilder& builder, const char* what) {
  CheckMisuse(context, what, "Definition", [&] { (void)builder.Definition(); });
}

CUgraph CapturedGraph(const StreamHandle& stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUgraph graph = nullptr;
  driver::Check(
      "cuStreamGetCaptureInfo",
      driver::GetDriver().cuStreamGetCaptureInfo(stream->raw(), &status, nullptr, &graph, nullptr, nullptr, nullptr),
      "asking for the graph that is captured into");
  return graph;
}

void CheckPrimary(harness::Context& context, const DeviceSession& session) {
  OwnerProbe captured_owner, added_owner;
  int captured_runs = 0;
  int added_runs = 0;
  std::optional<GraphBuilder> builder(Stream::Create());
  CheckHasNone(context, *builder, "the definition of a builder that has not begun");
  builder->Begin();
  CheckHasNone(context, *builder, "the definition of a builder that captures");
  builder->AddCallback(CountingCallback(captured_runs, captured_owner.Take()));
  {
    std::vector<GraphBuilder> builders = builder->Split(2);
    CheckHasNone(context, builders[1], "the definition of a fork");
    GraphBuilder::Join(builders);
  }
  const CUgraph captured = CapturedGraph(builder->stream());
  builder->End();

  GraphDefinition definition = builder->Definition();
  context.Check(definition.raw() == captured, "the graph of the capture and the one of its end are the same (fact C1)");
  context.Check(builder->Definition() == definition, "there is one definition, however often it is asked for");
  definition.AddHostNode(CountingCallback(added_runs, added_owner.Take()), definition.Nodes());
  std::optional<GraphExec> executable(builder->Complete());
  builder->Close();
  CheckHasNone(context, *builder, "the definition of a closed builder");
  builder.reset();
  Settle(context);
  context.Check(definition.IsValid() && definition.Nodes().size() == 2, "the definition outlives its builder");
  CheckAlive(context, captured_owner, "the definition has it since the capture (fact C1)");

  executable->Launch(session.stream());
  session.stream()->Synchronize();
  context.Check(captured_runs == 1 && added_runs == 1, "what was added by hand is in what the builder completed");
  executable.reset();
  SettleIdle(context);
  CheckAlive(context, captured_owner, "the definition has it");
  definition = GraphDefinition();
  CheckReleasedLate(context, captured_owner, "nothing needs it any more");
  CheckReleasedLate(context, added_owner, "nothing needs it any more");
}

void CheckBody(harness::Context& context) {
  GraphBuilder primary(Stream::Create());
  primary.Begin();
  GraphBuilder body = primary.If(primary.MakeCondition(0));
  const GraphDefinition before = body.Definition();
  body.Begin();
  CheckHasNone(context, body, "the definition of a body that captures");
  body.End();
  context.Check(body.Definition() == before, "a body has the same definition before and after its capture");
  primary.End();
  context.Check(primary.Definition().Nodes().front().Bodies().front() == before, "it is the body of the node");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckPrimary(context, session);
  CheckBody(context);
  context.Oracle("the definition in each state of each kind of builder");
}

const harness::Registration registration({
    .name = "GB.definition-view",
    .summary = "A builder gives its definition when the capture has ended, the same one each time, and it outlives it",
    .covers = {"GB-22", "GB-23", "C1"},
    .catches = {},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
