// GB-09, GB-15, GB-16, GB-17: splitting a capture over streams, and joining it again.
//
// Intent: split a capture, do work of its own on each stream, and join in all the ways there are: a primary that is not
// first in the list, forks alone, and the rest. The builder that stays is the first that is not forked, else the first;
// the others are closed. Splits and joins that make no sense are refused and change nothing. The numbers of a launch
// tell that all the work is in the graph, and that what was joined waits for it.
//
// Interleaving: one thread, several streams in one capture.
//
// Expected verdict: passed.
#include <array>
#include <cstddef>
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

namespace holdfast::scenarios {
namespace {

using Kind = GraphBuilder::Kind;
using State = GraphBuilder::State;
using Builders = std::vector<GraphBuilder>;

void CheckRefusedSplits(harness::Context& context, GraphBuilder& builder) {
  for (const std::size_t count : {0, 1}) {
    CheckMisuse<std::invalid_argument>(context, "splitting into " + std::to_string(count), "Split",
                                       [&] { (void)builder.Split(count); });
  }
}

void CheckSplitNeedsACapture(harness::Context& context, GraphBuilder& builder) {
  CheckMisuse(context, "splitting a builder that does not capture", "Split", [&] { (void)builder.Split(2); });
}

void CheckForks(harness::Context& context, const GraphBuilder& primary, const Builders& builders) {
  context.Check(builders.size() == 4 && builders.front() == primary, "a split gives the builder itself first");
  for (std::size_t i = 1; i < builders.size(); ++i) {
    const GraphBuilder& fork = builders[i];
    context.Check(fork.kind() == Kind::kForked && fork.state() == State::kCapturing && fork.IsBuilding(),
                  "the others are forks that capture");
    context.Check(fork.stream() != primary.stream() && IsCapturing(context, fork.stream()),
                  "each fork captures on a stream of its own");
  }
}

void CheckRefusedOnForks(harness::Context& context, Builders& builders) {
  GraphBuilder& fork = builders[1];
  CheckMisuse(context, "ending a fork", "End", [&] { fork.End(); });
  CheckMisuse(context, "beginning a fork", "Begin", [&] { fork.Begin(); });
  CheckMisuse(context, "completing a fork", "Complete", [&] { (void)fork.Complete(); });
  CheckMisuse<std::invalid_argument>(context, "joining one builder", "Join",
                                     [&] { GraphBuilder::Join(std::array{fork}); });
  CheckMisuse<std::invalid_argument>(context, "joining a builder twice", "Join", [&] {
    GraphBuilder::Join(std::array{fork, builders[0], fork});
  });
  GraphBuilder other(Stream::Create());
  other.Begin();
  CheckMisuse<std::invalid_argument>(context, "joining two captures", "Join", [&] {
    GraphBuilder::Join(std::array{other, fork});
  });
  other.End();
  for (const GraphBuilder& builder : builders) {
    context.Check(builder.IsBuilding(), "what was refused leaves all builders capturing");
  }
}

// Fills memory on each stream; then a callback on the one that stays, behind all of it.
void CheckJoins(harness::Context& context, const DeviceSession& session, GraphBuilder primary,
                const Builders& builders) {
  std::vector<DeviceMemoryHandle> memory;
  for (std::size_t i = 0; i < builders.size(); ++i) {
    memory.push_back(DeviceMemory::Allocate(4));
    EnqueueFill(builders[i].stream(), memory[i], static_cast<std::uint8_t>(i + 1), 4);
  }
  const GraphBuilder forks_joined = GraphBuilder::Join(std::array{builders[3], builders[2]});
  context.Check(forks_joined == builders[3] && forks_joined.kind() == Kind::kForked && forks_joined.IsBuilding(),
                "of forks alone the first stays, and stays a fork");
  context.Check(builders[2].state() == State::kClosed, "what is joined is closed");
  const GraphBuilder joined = GraphBuilder::Join(std::array{builders[1], forks_joined, primary});
  context.Check(joined == primary && primary.IsBuilding(), "the builder that is no fork stays, wherever it stands");
  context.Check(builders[1].state() == State::kClosed && builders[3].state() == State::kClosed, "the forks are closed");

  int runs = 0;
  primary.AddCallback(CountingCallback(runs));
  primary.End();
  const std::vector<GraphNode> nodes = primary.Definition().Nodes();
  context.Check(nodes.size() == 5, "all that was captured is in the graph");
  for (const GraphNode& node : nodes) {
    const bool is_callback = node.type() == CU_GRAPH_NODE_TYPE_HOST;
    context.Check(node.Predecessors().size() == (is_callback ? 4 : 0), "what comes after the join waits for all");
  }
  const GraphExec executable = primary.Complete();
  executable.Launch(session.stream());
  session.stream()->Synchronize();
  for (std::size_t i = 0; i < memory.size(); ++i) {
    context.Check(DeviceSession::Read(memory[i]).back() == i + 1, "the work of stream " + std::to_string(i) + " ran");
  }
  context.Check(runs == 1, "and the callback behind it");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  const fault::LiveObjects before = context.shim().live();
  {
    GraphBuilder primary(Stream::Create());
    CheckSplitNeedsACapture(context, primary);
    primary.Begin();
    CheckRefusedSplits(context, primary);
    Builders builders = primary.Split(4);
    CheckForks(context, primary, builders);
    CheckRefusedOnForks(context, builders);
    CheckJoins(context, session, primary, builders);
    CheckSplitNeedsACapture(context, primary);
  }
  CheckSameLive(context, before, "builders, forks and executable are gone");
  context.Oracle("forks, joins and the numbers that they give");
}

const harness::Registration registration({
    .name = "GB.forks-and-joins",
    .summary = "A capture is split over streams and joined again; senseless splits and joins change nothing",
    .covers = {"GB-09", "GB-15", "GB-16", "GB-17"},
    .catches = {"join-closes-nothing"},
    .variants = harness::SingleVariant(),
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
