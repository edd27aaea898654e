// GB-11, GB-12, GB-14, C3: a capture that CUDA ends in error has no graph, and the builder says so.
//
// Intent: invalidate a capture by waiting for its stream, and leave another with unjoined work. While it is invalid the
// builder says to end it; the end passes the driver's error on; then the graph is gone with its owners, which are
// released, nothing destroys it a second time, and everything that would need it is refused. The stream captures anew.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <functional>
#include <stdexcept>
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
#include "scenarios/support/live_objects.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

using State = GraphBuilder::State;

void CheckHasNoGraph(harness::Context& context, GraphBuilder& builder) {
  context.Check(builder.state() == State::kInvalidated, "the builder is invalidated");
  CheckMisuse(context, "completing it", "Complete", [&] { (void)builder.Complete(); });
  CheckMisuse(context, "its definition", "Definition", [&] { (void)builder.Definition(); });
  CheckMisuse(context, "writing it", "WriteDot", [&] { builder.WriteDot("unwritten.dot"); });
  CheckMisuse(context, "ending it again", "End", [&] { builder.End(); });
  CheckMisuse(context, "beginning it again", "Begin", [&] { builder.Begin(); });
  CheckMisuse(context, "adding to it", "AddCallback", [&] { builder.AddCallback(HostCallback::FromFunction([] {})); });

  GraphBuilder parent(Stream::Create());
  parent.Begin();
  CheckMisuse(context, "embedding it", "Embed", [&] { parent.Embed(builder); });
  parent.End();
  context.Check(parent.Definition().Nodes().empty(), "nothing was embedded");
  GraphExec executable = parent.Complete();
  CheckMisuse(context, "updating an executable from it", "Update", [&] { executable.Update(builder); });
}

void CheckInvalidated(harness::Context& context, const StreamHandle& stream) {
  OwnerProbe owner;
  int runs = 0;
  GraphBuilder builder(stream);
  builder.Begin();
  builder.AddCallback(CountingCallback(runs, owner.Take()));
  InvalidateCapture(stream);
  const std::logic_error error = CheckThrows<std::logic_error>(
      context, "asking an invalidated capture whether it goes on", [&] { (void)builder.IsBuilding(); });
  context.Check(std::string(error.what()).find("call End") != std::string::npos, "the error says to end it");
  bool captured = true;
  try {
    builder.AddCallback(CountingCallback(runs));
  } catch (const std::exception&) {
    captured = false;
  }
  context.Check(!captured, "nothing is captured any more");
  const CUresult result = CheckRefused(context, "ending an invalidated capture", [&] { builder.End(); });
  context.Check(result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the driver's answer is passed on");
  Settle(context);
  CheckReleasedOnce(context, owner, "the driver dropped the graph");
  CheckHasNoGraph(context, builder);
}

void CheckUnjoined(harness::Context& context, const StreamHandle& stream) {
  OwnerProbe owner;
  int runs = 0;
  GraphBuilder builder(stream);
  builder.Begin();
  std::vector<GraphBuilder> builders = builder.Split(2);
  builders[1].AddCallback(CountingCallback(runs, owner.Take()));
  const CUresult result = CheckRefused(context, "ending a capture with unjoined work", [&] { builder.End(); });
  context.Check(result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "the driver's answer is passed on");
  Settle(context);
  CheckReleasedOnce(context, owner, "the driver dropped the graph");
  context.Check(builders[1].state() == State::kInvalidated, "a fork of an invalidated capture is invalidated");
  CheckMisuse(context, "splitting the fork", "Split", [&] { (void)builders[1].Split(2); });
  CheckMisuse(context, "joining the fork", "Join", [&] { GraphBuilder::Join(builders); });
  CheckHasNoGraph(context, builder);
}

void CheckStreamIsUsable(harness::Context& context, const DeviceSession& session, const StreamHandle& stream) {
  int runs = 0;
  GraphBuilder builder(stream);
  builder.Begin();
  builder.AddCallback(CountingCallback(runs));
  builder.End();
  const GraphExec executable = builder.Complete();
  executable.Launch(session.stream());
  session.stream()->Synchronize();
  stream->Synchronize();
  context.Check(runs == 1, "the stream captures anew");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  const StreamHandle stream = Stream::Create();
  const fault::LiveObjects before = context.shim().live();
  CheckInvalidated(context, stream);
  CheckStreamIsUsable(context, session, stream);
  CheckUnjoined(context, stream);
  CheckStreamIsUsable(context, session, stream);
  CheckSameLive(context, before, "two captures ended in error");
  context.Check(context.shim().findings() == 0, "no graph was destroyed after CUDA had destroyed it");
  context.Oracle("builder, stream and owners of captures that ended in error");
}

const harness::Registration registration({
    .name = "GB.invalidated-capture-has-no-graph",
    .summary = "A capture that ends in error gives no graph, its owners are released, and the stream captures anew",
    .covers = {"GB-11", "GB-12", "GB-14", "C3"},
    .catches = {},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
