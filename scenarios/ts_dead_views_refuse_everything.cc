// TS-01 to TS-04, TS-06, IH-07, AP-01, CL-05: when the node that owns a graph is destroyed, that graph and all below it
// are gone at once; what is left of their handles is safe to ask and refuses to do anything.
//
// Intent: a node that owns three levels of graphs and a conditional body, beside a sibling. Destroy it, with no memory
// to be had: everything below must be gone together, and nothing else. Then try every operation on the dead views, and
// with them as sources, dependencies and ends of edges: each says so without a single driver call, and changes nothing.
// The views keep their hierarchy for as long as anybody has one.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/failing_allocations.h"
#include "scenarios/support/nested_graphs.h"
#include "scenarios/support/owner_probe.h"
#include "scenarios/support/refusals.h"

namespace holdfast::scenarios {
namespace {

using Operations = std::vector<std::pair<std::string, std::function<void()>>>;

// A root with a node that owns three levels of graphs, and a conditional node whose body is filled.
struct Scene {
  Scene() {
    owning_node = root.AddChildGraphNode(*nested.definition);
    nested.definition.reset();
    conditional_node = root.AddIfNode(root.MakeCondition());
    sibling = root.AddHostNode(CountingCallback(unused_runs, sibling_owner.Take()));
    for (int level = 0; level < NestedGraphs::kLevels; ++level) {
      graphs.push_back(GraphInside(owning_node.ChildGraph(), level));
      nodes.push_back(NodeOfType(graphs.back(), CU_GRAPH_NODE_TYPE_HOST));
    }
    graphs.push_back(conditional_node.Bodies().front());
    nodes.push_back(graphs.back().AddHostNode(CountingCallback(unused_runs, body_owner.Take())));
    inner_owning_node = NodeOfType(graphs.front(), CU_GRAPH_NODE_TYPE_GRAPH);
  }

