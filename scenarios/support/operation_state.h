// OperationState: a snapshot of a graph, to compare what was before an operation with what is after it.
#ifndef HOLDFAST_SCENARIOS_SUPPORT_OPERATION_STATE_H_
#define HOLDFAST_SCENARIOS_SUPPORT_OPERATION_STATE_H_

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/scenario/context.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_node.h"

namespace holdfast::scenarios {

// What the driver says of a graph and of all graphs below it, and what the library says of its nodes. The driver is
// asked below the shim: no fault disturbs the questions, and they count as nobody's calls.
class OperationState {
 public:
  // `handles` are the nodes, of this graph or of one below it, whose owners count.
  static OperationState Of(const harness::Context& context, const GraphDefinition& graph,
                           std::span<const GraphNode> handles);

  // The first difference in words; empty if there is none.
  std::string DifferenceFrom(const OperationState& before) const;

 private:
  struct NodeState {
    CUgraphNode node = nullptr;
    CUgraphNodeType type{};
    std::vector<std::uint64_t> parameters;  // those that are cheap to ask for, one number each
    friend bool operator==(const NodeState&, const NodeState&) = default;
  };
  using Edge = std::pair<CUgraphNode, CUgraphNode>;

  struct GraphState {
    CUgraph graph = nullptr;
    std::vector<NodeState> nodes;  // in the driver's order
    std::vector<Edge> edges;       // sorted
    friend bool operator==(const GraphState&, const GraphState&) = default;
  };

  struct HandleState {
    CUgraphNode node = nullptr;
    std::vector<const void*> owners;  // by identity
    friend bool operator==(const HandleState&, const HandleState&) = default;
  };

  void Visit(const harness::Context& context, CUgraph graph);

  std::vector<GraphState> graphs_;  // the graph itself first, then depth first
  std::vector<HandleState> handles_;
  std::size_t attachment_count_ = 0;
};

// Fails unless the graph is as it was before.
void CheckUnchanged(harness::Context& context, const OperationState& before, const OperationState& after,
                    const std::string& why, harness::SourcePlace where = harness::SourcePlace::Here());

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_OPERATION_STATE_H_
