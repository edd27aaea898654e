// EM-01 to EM-04, EM-07: an embedded copy has metadata at every level, and keeps its owners without its source.
//
// Intent: embed a graph that itself embeds one, and drop all sources. Each level is known with its owner and runs.
// Destroying the innermost callback gives up its owner; destroying the node that owns the rest gives up all owners
// below it, and none beside it.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <optional>
#include <string>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/nested_graphs.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

constexpr int kInnermost = NestedGraphs::kLevels - 1;

void CheckLevels(harness::Context& context, const GraphDefinition& root) {
  for (int level = 0; level < NestedGraphs::kLevels; ++level) {
    const std::string where = "level " + std::to_string(level);
    const GraphDefinition graph = GraphInside(root, level);
    const GraphNode callback = NodeOfType(graph, CU_GRAPH_NODE_TYPE_HOST);
    context.Check(graph.attachment_count() == 1 && callback.Owners().size() == 1,
                  "an embedded graph knows its node's owner, " + where);
    context.Check(callback.Graph() == graph && GraphDefinition::Find(graph.raw()) == graph,
                  "an embedded graph is the same by each route, " + where);
  }
}

void CheckLevelByLevel(harness::Context& context, const DeviceSession& session) {
  NestedGraphs nested;
  const GraphDefinition& root = *nested.definition;
  context.Check(context.shim().live().graphs == 1, "the sources are gone");
  Settle(context);
  CheckAllAlive(context, nested, "the embedded copy holds it, its source is gone");
  CheckLevels(context, root);
  {
    const GraphExec executable(root);
    executable.Launch(session.stream());
    session.stream()->Synchronize();
  }
  SettleIdle(context);
  context.Check(nested.runs(0) == 1 && nested.runs(1) == 1 && nested.runs(kInnermost) == 1,
                "the callback of each level runs");

  NodeOfType(GraphInside(root, kInnermost), CU_GRAPH_NODE_TYPE_HOST).Destroy();
  CheckReleasedLate(context, nested.owner(kInnermost), "its node in the innermost graph is destroyed");
  CheckAlive(context, nested.owner(0), "its node is there");
  CheckAlive(context, nested.owner(1), "its node is there");

  NodeOfType(root, CU_GRAPH_NODE_TYPE_GRAPH).Destroy();
  CheckReleasedLate(context, nested.owner(1), "the node that owns its graph is destroyed");
  CheckAlive(context, nested.owner(0), "its node is beside the one that is destroyed");
  context.Check(NodeOfType(root, CU_GRAPH_NODE_TYPE_HOST).Owners().size() == 1, "the node beside it has its owner");
  nested.definition.reset();
  CheckReleasedLate(context, nested.owner(0), "the graph is gone");
}

// Destroying the owning node takes along what nobody took out before, at all levels at once.
void CheckAllAtOnce(harness::Context& context) {
  NestedGraphs nested;
  NodeOfType(*nested.definition, CU_GRAPH_NODE_TYPE_GRAPH).Destroy();
  CheckReleasedLate(context, nested.owner(1), "the node that owns its graph is destroyed");
  CheckReleasedLate(context, nested.owner(kInnermost), "the node that owns the graph around its graph is destroyed");
  CheckAlive(context, nested.owner(0), "its node is beside the one that is destroyed");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckLevelByLevel(context, session);
  CheckAllAtOnce(context);
  context.Oracle("metadata and owners at three levels");
}

const harness::Registration registration({
    .name = "EM.embedded-graph-is-known-at-every-level",
    .summary = "An embedded copy is known at every level, keeps its owners without its source, and goes with its node",
    .covers = {"EM-01", "EM-02", "EM-03", "EM-04", "EM-07"},
    .catches = {"clone-forgets-grandchildren"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
