// CL-01 to CL-03, CL-07: a clone has its own metadata at every level, whatever becomes of its source.
//
// Intent: clone a graph with a graph in a graph. Each level of the clone has its owner on a node of its own, and the
// source none less. Destroy the source; the clone runs all levels. Destroying one node of the innermost level gives up
// that owner alone, which only metadata of that level can do; the rest goes with the clone. A second source has child
// graphs that the library never met, and one that is gone: they are left out, and the former are found later.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <optional>
#include <string>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/nested_graphs.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

constexpr int kInnermost = NestedGraphs::kLevels - 1;

// Each level of the clone: graphs, nodes and one owner of its own, the owner being the source's.
void CheckLevels(harness::Context& context, const GraphDefinition& source, const GraphDefinition& clone) {
  for (int level = 0; level < NestedGraphs::kLevels; ++level) {
    const std::string where = "level " + std::to_string(level);
    const GraphDefinition original = GraphInside(source, level);
    const GraphDefinition copy = GraphInside(clone, level);
    context.Check(!(original == copy) && original.raw() != copy.raw(), "a clone's graph is its own, " + where);
    context.Check(original.attachment_count() == 1 && copy.attachment_count() == 1,
                  "source and clone know their one node with an owner, " + where);
    const GraphNode original_node = NodeOfType(original, CU_GRAPH_NODE_TYPE_HOST);
    const GraphNode copied_node = NodeOfType(copy, CU_GRAPH_NODE_TYPE_HOST);
    context.Check(!(original_node == copied_node) && original_node.Owners() == copied_node.Owners(),
                  "a clone's node has the owners of the node that it was copied from, " + where);
    context.Check(GraphDefinition::Find(copy.raw()) == copy, "a clone's graph is found by its raw handle, " + where);
  }
}

void CheckNestedClone(harness::Context& context, const DeviceSession& session) {
  NestedGraphs nested;
  std::optional<GraphDefinition> clone = nested.definition->Clone();
  CheckLevels(context, *nested.definition, *clone);

  nested.definition.reset();
  Settle(context);
  CheckAllAlive(context, nested, "the clone needs it, its source is gone");
  std::optional<GraphExec> executable(*clone);
  executable->Launch(session.stream());
  session.stream()->Synchronize();
  context.Check(nested.runs(0) == 1 && nested.runs(1) == 1 && nested.runs(kInnermost) == 1,
                "the clone runs the callback of each level");
  executable.reset();
  SettleIdle(context);

  NodeOfType(GraphInside(*clone, kInnermost), CU_GRAPH_NODE_TYPE_HOST).Destroy();
  CheckReleasedLate(context, nested.owner(kInnermost), "its node in the innermost graph of the clone is destroyed");
  CheckAlive(context, nested.owner(0), "its node in the clone is there");
  CheckAlive(context, nested.owner(1), "its node in the clone is there");
  clone.reset();
  CheckAllReleasedLate(context, nested, "the clone is gone");
}

// A child-graph node that the library did not make.
void EmbedByOtherMeans(const GraphDefinition& graph, const GraphDefinition& source) {
  CUgraphNode node = nullptr;
  driver::Check("cuGraphAddChildGraphNode",
                driver::GetDriver().cuGraphAddChildGraphNode(&node, graph.raw(), nullptr, 0, source.raw()),
                "embedding by other means");
}

void CheckUnknownChildren(harness::Context& context) {
  GraphDefinition graph, small;
  small.AddEmptyNode();
  EmbedByOtherMeans(graph, small);
  GraphNode destroyed = graph.AddChildGraphNode(small);
  const GraphDefinition tombstone = destroyed.ChildGraph();
  destroyed.Destroy();

  const GraphDefinition clone = graph.Clone();
  context.Check(clone.Nodes().size() == 1, "a clone has the nodes that its source has now");
  const GraphDefinition child = GraphInside(clone, 1);
  context.Check(child.Nodes().size() == 1 && child == GraphInside(clone, 1),
                "a child graph that the source's side never met is found in the clone");
  context.Check(!(child == GraphInside(graph, 1)), "source and clone have a child graph each");
  context.Check(!tombstone.IsValid(), "a child graph that was gone stays gone");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckNestedClone(context, session);
  CheckUnknownChildren(context);
  context.Oracle("metadata and owners at three levels");
}

const harness::Registration registration({
    .name = "CL.clone-is-known-at-every-level",
    .summary = "A clone has metadata of its own at every level and keeps its owners whatever becomes of its source",
    .covers = {"CL-01", "CL-02", "CL-03", "CL-07", "A3"},
    .catches = {"clone-forgets-grandchildren"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
