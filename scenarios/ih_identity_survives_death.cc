// IH-13, IH-14, D-23: what a handle is equal to does not change when its graph or node is destroyed.
//
// Intent: two child graphs, with two nodes each, that are destroyed with their parent nodes. Before and after, each
// handle is equal to its own copies and to no other: dead graphs are different from one another, dead nodes as well,
// and none is equal to a handle that never named anything, which answers all harmless questions.
//
// Interleaving: one thread.
//
// Expected verdict: passed.
#include <string>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"

namespace holdfast::scenarios {
namespace {

// Each equal to its counterpart in `copies` and to nothing else there.
template <typename Handle>
void CheckDistinct(harness::Context& context, const std::vector<Handle>& handles, const std::vector<Handle>& copies,
                   const std::string& when) {
  for (std::size_t i = 0; i < handles.size(); ++i) {
    for (std::size_t j = 0; j < copies.size(); ++j) {
      context.Check((handles[i] == copies[j]) == (i == j), "a handle is equal to its own copies alone, " + when + " (" +
                                                               std::to_string(i) + ", " + std::to_string(j) + ")");
    }
  }
}

void CheckNamesNothing(harness::Context& context) {
  GraphNode none;
  context.Check(!none.IsValid() && none.raw() == nullptr, "a handle that never named a node has no value");
  context.Check(none.Predecessors().empty() && none.Successors().empty() && none.Owners().empty(),
                "a handle that never named a node has no neighbours and no owners");
  none.Destroy();
  context.Check(none == GraphNode(), "to destroy what never was does nothing");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  GraphDefinition root, source;
  source.AddEmptyNode();
  source.AddEmptyNode();
  GraphNode first = root.AddChildGraphNode(source);
  GraphNode second = root.AddChildGraphNode(source);
  const std::vector<GraphDefinition> graphs = {first.ChildGraph(), second.ChildGraph(), root};
  std::vector<GraphNode> nodes = {first, second, GraphNode()};
  for (const GraphDefinition& graph : {graphs[0], graphs[1]}) {
    for (const GraphNode& node : graph.Nodes()) {
      nodes.push_back(node);
    }
  }
  const std::vector<GraphDefinition> same_graphs(graphs.begin(), graphs.end());
  const std::vector<GraphNode> same_nodes(nodes.begin(), nodes.end());
  CheckDistinct(context, graphs, same_graphs, "while all are alive");
  CheckDistinct(context, nodes, same_nodes, "while all are alive");

  first.Destroy();
  CheckDistinct(context, graphs, same_graphs, "with one graph destroyed");
  CheckDistinct(context, nodes, same_nodes, "with one graph destroyed");
  second.Destroy();
  context.Check(!graphs[0].IsValid() && !graphs[1].IsValid() && graphs[2].IsValid(), "the two child graphs are gone");
  CheckDistinct(context, graphs, same_graphs, "with both graphs destroyed");
  CheckDistinct(context, nodes, same_nodes, "with both graphs destroyed");

  CheckNamesNothing(context);
  context.Oracle("equality before and after");
}

const harness::Registration registration({
    .name = "IH.identity-survives-death",
    .summary = "Equality of graph and node handles is the same before and after what they name is destroyed",
    .covers = {"IH-13", "IH-14", "D-23"},
    .catches = {},
    .variants = harness::SingleVariant(),
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
