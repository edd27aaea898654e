// IH-08, IH-11: handles of nodes belong to their graph and their node, though CUDA gives raw handles out again.
//
// Intent: destroy a node and add others, in the same graph and in another one, so that the raw handle comes up again.
// The old handle must stay a handle to something that is gone, the raw handle must find the new node, in the graph
// where that is, and the handles of all other nodes must be as they were. Dropping the old handle late must not make
// the new node be forgotten, and dropping all handles of a graph must not keep anything alive.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <algorithm>
#include <optional>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

void CUDA_CB Nothing(void*) {}

bool Lists(const GraphDefinition& graph, const GraphNode& node) {
  const std::vector<GraphNode> nodes = graph.Nodes();
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

// Destroys a node of `graph` and adds one to `next_graph`, some times over. How often the raw handle came up again.
std::uint64_t CheckSuccessors(harness::Context& context, GraphDefinition& graph, GraphDefinition& next_graph) {
  constexpr int kRounds = 20;
  std::uint64_t reused = 0;
  const GraphNode bystander = graph.AddEmptyNode();
  const CUgraphNode bystander_raw = bystander.raw();
  for (int round = 0; round < kRounds; ++round) {
    OwnerProbe old_owner, new_owner;
    GraphNode old_node = graph.AddHostNode({&Nothing, nullptr, old_owner.Take(), nullptr});
    const CUgraphNode old_raw = old_node.raw();
    old_node.Destroy();
    GraphNode new_node = next_graph.AddHostNode({&Nothing, nullptr, new_owner.Take(), nullptr});
    reused += new_node.raw() == old_raw ? 1 : 0;
    context.Check(!old_node.IsValid() && old_node.raw() == nullptr && !(old_node == new_node),
                  "the handle of a destroyed node does not come to mean the next one");
    context.Check(old_node.Graph() == graph && new_node.Graph() == next_graph, "each node is of its own graph");
    context.Check(Lists(next_graph, new_node) && !Lists(graph, old_node), "the raw handle finds the new node");
    old_node = GraphNode();
    context.Check(Lists(next_graph, new_node) && new_node.Owners().size() == 1,
                  "the new node is known by its handle after the old handle was dropped");
    context.Check(bystander.raw() == bystander_raw && Lists(graph, bystander), "handles of other nodes are untouched");
    new_node.Destroy();
    Settle(context);
    CheckReleasedOnce(context, old_owner, "its node is destroyed");
    CheckReleasedOnce(context, new_owner, "its node is destroyed, which had a handle used before");
  }
  return reused;
}

void CheckHandlesKeepNothing(harness::Context& context) {
  OwnerProbe owner;
  std::optional<GraphDefinition> graph(std::in_place);
  const CUgraph raw = graph->raw();
  GraphNode node = graph->AddHostNode({&Nothing, nullptr, owner.Take(), nullptr});
  graph.reset();
  context.Check(GraphDefinition::Find(raw).has_value(), "a node's handle keeps the graph");
  node.Destroy();
  Settle(context);
  CheckReleasedOnce(context, owner, "its node is destroyed, although there is a handle of the node");
  node = GraphNode();
  context.Check(!GraphDefinition::Find(raw), "the graph goes with the last node's handle");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  GraphDefinition graph, other;
  context.Count("handles_reused", CheckSuccessors(context, graph, graph));
  context.Count("handles_reused_in_another_graph", CheckSuccessors(context, graph, other));
  CheckHandlesKeepNothing(context);
  context.Oracle("which node each handle means");
}

const harness::Registration registration({
    .name = "IH.reused-handles-name-the-new-node",
    .summary = "A raw node handle that CUDA gives out again means the new node in its own graph, and nothing else",
    .covers = {"IH-08", "IH-11", "DL-05"},
    .catches = {"each-look-makes-a-new-node"},
    .variants = harness::MixedDeliveryVariants(),
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
