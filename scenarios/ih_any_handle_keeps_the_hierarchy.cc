// IH-04, IH-05: whichever handle is the last one, the whole chain of graphs above it stays alive and usable; with it
// everything goes.
//
// Intent: a root with a graph in a graph and a conditional body. Drop all handles but one: a graph, a body, a
// grandchild, a node of each. Everything must still be there, and nodes can be added. Drop the last one: the root is
// destroyed once and every owner released once.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/nested_graphs.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

using LastHandle = std::variant<GraphDefinition, GraphNode>;
// Takes one handle out of the hierarchy of a root.
using Keep = std::function<LastHandle(const GraphDefinition& root)>;

void CUDA_CB Nothing(void*) {}

GraphDefinition GraphOf(const LastHandle& handle) {
  const auto* const graph = std::get_if<GraphDefinition>(&handle);
  return graph != nullptr ? *graph : std::get<GraphNode>(handle).Graph();
}

GraphNode HostNodeAt(const GraphDefinition& root, int depth) {
  return NodeOfType(GraphInside(root, depth), CU_GRAPH_NODE_TYPE_HOST);
}

GraphDefinition BodyOf(const GraphDefinition& root) {
  return NodeOfType(root, CU_GRAPH_NODE_TYPE_CONDITIONAL).Bodies().front();
}

void CheckLastHandle(harness::Context& context, const std::string& name, const Keep& keep) {
  NestedGraphs nested;
  OwnerProbe body_owner;
  nested.definition->AddIfNode(nested.definition->MakeCondition());
  BodyOf(*nested.definition).AddHostNode({&Nothing, nullptr, body_owner.Take(), nullptr});
  const CUgraph raw = nested.definition->raw();
  {
    const LastHandle last = keep(*nested.definition);
    nested.definition.reset();
    Settle(context);
    CheckAllAlive(context, nested, "the last handle is " + name);
    CheckAlive(context, body_owner, "the last handle is " + name);
    context.Check(GraphDefinition::Find(raw).has_value(), "the root is alive while there is " + name);
    GraphDefinition graph = GraphOf(last);
    const std::size_t nodes_before = graph.Nodes().size();
    const GraphNode added = graph.AddEmptyNode();
    context.Check(added.IsValid() && graph.Nodes().size() == nodes_before + 1, "a node can be added through " + name);
  }
  context.Check(!GraphDefinition::Find(raw) && context.shim().live().graphs == 0,
                "the root is destroyed with the last handle, which was " + name);
  CheckAllReleasedLate(context, nested, "the last handle is gone, which was " + name);
  CheckReleasedLate(context, body_owner, "the last handle is gone, which was " + name);
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  const std::vector<std::pair<std::string, Keep>> cases = {
      {"the root", [](const GraphDefinition& root) -> LastHandle { return root; }},
      {"a node of the root", [](const GraphDefinition& root) -> LastHandle { return HostNodeAt(root, 0); }},
      {"the child graph", [](const GraphDefinition& root) -> LastHandle { return GraphInside(root, 1); }},
      {"a node of the child graph", [](const GraphDefinition& root) -> LastHandle { return HostNodeAt(root, 1); }},
      {"the grandchild", [](const GraphDefinition& root) -> LastHandle { return GraphInside(root, 2); }},
      {"a node of the grandchild", [](const GraphDefinition& root) -> LastHandle { return HostNodeAt(root, 2); }},
      {"a conditional body", [](const GraphDefinition& root) -> LastHandle { return BodyOf(root); }},
      {"a node of a conditional body",
       [](const GraphDefinition& root) -> LastHandle { return NodeOfType(BodyOf(root), CU_GRAPH_NODE_TYPE_HOST); }},
  };
  for (const auto& [name, keep] : cases) {
    CheckLastHandle(context, name, keep);
  }
  context.Oracle("graphs and owners before and after the last handle went");
}

const harness::Registration registration({
    .name = "IH.any-handle-keeps-the-hierarchy",
    .summary = "Any one handle keeps its whole hierarchy alive and usable, and the last one takes it along",
    .covers = {"IH-04", "IH-05"},
    .catches = {"child-handle-keeps-the-child-alone"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
