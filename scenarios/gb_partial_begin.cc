// GB-06, D-21: a beginning that fails after the driver has begun leaves nothing capturing.
//
// Intent: fail a beginning at the driver's begin, then at the question for the graph, then at that and at the end of
// the capture as well. After the first two the stream does not capture, the builder can begin again, and it gives
// neither definition nor executable. After the third the driver is still capturing and nobody has the graph: the
// failure is reported, and the builder's close ends it. The same for the body of a conditional node. No graph is left
// in any case.
//
// Interleaving: one thread.
//
// Expected verdict: passed, with a fault fired for each failure.
#include <optional>
#include <string>

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

namespace holdfast::scenarios {
namespace {

using State = GraphBuilder::State;

// Begins in the step, which has to make it fail at `call`.
void CheckFailedBegin(harness::Context& context, GraphBuilder& builder, const char* step, const std::string& call) {
  context.shim().announce_step(step);
  const driver::DriverError error =
      CheckThrows<driver::DriverError>(context, "beginning, failed at " + call, [&] { builder.Begin(); });
  context.shim().announce_step("after");
  context.Check(error.call() == call, "the error names " + call);
}

void CheckHasNoGraph(harness::Context& context, const GraphBuilder& builder) {
  CheckMisuse(context, "completing what did not begin", "Complete", [&] { (void)builder.Complete(); });
  CheckMisuse(context, "the definition of what did not begin", "Definition", [&] { (void)builder.Definition(); });
}

void CheckBeginsAfterAll(harness::Context& context, const DeviceSession& session, GraphBuilder& builder) {
  int runs = 0;
  builder.Begin();
  builder.AddCallback(CountingCallback(runs));
  builder.End();
  const GraphExec executable = builder.Complete();
  executable.Launch(session.stream());
  session.stream()->Synchronize();
  context.Check(runs == 1, "the builder begins after all, and what it captures runs");
}

void CheckBeginAgain(harness::Context& context, const DeviceSession& session, const char* step, const char* call) {
  GraphBuilder builder(Stream::Create());
  const fault::LiveObjects before = LiveWithoutOwners(context);
  CheckFailedBegin(context, builder, step, call);
  context.RequireFaults(call);
  context.Check(builder.state() == State::kNotStarted, "the builder has not begun");
  context.Check(!IsCapturing(context, builder.stream()), "the stream does not capture");
  CheckSameLive(context, before, std::string("a beginning failed at ") + call);
  CheckHasNoGraph(context, builder);
  CheckBeginsAfterAll(context, session, builder);
}

void CheckStuckCapture(harness::Context& context) {
  const StreamHandle stream = Stream::Create();
  const fault::LiveObjects before = LiveWithoutOwners(context);
  const std::uint64_t reported_before = driver::CleanupFailureCount();
  GraphBuilder builder(stream);
  CheckFailedBegin(context, builder, "stuck", "cuStreamGetCaptureInfo");
  context.RequireFaults("cuStreamEndCapture");
  context.Check(driver::CleanupFailureCount() == reported_before + 1,
                "that the capture could not be ended is reported");
  context.Check(builder.state() == State::kInvalidated, "the builder has no graph");
  CheckHasNoGraph(context, builder);
  CheckMisuse(context, "beginning on a stream that is stuck", "Begin", [&] { builder.Begin(); });
  builder.Close();
  context.Check(!IsCapturing(context, stream), "closing the builder ends the capture");
  CheckSameLive(context, before, "a beginning failed, and so did the end of its capture");
}

void CheckBody(harness::Context& context) {
  GraphBuilder primary(Stream::Create());
  primary.Begin();
  GraphBuilder body = primary.If(primary.MakeCondition(1));
  CheckFailedBegin(context, body, "body", "cuStreamBeginCaptureToGraph");
  context.RequireFaults("cuStreamBeginCaptureToGraph");
  context.Check(body.state() == State::kNotStarted && !IsCapturing(context, body.stream()), "the body has not begun");
  context.Check(body.Definition().IsValid(), "the body is there");
  body.Begin();
  body.End();
  primary.End();
  context.Check(body.state() == State::kEnded && primary.state() == State::kEnded, "both end well after all");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckBeginAgain(context, session, "unbegun", "cuStreamBeginCapture");
  CheckBeginAgain(context, session, "blind", "cuStreamGetCaptureInfo");
  CheckStuckCapture(context);
  CheckBody(context);
  context.Oracle("stream, graph and state after each failed beginning");
}

const harness::Registration registration({
    .name = "GB.partial-begin",
    .summary = "A beginning that fails midway leaves nothing capturing, no graph, and a builder that can begin again",
    .covers = {"GB-06", "D-21"},
    .catches = {"begin-leaves-the-stream-capturing"},
    .variants = harness::SingleVariant(),
    .plan = {"cuStreamBeginCapture:nth=1,step=unbegun,count=step,return=CUDA_ERROR_OUT_OF_MEMORY",
             "cuStreamGetCaptureInfo:nth=1,step=blind,count=step,return=CUDA_ERROR_OUT_OF_MEMORY",
             "cuStreamGetCaptureInfo:nth=1,step=stuck,count=step,return=CUDA_ERROR_OUT_OF_MEMORY",
             "cuStreamEndCapture:nth=1,step=stuck,count=step,return=CUDA_ERROR_OUT_OF_MEMORY",
             "cuStreamBeginCaptureToGraph:nth=1,step=body,count=step,return=CUDA_ERROR_OUT_OF_MEMORY"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
