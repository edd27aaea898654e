// CU-08, D-26, D-18: when the new graph of a child update cannot be searched, the old one is gone and the new one is
// there, without metadata, and found.
//
// Intent: the driver replaces the child graph, then refuses to name it, or to find the first node, the inner
// child-graph node, the inner graph, or the innermost node. Each time the caller gets the driver's error, the old
// handles name what is gone, and the updated node goes on: ChildGraph() gives the new graph, whose nodes are listed
// without owners, hold them all the same, and run. The next update succeeds, and everything is known again.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with five faults fired.
#include <optional>
#include <string>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/nested_graphs.h"
#include "scenarios/support/refusals.h"

namespace holdfast::scenarios {
namespace {

constexpr int kInnermost = NestedGraphs::kLevels - 1;

// The new graph, of which only the driver knows what is in it.
void CheckReachable(harness::Context& context, const DeviceSession& session, const GraphDefinition& root,
                    const GraphNode& node, const NestedGraphs& nested, const std::string& when) {
  const GraphDefinition child = node.ChildGraph();
  context.Check(child.IsValid() && child == node.ChildGraph() && GraphDefinition::Find(child.raw()) == child,
                "the new graph is found: " + when);
  context.Check(child.Nodes().size() == 2 && GraphInside(child, kInnermost).Nodes().size() == 1,
                "the new graph's nodes are listed, at all levels: " + when);
  context.Check(NodeOfType(child, CU_GRAPH_NODE_TYPE_HOST).Owners().empty() && child.attachment_count() == 0,
                "the new graph's nodes are known without owners: " + when);
  {
    const GraphExec executable(root);
    executable.Launch(session.stream());
    session.stream()->Synchronize();
  }
  SettleIdle(context);
  context.Check(nested.runs(0) == 1 && nested.runs(kInnermost) == 1, "the new graph runs: " + when);
  CheckAllAlive(context, nested, "the new graph holds it all the same: " + when);
}

void CheckFailedUpdate(harness::Context& context, const DeviceSession& session, const std::string& step,
                       const std::string& call) {
  NestedGraphs old_graphs, new_graphs, last_graphs;
  std::optional<GraphDefinition> root(std::in_place);
  GraphNode node = root->AddChildGraphNode(*old_graphs.definition);
  old_graphs.definition.reset();
  const GraphDefinition old_child = node.ChildGraph();
  const GraphDefinition old_inner = GraphInside(old_child, kInnermost);
  const GraphNode old_node = NodeOfType(old_inner, CU_GRAPH_NODE_TYPE_HOST);

  const std::uint64_t faults_before = context.shim().faults(call.c_str());
  context.shim().announce_step(step.c_str());
  const bool failed =
      IsRefusedByDriver(call, CUDA_ERROR_UNKNOWN, [&] { node.UpdateChildGraph(*new_graphs.definition); });
  context.shim().announce_step("between");
  context.RequireFaults(call.c_str(), faults_before + 1);
  context.Check(failed, "the update says which call failed: " + call + ", " + step);
  context.Check(!old_child.IsValid() && !old_inner.IsValid() && !old_node.IsValid(), "the old graph is gone: " + step);
  CheckAllReleasedLate(context, old_graphs, "the driver has replaced its graph: " + step);
  context.Check(node.IsValid() && root->Nodes().size() == 1, "the updated node goes on: " + step);
  new_graphs.definition.reset();
  CheckReachable(context, session, *root, node, new_graphs, step);

  node.UpdateChildGraph(*last_graphs.definition);
  last_graphs.definition.reset();
  CheckAllReleasedLate(context, new_graphs, "its graph was replaced in turn: " + step);
  context.Check(GraphInside(node.ChildGraph(), kInnermost).attachment_count() == 1,
                "after an update that succeeds everything is known again: " + step);
  node.Destroy();
  CheckAllReleasedLate(context, last_graphs, "the node is destroyed: " + step);
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckFailedUpdate(context, session, "no-graph", "cuGraphChildGraphNodeGetGraph");
  CheckFailedUpdate(context, session, "no-first-node", "cuGraphNodeFindInClone");
  CheckFailedUpdate(context, session, "no-child-node", "cuGraphNodeFindInClone");
  CheckFailedUpdate(context, session, "no-inner-graph", "cuGraphChildGraphNodeGetGraph");
  CheckFailedUpdate(context, session, "no-innermost-node", "cuGraphNodeFindInClone");
  context.Oracle("old and new graph after each failed search");
}

const harness::Registration registration({
    .name = "CU.failed-rekey-leaves-a-live-child",
    .summary =
        "A child update that fails after the driver replaced the graph ends the old one and leaves the new one found",
    .covers = {"CU-08", "D-26", "D-18"},
    .catches = {"child-update-forgets-the-tombstones"},
    .plan = {"cuGraphChildGraphNodeGetGraph:nth=1,step=no-graph,count=step,return=CUDA_ERROR_UNKNOWN",
             "cuGraphNodeFindInClone:nth=1,step=no-first-node,count=step,return=CUDA_ERROR_UNKNOWN",
             "cuGraphNodeFindInClone:nth=2,step=no-child-node,count=step,return=CUDA_ERROR_UNKNOWN",
             "cuGraphChildGraphNodeGetGraph:nth=2,step=no-inner-graph,count=step,return=CUDA_ERROR_UNKNOWN",
             "cuGraphNodeFindInClone:nth=5,step=no-innermost-node,count=step,return=CUDA_ERROR_UNKNOWN"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
