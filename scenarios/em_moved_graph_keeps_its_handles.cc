// EM-01, IH-04, TS-01, D-25: a graph that is embedded by move becomes the child with everything that is known of it.
//
// Intent: take handles at every level of a graph, move it into another, and go on with the same handles: they name the
// child, its nodes and its graphs, they keep the new root alive, and they die with the node that owns it now. The
// driver refuses one move, and the graph stays its own root. What cannot be moved is refused before the driver is
// asked. A graph with a conditional body is moved or refused, whatever the driver says, and is whole afterwards.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with one fault fired.
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/nested_graphs.h"
#include "scenarios/support/owner_probe.h"
#include "scenarios/support/refusals.h"

namespace holdfast::scenarios {
namespace {

constexpr int kInnermost = NestedGraphs::kLevels - 1;

void CUDA_CB Nothing(void*) {}

// A handle of each level, and one of a node in each.
struct Views {
  explicit Views(const GraphDefinition& root) {
    for (int level = 0; level < NestedGraphs::kLevels; ++level) {
      graphs.push_back(GraphInside(root, level));
      nodes.push_back(NodeOfType(graphs.back(), CU_GRAPH_NODE_TYPE_HOST));
    }
  }

  std::vector<GraphDefinition> graphs;
  std::vector<GraphNode> nodes;
};

void CheckViews(harness::Context& context, const Views& views, bool alive, const std::string& when) {
  for (int level = 0; level < NestedGraphs::kLevels; ++level) {
    const std::string where = when + ", level " + std::to_string(level);
    context.Check(views.graphs[level].IsValid() == alive && views.nodes[level].IsValid() == alive,
                  alive ? "handles of a graph go on: " + where : "handles of a graph end: " + where);
    context.Check(views.nodes[level].Owners().size() == (alive ? 1 : 0), "owners are those of before: " + where);
  }
}

void CheckRefusedMove(harness::Context& context, const GraphDefinition& source, const Views& views) {
  GraphDefinition target;
  context.shim().announce_step("refused-move");
  const bool refused =
      IsRefusedByDriver("cuGraphAddNode", CUDA_ERROR_UNKNOWN, [&] { target.AddChildGraphNodeByMove(source); });
  context.shim().announce_step("between");
  context.RequireFaults("cuGraphAddNode");
  context.Check(refused && target.Nodes().empty(), "a refused move throws what the driver answered");
  CheckViews(context, views, true, "the move was refused");
  context.Check(GraphDefinition::Find(source.raw()) == source && context.shim().live().graphs == 2,
                "a graph whose move was refused stays a root");
}

void CheckMove(harness::Context& context, const DeviceSession& session) {
  NestedGraphs nested;
  std::optional<Views> views(*nested.definition);
  CheckRefusedMove(context, *nested.definition, *views);

  std::optional<GraphDefinition> target(std::in_place);
  const CUgraph target_raw = target->raw();
  const CUgraph source_raw = nested.definition->raw();
  GraphNode owning_node = target->AddChildGraphNodeByMove(*nested.definition);
  context.Check(owning_node.ChildGraph() == *nested.definition && nested.definition->raw() == source_raw,
                "a moved graph is what its node owns, with the same handle");
  CheckViews(context, *views, true, "it was moved");
  context.Check(context.shim().live().graphs == 1, "a moved graph is no root any more");
  context.Check(Throws<std::invalid_argument>([&] { target->AddChildGraphNodeByMove(*nested.definition); }),
                "a graph is moved once");
  GraphDefinition other;
  context.Check(Throws<std::invalid_argument>([&] { other.AddChildGraphNodeByMove(*nested.definition); }),
                "a graph that belongs to a node is not moved to another");
  context.Check(Throws<std::invalid_argument>([&] { nested.definition->AddChildGraphNodeByMove(*target); }),
                "a graph is not moved into a graph below it");
  {
    const GraphExec executable(*target);
    executable.Launch(session.stream());
    session.stream()->Synchronize();
    context.Check(nested.runs(kInnermost) == 1, "a moved graph runs with its new parent");
  }

  nested.definition.reset();
  owning_node = GraphNode();
  target.reset();
  context.Check(GraphDefinition::Find(target_raw).has_value(), "old handles of a moved graph keep its new root");
  SettleIdle(context);
  CheckAllAlive(context, nested, "old handles keep the new root");
  target = GraphDefinition::Find(target_raw);
  NodeOfType(*target, CU_GRAPH_NODE_TYPE_GRAPH).Destroy();
  CheckViews(context, *views, false, "the node that owns the moved graph is destroyed");
  CheckAllReleasedLate(context, nested, "the node that owned the moved graph is destroyed");
}

// Nobody has a handle of the moved graph any more: it is its parent's.
void CheckForgottenMove(harness::Context& context) {
  NestedGraphs nested;
  GraphDefinition target;
  const CUgraph raw = nested.definition->raw();
  const GraphNode owning_node = target.AddChildGraphNodeByMove(*nested.definition);
  nested.definition.reset();
  Settle(context);
  CheckAllAlive(context, nested, "its graph has a parent now");
  context.Check(GraphDefinition::Find(raw).has_value() && owning_node.ChildGraph().raw() == raw,
                "a moved graph is found when all its old handles are gone");
  context.Check(GraphInside(target, NestedGraphs::kLevels).attachment_count() == 1,
                "a moved graph has the metadata that it had, at every level");
}

void CheckMoveWithBody(harness::Context& context) {
  OwnerProbe owner;
  std::optional<GraphDefinition> source(std::in_place), target(std::in_place);
  const GraphNode conditional = source->AddIfNode(source->MakeCondition());
  const GraphDefinition body = conditional.Bodies().front();
  const GraphNode inner = GraphDefinition(body).AddHostNode({&Nothing, nullptr, owner.Take(), nullptr});
  bool moved = true;
  try {
    target->AddChildGraphNodeByMove(*source);
  } catch (const driver::DriverError& error) {
    moved = false;
    context.Check(target->Nodes().empty(), std::string("a refused move adds no node: ") + error.what());
  }
  context.Count("conditional_graph_moved", moved ? 1 : 0);
  context.Check(body.IsValid() && inner.IsValid() && inner.Owners().size() == 1 &&
                    conditional.Bodies() == std::vector<GraphDefinition>{body},
                "a conditional body is whole, moved or not");
  target.reset();
  source.reset();
  Settle(context);
  CheckAlive(context, owner, "a handle of its node keeps everything above");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckMove(context, session);
  CheckForgottenMove(context);
  CheckMoveWithBody(context);
  context.Oracle("handles before and after the move");
}

const harness::Registration registration({
    .name = "EM.moved-graph-keeps-its-handles",
    .summary = "A graph embedded by move goes on with its handles, nodes and owners as the child of its new parent",
    .covers = {"EM-01", "IH-04", "TS-01", "D-25"},
    .catches = {"dead-graphs-nodes-live-on", "moved-root-destroyed-again"},
    .plan = {"cuGraphAddNode:nth=1,step=refused-move,count=step,return=CUDA_ERROR_UNKNOWN"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