  int unused_runs = 0;
  NestedGraphs nested;
  OwnerProbe sibling_owner, body_owner;
  GraphDefinition root;
  GraphNode owning_node, conditional_node, sibling, inner_owning_node;
  // What goes: the three levels, then the body.
  std::vector<GraphDefinition> graphs;
  std::vector<GraphNode> nodes;
};

void DestroyWithoutMemory(harness::Context& context, GraphNode& node) {
  context.Check(FailEachAllocation(
                    context, [&] { node.Destroy(); }, [](std::uint64_t) {}) == 0,
                "to end a whole hierarchy takes no memory");
}

void CheckGone(harness::Context& context, const Scene& scene, const std::vector<CUgraph>& raw_graphs) {
  for (std::size_t i = 0; i < scene.graphs.size(); ++i) {
    const std::string where = "graph " + std::to_string(i);
    context.Check(!scene.graphs[i].IsValid() && scene.graphs[i].raw() == nullptr, "it is gone: " + where);
    context.Check(scene.graphs[i].attachment_count() == 0, "nothing is known of its nodes: " + where);
    context.Check(!GraphDefinition::Find(raw_graphs[i]), "its raw handle finds nothing: " + where);
    context.Check(!scene.nodes[i].IsValid() && scene.nodes[i].raw() == nullptr && scene.nodes[i].Owners().empty(),
                  "its node is gone: " + where);
    context.Check(scene.nodes[i].Predecessors().empty() && scene.nodes[i].Successors().empty() &&
                      scene.nodes[i].Graph() == scene.graphs[i] && scene.nodes[i].type() == CU_GRAPH_NODE_TYPE_HOST,
                  "harmless questions are answered: " + where);
  }
  context.Check(scene.sibling.IsValid() && scene.sibling.Owners().size() == 1 && scene.root.Nodes().size() == 1,
                "the sibling is untouched");
}

Operations OperationsOnGraph(GraphDefinition& dead, GraphNode& sibling, GraphDefinition& other) {
  return {
      {"Nodes", [&] { dead.Nodes(); }},
      {"Edges", [&] { dead.Edges(); }},
      {"Clone", [&] { dead.Clone(); }},
      {"AddEdge", [&] { dead.AddEdge(sibling, sibling); }},
      {"RemoveEdge", [&] { dead.RemoveEdge(sibling, sibling); }},
      {"AddEmptyNode", [&] { dead.AddEmptyNode(); }},
      {"AddHostNode", [&] { dead.AddHostNode(HostCallback::FromFunction([] {})); }},
      {"AddMemoryFreeNode", [&] { dead.AddMemoryFreeNode(0); }},
      {"AddChildGraphNode", [&] { dead.AddChildGraphNode(other); }},
      {"AddChildGraphNodeByMove", [&] { dead.AddChildGraphNodeByMove(other); }},
      {"MakeCondition", [&] { dead.MakeCondition(); }},
      {"WriteDot", [&] { dead.WriteDot("dead.dot"); }},
      {"GraphExec", [&] { GraphExec executable(dead); }},
      {"AddChildGraphNode from it", [&] { other.AddChildGraphNode(dead); }},
      {"AddChildGraphNodeByMove of it", [&] { other.AddChildGraphNodeByMove(dead); }},
  };
}

Operations OperationsOnNode(GraphNode& dead, GraphDefinition& root, GraphNode& sibling, GraphNode& dead_owning_node,
                            const GraphDefinition& other) {
  return {
      {"UpdateHost", [&] { dead.UpdateHost(HostCallback::FromFunction([] {})); }},
      {"ChildGraph", [&] { dead_owning_node.ChildGraph(); }},
      {"UpdateChildGraph", [&] { dead_owning_node.UpdateChildGraph(other); }},
      {"an edge to it", [&] { root.AddEdge(sibling, dead); }},
      {"an edge from it", [&] { root.AddEdge(dead, sibling); }},
      {"a node behind it", [&] { root.AddEmptyNode({{dead}}); }},
  };
}

void CheckRefused(harness::Context& context, const Operations& operations, const std::string& where) {
  for (const auto& [name, operation] : operations) {
    const std::uint64_t calls_before = context.shim().calls(nullptr);
    const std::string what = std::string(name).append(", ").append(where);
    context.Check(Throws<std::logic_error>(operation), "refused: " + what);
    context.Check(context.shim().calls(nullptr) == calls_before, "without a driver call: " + what);
  }
}

void CheckOperations(harness::Context& context, Scene& scene) {
  GraphDefinition other;
  for (std::size_t i = 0; i < scene.graphs.size(); ++i) {
    const std::string where = "graph " + std::to_string(i);
    CheckRefused(context, OperationsOnGraph(scene.graphs[i], scene.sibling, other), where);
    CheckRefused(context, OperationsOnNode(scene.nodes[i], scene.root, scene.sibling, scene.inner_owning_node, other),
                 where);
    const std::uint64_t calls_before = context.shim().calls(nullptr);
    scene.nodes[i].Destroy();
    context.Check(context.shim().calls(nullptr) == calls_before, "to destroy what is gone does nothing, " + where);
  }
  context.Check(other.IsValid() && other.Nodes().empty() && scene.root.Nodes().size() == 1, "nothing has changed");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  std::optional<Scene> scene(std::in_place);
  const CUgraph root_raw = scene->root.raw();
  std::vector<CUgraph> raw_graphs;
  for (const GraphDefinition& graph : scene->graphs) {
    raw_graphs.push_back(graph.raw());
  }
  DestroyWithoutMemory(context, scene->owning_node);
  DestroyWithoutMemory(context, scene->conditional_node);
  CheckGone(context, *scene, raw_graphs);
  Settle(context);
  CheckAllReleasedLate(context, scene->nested, "the node that owned its graph is destroyed");
  CheckReleasedOnce(context, scene->body_owner, "the conditional node is destroyed");
  CheckAlive(context, scene->sibling_owner, "its node is beside those that were destroyed");
  CheckOperations(context, *scene);

  const GraphDefinition last = scene->graphs.back();
  scene->root = GraphDefinition();
  scene->owning_node = scene->conditional_node = scene->sibling = scene->inner_owning_node = GraphNode();
  scene->graphs.clear();
  scene->nodes.clear();
  context.Check(GraphDefinition::Find(root_raw).has_value() && !last.IsValid(), "a dead view is safe to ask for ever");
  context.Oracle("every operation on what is gone");
}

const harness::Registration registration({
    .name = "TS.dead-views-refuse-everything",
    .summary = "With a node all graphs below it are gone at once, and their handles refuse without a driver call",
    .covers = {"TS-01", "TS-02", "TS-03", "TS-04", "TS-06", "IH-06", "IH-07", "AP-01", "CL-05", "CU-09", "DL-03"},
    .catches = {"dead-graphs-nodes-live-on"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
