// GB-18: a split or a join that fails midway leaves no stream capturing and nothing behind.
//
// Intent: fail each driver call of a split: what it made is gone again, no stream but the builder's captures, and the
// capture ends well. Fail a join at its second fork: the first error comes out, all forks are closed, the end of the
// capture says that work was not joined, and then graph, owners and streams are gone and the stream captures anew.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with a fault fired for each failure.
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

using State = GraphBuilder::State;

// A step of the plan, and the call that it fails.
struct Failure {
  const char* step;
  const char* call;
};

constexpr Failure kSplitFailures[] = {
    {"split-stream", "cuStreamCreateWithPriority"},
    {"split-event", "cuEventCreate"},
    {"split-record", "cuEventRecord"},
    {"split-wait", "cuStreamWaitEvent"},
    {"split-late-wait", "cuStreamWaitEvent"},
};

void CheckFailedSplit(harness::Context& context, const DeviceSession& session, const Failure& failure) {
  int runs = 0;
  GraphBuilder builder(Stream::Create());
  builder.Begin();
  builder.AddCallback(CountingCallback(runs));
  const fault::LiveObjects before = LiveWithoutOwners(context);
  const std::uint64_t faults_before = context.shim().faults(failure.call);
  context.shim().announce_step(failure.step);
  const driver::DriverError error = CheckThrows<driver::DriverError>(
      context, std::string("a split that fails at ") + failure.call, [&] { (void)builder.Split(4); });
  context.shim().announce_step("after");
  context.RequireFaults(failure.call, faults_before + 1);
  context.Check(error.call() == failure.call, std::string("the error names ") + failure.call);
  CheckSameLive(context, before, std::string("a split failed at ") + failure.call);
  context.Check(builder.IsBuilding() && IsCapturing(context, builder.stream()), "the capture goes on");
  builder.AddCallback(CountingCallback(runs));
  builder.End();
  context.Check(builder.state() == State::kEnded, "no fork is left to be joined");
  const GraphExec executable = builder.Complete();
  executable.Launch(session.stream());
  session.stream()->Synchronize();
  context.Check(runs == 2, "what was captured before and after the failed split runs");
}

void CheckUnjoined(harness::Context& context, GraphBuilder& primary, const std::vector<GraphBuilder>& builders) {
  for (std::size_t i = 1; i < builders.size(); ++i) {
    context.Check(builders[i].state() == State::kClosed, "every fork is closed, joined or not");
  }
  context.Check(primary.state() == State::kCapturing, "the builder that stays is still to be ended");
  const CUresult result = CheckRefused(context, "ending a capture with unjoined work", [&] { primary.End(); });
  context.Check(result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "the end reports unjoined work");
  context.Check(primary.state() == State::kInvalidated, "the builder has no graph then");
}

void CheckFailedJoin(harness::Context& context) {
  OwnerProbe owner;
  int runs = 0;
  const std::uint64_t streams_before = context.shim().live().streams;
  const StreamHandle stream = Stream::Create();
  {
    GraphBuilder primary(stream);
    primary.Begin();
    std::vector<GraphBuilder> builders = primary.Split(4);
    for (GraphBuilder& fork : builders) {
      fork.AddCallback(CountingCallback(runs, fork == builders[3] ? owner.Take() : nullptr));
    }
    const std::uint64_t faults_before = context.shim().faults("cuStreamWaitEvent");
    context.shim().announce_step("join");
    const CUresult result =
        CheckRefused(context, "a join that fails at its second fork", [&] { GraphBuilder::Join(builders); });
    context.shim().announce_step("after");
    context.RequireFaults("cuStreamWaitEvent", faults_before + 1);
    context.Check(result == CUDA_ERROR_OUT_OF_MEMORY, "the first error is the one that comes out");
    CheckUnjoined(context, primary, builders);
  }
  Settle(context);
  CheckReleasedOnce(context, owner, "the driver dropped the graph");
  GraphBuilder again(stream);
  again.Begin();
  again.End();
  context.Check(again.state() == State::kEnded, "the stream captures anew");
  again.Close();
  context.Check(context.shim().live().streams == streams_before + 1, "no stream is left but the caller's");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  for (const Failure& failure : kSplitFailures) {
    CheckFailedSplit(context, session, failure);
  }
  const fault::LiveObjects before = LiveWithoutOwners(context);
  CheckFailedJoin(context);
  CheckSameLive(context, before, "a join failed");
  context.Oracle("captures, streams and owners after each failed split and join");
}

const harness::Registration registration({
    .name = "GB.failed-splits-and-joins",
    .summary = "A split or join that fails midway leaves nothing capturing and nothing behind",
    .covers = {"GB-18"},
    .catches = {"join-closes-nothing"},
    .plan = {"cuStreamCreateWithPriority:nth=2,step=split-stream,count=step,return=CUDA_ERROR_OUT_OF_MEMORY",
             "cuEventCreate:nth=1,step=split-event,count=step,return=CUDA_ERROR_OUT_OF_MEMORY",
             "cuEventRecord:nth=1,step=split-record,count=step,return=CUDA_ERROR_OUT_OF_MEMORY",
             "cuStreamWaitEvent:nth=2,step=split-wait,count=step,return=CUDA_ERROR_OUT_OF_MEMORY",
             "cuStreamWaitEvent:nth=2,step=split-late-wait,count=step,return=CUDA_ERROR_LAUNCH_FAILED,after",
             "cuStreamWaitEvent:nth=2,step=join,count=step,return=CUDA_ERROR_OUT_OF_MEMORY"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
