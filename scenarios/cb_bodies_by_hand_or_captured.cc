// CB-09, CB-10, GB-07: the bodies of a captured conditional node are built by hand, by capture, or by both.
//
// Intent: capture conditional nodes, from the primary builder, from a fork and inside a body, and build their bodies in
// each way. A body captured into is the body that was there before, and keeps what is captured into it; a fork's
// conditional hangs off the primary's graph. The launch tells by numbers that all of it runs.
//
// Interleaving: one thread; the captures of bodies go on while their primary's does. The variants differ in where
// CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <cstddef>
#include <cstdint>
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
#include "scenarios/support/live_objects.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

using Kind = GraphBuilder::Kind;

// One piece of memory for each body that is to run.
class Marks {
 public:
  explicit Marks(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      memory_.push_back(DeviceMemory::Allocate(1));
    }
  }

  void ByHand(GraphDefinition body, std::size_t mark) {
    body.AddMemsetNode(MemoryOperand::Device(memory_[mark]), Pattern(mark), body.Nodes());
  }

  void ByCapture(GraphBuilder& body, std::size_t mark) {
    body.Begin();
    EnqueueFill(body.stream(), memory_[mark], Value(mark), 1);
    body.End();
  }

  void Enqueue(const GraphBuilder& builder, std::size_t mark) {
    EnqueueFill(builder.stream(), memory_[mark], Value(mark), 1);
  }

  void Check(harness::Context& context) const {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      context.Check(DeviceSession::Read(memory_[i]).front() == Value(i), "body " + std::to_string(i) + " ran");
    }
  }

 private:
  static std::uint8_t Value(std::size_t mark) { return static_cast<std::uint8_t>(mark + 1); }
  static MemsetParameters Pattern(std::size_t mark) { return {.value = Value(mark), .width_elements = 1}; }

  std::vector<DeviceMemoryHandle> memory_;
};

void LaunchAndCheck(harness::Context& context, const DeviceSession& session, const GraphBuilder& primary,
                    const Marks& marks) {
  const GraphExec executable = primary.Complete();
  executable.Launch(session.stream());
  session.stream()->Synchronize();
  marks.Check(context);
}

void CheckHybridBodies(harness::Context& context, const DeviceSession& session) {
  Marks marks(4);
  GraphBuilder primary(Stream::Create());
  primary.Begin();
  GraphBuilder by_hand = primary.If(primary.MakeCondition(1));
  GraphBuilder captured = primary.If(primary.MakeCondition(1));
  GraphBuilder both = primary.If(primary.MakeCondition(1));
  context.Check(by_hand.kind() == Kind::kBody && by_hand.state() == GraphBuilder::State::kNotStarted,
                "a conditional node gives builders of its bodies, not started");
  marks.ByHand(by_hand.Definition(), 0);

  const GraphDefinition before = captured.Definition();
  marks.ByCapture(captured, 1);
  context.Check(captured.Definition() == before && before.IsValid(), "a body is captured into the graph that is there");
  context.Check(before.Nodes().size() == 1, "what is captured shows in handles from before");

  marks.ByCapture(both, 2);
  marks.ByHand(both.Definition(), 3);
  primary.End();
  LaunchAndCheck(context, session, primary, marks);
}

void CheckOnFork(harness::Context& context, const DeviceSession& session) {
  Marks marks(3);
  GraphBuilder primary(Stream::Create());
  primary.Begin();
  std::vector<GraphBuilder> builders = primary.Split(2);
  GraphBuilder body = builders[1].If(builders[1].MakeCondition(1));
  marks.ByCapture(body, 0);
  marks.Enqueue(builders[1], 1);
  marks.Enqueue(primary, 2);
  GraphBuilder::Join(builders);
  primary.End();
  const GraphDefinition definition = body.Definition();
  context.Check(definition.IsValid() && definition.Nodes().front().Graph() == definition,
                "a body made from a fork is a graph of the primary's hierarchy");
  LaunchAndCheck(context, session, primary, marks);

  builders.clear();
  body.Close();
  primary.Close();
  context.Check(definition.IsValid() && definition.Nodes().size() == 1, "its definition outlives all builders");
  GraphDefinition(definition).AddEmptyNode();
}

void CheckNested(harness::Context& context, const DeviceSession& session) {
  Marks marks(4);
  GraphBuilder primary(Stream::Create());
  primary.Begin();
  auto [taken, other] = primary.IfElse(primary.MakeCondition(1));
  taken.Begin();
  marks.Enqueue(taken, 0);
  std::vector<GraphBuilder> cases = taken.Switch(taken.MakeCondition(1), 3);
  context.Check(cases.size() == 3, "a switch gives a builder for each body");
  marks.ByCapture(cases[1], 1);
  GraphBuilder innermost = taken.If(taken.MakeCondition(1));
  marks.ByHand(innermost.Definition(), 2);
  marks.Enqueue(taken, 3);
  taken.End();
  primary.End();
  context.Check(other.Definition().Nodes().empty(), "the body that nobody filled is empty");
  LaunchAndCheck(context, session, primary, marks);
}

// What is captured into a body is kept by the body, not by the graph around it.
void CheckOwners(harness::Context& context) {
  OwnerProbe around, inside, nested;
  int runs = 0;
  GraphBuilder primary(Stream::Create());
  primary.Begin();
  primary.AddCallback(CountingCallback(runs, around.Take()));
  GraphBuilder body = primary.If(primary.MakeCondition(0));
  body.Begin();
  body.AddCallback(CountingCallback(runs, inside.Take()));
  GraphDefinition embedded;
  embedded.AddHostNode(CountingCallback(runs, nested.Take()));
  body.Embed(embedded);
  embedded = GraphDefinition();
  body.End();
  primary.End();
  context.Check(body.Definition().attachment_count() == 1 && primary.Definition().attachment_count() == 1,
                "each graph keeps what was captured into it");
  Settle(context);
  CheckAlive(context, inside, "the body has it");
  CheckAlive(context, nested, "the graph embedded into the body has it");
  for (GraphNode& node : primary.Definition().Nodes()) {
    if (node.type() == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
      node.Destroy();
    }
  }
  Settle(context);
  CheckReleasedOnce(context, inside, "its body is gone");
  CheckReleasedOnce(context, nested, "its body is gone");
  CheckAlive(context, around, "its node is outside of the body");
  primary.Close();
  body.Close();
  Settle(context);
  CheckReleasedOnce(context, around, "the graph is gone");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckOwners(context);
  CheckHybridBodies(context, session);
  CheckOnFork(context, session);
  CheckNested(context, session);
  CheckNoOwnersLeft(context);
  context.Oracle("the bodies that ran, by hand, by capture, from a fork and nested");
}

const harness::Registration registration({
    .name = "CB.bodies-by-hand-or-captured",
    .summary = "Bodies of captured conditional nodes are built by hand or by capture, from forks and inside bodies",
    .covers = {"CB-03", "CB-09", "CB-10", "GB-07", "GB-23"},
    .catches = {"body-callbacks-kept-by-the-root"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
