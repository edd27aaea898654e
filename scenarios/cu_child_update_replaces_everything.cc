// CU-04 to CU-07, TS-01 to TS-03: an update of a child-graph node puts a new graph in place of the old one, and of
// everything that was known of the old one nothing goes on.
//
// Intent: two child-graph nodes of three levels each. Take handles of graphs and nodes of every level, instantiate,
// then update one node from another graph and drop that graph. The node stays; the old handles name what is gone, also
// by their raw values; the new levels are known with their owners; the sibling is untouched. The executable runs the
// old graph and keeps its owners; a new one runs the new graph. Destroying the node lets the new owners go.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <optional>
#include <string>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/nested_graphs.h"

namespace holdfast::scenarios {
namespace {

// The graphs that a child-graph node owns, outermost first, with the host node of each.
struct Views {
  explicit Views(const GraphNode& owning_node) {
    for (int level = 0; level < NestedGraphs::kLevels; ++level) {
      graphs.push_back(GraphInside(owning_node.ChildGraph(), level));
      nodes.push_back(NodeOfType(graphs.back(), CU_GRAPH_NODE_TYPE_HOST));
    }
  }

  std::vector<GraphDefinition> graphs;
  std::vector<GraphNode> nodes;
};

void CheckLive(harness::Context& context, const Views& views, const std::string& which) {
  for (int level = 0; level < NestedGraphs::kLevels; ++level) {
    const std::string where = which + ", level " + std::to_string(level);
    const GraphDefinition& graph = views.graphs[level];
    context.Check(graph.IsValid() && GraphDefinition::Find(graph.raw()) == graph, "a graph is known: " + where);
    context.Check(
        views.nodes[level].IsValid() && graph.attachment_count() == 1 && views.nodes[level].Owners().size() == 1,
        "a node is known with its owner: " + where);
  }
}

void CheckGone(harness::Context& context, const Views& views) {
  for (int level = 0; level < NestedGraphs::kLevels; ++level) {
    const std::string where = "level " + std::to_string(level);
    const GraphDefinition& graph = views.graphs[level];
    context.Check(!graph.IsValid() && graph.raw() == nullptr && graph.attachment_count() == 0,
                  "a replaced graph is gone, with all that was known of it: " + where);
    context.Check(
        !views.nodes[level].IsValid() && views.nodes[level].Owners().empty() && views.nodes[level].Graph() == graph,
        "a node of a replaced graph is gone: " + where);
  }
}

void CheckRuns(harness::Context& context, const DeviceSession& session, const GraphExec& executable,
               const NestedGraphs& nested, int expected, const std::string& which) {
  executable.Launch(session.stream());
  session.stream()->Synchronize();
  for (int level = 0; level < NestedGraphs::kLevels; ++level) {
    context.Check(nested.runs(level) == expected, "the executable runs what it was made from: " + which);
  }
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  NestedGraphs old_graphs, new_graphs, sibling_graphs;
  std::optional<GraphDefinition> root(std::in_place);
  GraphNode node = root->AddChildGraphNode(*old_graphs.definition);
  std::optional<GraphNode> sibling = root->AddChildGraphNode(*sibling_graphs.definition);
  old_graphs.definition.reset();
  sibling_graphs.definition.reset();
  const Views old_views(node);
  std::optional<Views> sibling_views(*sibling);
  CheckLive(context, old_views, "before the update");
  std::optional<GraphExec> old_executable(*root);

  node.UpdateChildGraph(*new_graphs.definition);
  new_graphs.definition.reset();
  CheckGone(context, old_views);
  context.Check(node.IsValid() && root->Nodes().size() == 2, "the updated node goes on");
  std::optional<Views> new_views(node);
  CheckLive(context, *new_views, "the new graph");
  CheckLive(context, *sibling_views, "the sibling");
  Settle(context);
  CheckAllAlive(context, old_graphs, "the old executable needs it");
  CheckAllAlive(context, new_graphs, "the updated node needs it, its source is gone");

  std::optional<GraphExec> new_executable(*root);
  CheckRuns(context, session, *old_executable, old_graphs, 1, "the old graph");
  CheckRuns(context, session, *new_executable, new_graphs, 1, "the new graph");
  CheckRuns(context, session, *new_executable, old_graphs, 1, "and not the old one");
  old_executable.reset();
  CheckAllReleasedLate(context, old_graphs, "the last executable of the old graph is gone");
  new_executable.reset();
  SettleIdle(context);
  CheckAllAlive(context, new_graphs, "the updated node needs it");

  node.Destroy();
  CheckAllReleasedLate(context, new_graphs, "the updated node is destroyed");
  CheckGone(context, *new_views);
  CheckLive(context, *sibling_views, "the sibling of a destroyed node");
  CheckAllAlive(context, sibling_graphs, "the sibling was not touched");
  context.Oracle("handles, owners and runs of the old and the new graph");
}

const harness::Registration registration({
    .name = "CU.child-update-replaces-everything",
    .summary = "An update of a child-graph node ends all that was known of the old graph and knows the new one whole",
    .covers = {"CU-04", "CU-05", "CU-06", "CU-07", "TS-01", "TS-02", "TS-03", "NU-G"},
    .catches = {"child-update-forgets-the-tombstones", "dead-graphs-nodes-live-on"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
