// GB-20, GB-21, C2, C4: a builder that goes in mid-capture takes its capture with it.
//
// Intent: drop, or close, the last handle of a builder that captures. The capture is ended with somewhere for the graph
// to go (a null pointer would leak it with its owners, fact C2: the ledger would tell), the graph is destroyed, its
// owners are released, and the stream captures anew. When the driver refuses to end the capture, a drop reports that
// and throws nothing, a close throws it and has closed all the same; the capture then goes with the stream (fact C4). A
// fork ends nothing.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with two faults fired.
#include <optional>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_builder.h"
#include "scenarios/support/captured_work.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/expected_errors.h"
#include "scenarios/support/live_objects.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

using State = GraphBuilder::State;

// A builder in mid-capture, with an owner in its graph.
struct Capturing {
  explicit Capturing(StreamHandle stream) : builder(std::in_place, std::move(stream)) {
    builder->Begin();
    builder->AddCallback(CountingCallback(runs, owner.Take()));
  }

  OwnerProbe owner;
  int runs = 0;
  std::optional<GraphBuilder> builder;
};

void CheckNothingCaptured(harness::Context& context, const Capturing& capturing, const StreamHandle& stream) {
  context.Check(!IsCapturing(context, stream), "the stream captures no more");
  Settle(context);
  CheckReleasedOnce(context, capturing.owner, "the unfinished graph is destroyed");
  GraphBuilder again(stream);
  again.Begin();
  again.End();
}

void CheckDropAndClose(harness::Context& context) {
  const StreamHandle stream = Stream::Create();
  const std::uint64_t reported_before = driver::CleanupFailureCount();
  Capturing dropped(stream);
  dropped.builder.reset();
  CheckNothingCaptured(context, dropped, stream);

  Capturing closed(stream);
  closed.builder->Close();
  context.Check(closed.builder->state() == State::kClosed, "a closed builder says so");
  CheckNothingCaptured(context, closed, stream);
  closed.builder->Close();
  context.Check(driver::CleanupFailureCount() == reported_before, "nothing failed");
}

void CheckForksEndNothing(harness::Context& context) {
  const StreamHandle stream = Stream::Create();
  Capturing capturing(stream);
  std::vector<GraphBuilder> builders = capturing.builder->Split(2);
  builders[1].Close();
  context.Check(builders[1].state() == State::kClosed && IsCapturing(context, stream), "closing a fork ends nothing");
  builders.clear();
  context.Check(capturing.builder->IsBuilding(), "dropping one ends nothing");
  CheckAlive(context, capturing.owner, "the capture goes on");
  capturing.builder.reset();
  CheckNothingCaptured(context, capturing, stream);
}

// A fork that is still there keeps the capture that it is part of; its work is then lost, and that is reported.
void CheckForkOutlivesItsPrimary(harness::Context& context) {
  const StreamHandle stream = Stream::Create();
  const std::uint64_t reported_before = driver::CleanupFailureCount();
  Capturing capturing(stream);
  std::optional<GraphBuilder> fork(capturing.builder->Split(2)[1]);
  fork->AddCallback(CountingCallback(capturing.runs));
  capturing.builder.reset();
  context.Check(IsCapturing(context, stream) && fork->IsBuilding(), "a fork keeps its capture going");
  fork.reset();
  context.Check(driver::CleanupFailureCount() == reported_before + 1, "that work was not joined is reported, once");
  CheckNothingCaptured(context, capturing, stream);
}

void CheckRefusedEnd(harness::Context& context) {
  const std::uint64_t reported_before = driver::CleanupFailureCount();
  Capturing dropped(Stream::Create());
  context.shim().announce_step("drop");
  dropped.builder.reset();
  context.shim().announce_step("after");
  context.RequireFaults("cuStreamEndCapture", 1);
  context.Check(driver::CleanupFailureCount() == reported_before + 1, "a drop reports what failed, once");
  Settle(context);
  CheckReleasedOnce(context, dropped.owner, "the capture went with its stream");

  Capturing closed(Stream::Create());
  context.shim().announce_step("close");
  const CUresult result =
      CheckRefused(context, "a close that cannot end the capture", [&] { closed.builder->Close(); });
  context.shim().announce_step("after");
  context.RequireFaults("cuStreamEndCapture", 2);
  context.Check(result == CUDA_ERROR_OUT_OF_MEMORY, "the driver's answer is passed on");
  context.Check(closed.builder->state() == State::kClosed, "the builder is closed all the same");
  Settle(context);
  CheckReleasedOnce(context, closed.owner, "the capture went with its stream");
  context.Check(driver::CleanupFailureCount() == reported_before + 1, "what is thrown is not reported as well");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  const fault::LiveObjects before = context.shim().live();
  CheckDropAndClose(context);
  CheckForksEndNothing(context);
  CheckForkOutlivesItsPrimary(context);
  CheckRefusedEnd(context);
  CheckSameLive(context, before, "all builders are gone");
  context.Check(context.shim().findings() == 0, "no capture was ended into nowhere");
  context.Oracle("stream and owners of builders that went in mid-capture");
}

const harness::Registration registration({
    .name = "GB.dropped-in-mid-capture",
    .summary = "A builder dropped or closed in mid-capture ends the capture and releases the owners of its graph",
    .covers = {"GB-20", "GB-21", "C2", "C4"},
    .catches = {"capture-ended-into-nowhere"},
    .plan = {"cuStreamEndCapture:nth=1,step=drop,count=step,return=CUDA_ERROR_OUT_OF_MEMORY",
             "cuStreamEndCapture:nth=1,step=close,count=step,return=CUDA_ERROR_OUT_OF_MEMORY"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
