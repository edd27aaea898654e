// GB-01 to GB-05, GB-08, GB-10, GB-13: the states of a builder, and which transitions it refuses.
//
// Intent: take one builder from its beginning to its end and try, in each state, what that state does not allow. Each
// is refused with an error that names the operation, before anything happens; the capture goes on, and what was
// captured runs as often as it is launched.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <type_traits>

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

using State = GraphBuilder::State;

// A builder is of a stream from the beginning; forks and bodies come from splits and conditional nodes alone.
static_assert(!std::is_default_constructible_v<GraphBuilder>);
static_assert(!std::is_constructible_v<GraphBuilder, StreamHandle, GraphBuilder::Kind>);

std::string DotPath() {
  return (std::filesystem::temp_directory_path() / ("holdfast_states_" + std::to_string(getpid()) + ".dot")).string();
}

void CheckUnfinished(harness::Context& context, GraphBuilder& builder, const std::string& when) {
  CheckMisuse(context, "completing a builder " + when, "Complete", [&] { (void)builder.Complete(); });
  CheckMisuse(context, "writing a builder " + when, "WriteDot", [&] { builder.WriteDot(DotPath()); });
  CheckMisuse(context, "the definition of a builder " + when, "Definition", [&] { (void)builder.Definition(); });
}

void CheckNotStarted(harness::Context& context, GraphBuilder& builder) {
  context.Check(builder.state() == State::kNotStarted && !builder.IsBuilding(), "a new builder has not started");
  CheckMisuse(context, "ending a builder that has not begun", "End", [&] { builder.End(); });
  CheckUnfinished(context, builder, "that has not begun");

  const std::uint64_t calls_before = context.shim().calls(nullptr);
  CheckMisuse<std::invalid_argument>(context, "beginning in an unknown mode", "Begin",
                                     [&] { builder.Begin(static_cast<CUstreamCaptureMode>(17)); });
  context.Check(context.shim().calls(nullptr) == calls_before, "an unknown mode is refused before any driver call");
  context.Check(builder.state() == State::kNotStarted && !IsCapturing(context, builder.stream()), "nothing has begun");
}

void CheckCapturing(harness::Context& context, GraphBuilder& builder) {
  context.Check(builder.state() == State::kCapturing && builder.IsBuilding(), "the builder says that it captures");
  context.Check(IsCapturing(context, builder.stream()), "the stream does");
  CheckMisuse(context, "beginning twice", "Begin", [&] { builder.Begin(); });
  context.Check(builder.IsBuilding() && IsCapturing(context, builder.stream()), "the capture goes on");
  CheckUnfinished(context, builder, "that is capturing");
}

void CheckEnded(harness::Context& context, GraphBuilder& builder) {
  context.Check(builder.state() == State::kEnded && !builder.IsBuilding(), "the builder says that it has ended");
  context.Check(!IsCapturing(context, builder.stream()), "the stream captures no more");
  CheckMisuse(context, "beginning again", "Begin", [&] { builder.Begin(); });
  CheckMisuse(context, "ending twice", "End", [&] { builder.End(); });
  context.Check(builder.Definition().Nodes().size() == 1, "the graph has what was captured");

  const std::string path = DotPath();
  builder.WriteDot(path);
  std::string first_word;
  std::ifstream(path) >> first_word;
  std::filesystem::remove(path);
  context.Check(first_word == "digraph", "a finished graph is written as a dot file");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  OwnerProbe owner;
  int runs = 0;
  CheckMisuse<std::invalid_argument>(context, "a builder without a stream", "GraphBuilder",
                                     [] { const GraphBuilder builder{StreamHandle()}; });
  std::optional<GraphBuilder> builder(Stream::Create());
  context.Check(builder->kind() == GraphBuilder::Kind::kPrimary, "a builder that was made is a primary one");
  CheckNotStarted(context, *builder);
  builder->Begin();
  CheckCapturing(context, *builder);
  builder->AddCallback(CountingCallback(runs, owner.Take()));
  builder->End();
  CheckEnded(context, *builder);

  std::optional<GraphExec> executable(builder->Complete());
  executable->Launch(session.stream());
  CheckMisuse(context, "beginning again after a launch", "Begin", [&] { builder->Begin(); });
  executable->Launch(session.stream());
  session.stream()->Synchronize();
  context.Check(runs == 2, "the executable is launched again after a refused beginning");
  executable.reset();
  builder.reset();
  CheckReleasedLate(context, owner, "builder and executable are gone");
  context.Oracle("each refused transition, and the state after it");
}

const harness::Registration registration({
    .name = "GB.states-and-transitions",
    .summary = "A builder refuses what its state does not allow, and goes on as before",
    .covers = {"GB-01", "GB-02", "GB-03", "GB-04", "GB-05", "GB-08", "GB-10", "GB-13"},
    .catches = {},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
