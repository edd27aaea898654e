// Adding nodes and giving them new parameters, for all forms of the entry points.
#ifndef HOLDFAST_FAULT_MODEL_NODE_CHANGE_H_
#define HOLDFAST_FAULT_MODEL_NODE_CHANGE_H_

#include <cuda.h>

#include <functional>
#include <type_traits>

#include "fault/model/call.h"
#include "fault/model/graph.h"
#include "fault/model/node.h"

namespace holdfast::fault::model {

// Where a node is to be added.
struct Place {
  CUgraphNode* node;
  CUgraph graph;
  const CUgraphNode* dependencies;
  std::size_t count;
};

// Runs `make` for the parameters with the graph marked as used, then adds the node.
CUresult AddPlain(const char* name, const Place& place, CUgraphNodeType type,
                  const std::function<NodeParameters()>& make);

// Adds a node of the kind that `parameters` says, with the outputs of some kinds written to it.
CUresult AddAny(const char* name, const Place& place, const CUgraphEdgeData* edges, CUgraphNodeParams* parameters);

CUresult AddChild(const char* name, const Place& place, CUgraph graph, bool move);
CUresult AddMemAlloc(const char* name, const Place& place, CUDA_MEM_ALLOC_NODE_PARAMS* parameters);
CUresult AddMemFree(const char* name, const Place& place, CUdeviceptr address);

// The memory of a node of `graph` that allocates. Throws Refusal; if that is for want of memory, the graph counts as
// one with memory nodes from then on (fact M12).
std::shared_ptr<GraphMemory> ReserveMemory(Graph& graph, const CUDA_MEM_ALLOC_NODE_PARAMS& given);

// The memory that a node of `graph` may free: one graph frees it, the one that allocates it, once, or else others, each
// once. Throws Refusal{CUDA_ERROR_INVALID_VALUE}, and the graph counts as one with memory nodes from then on.
std::shared_ptr<GraphMemory> RequireFreeable(Graph& graph, CUdeviceptr address);

// Replaces the parameters of a node of the same kind; on failure it is unchanged (fact N4).
template <typename Kind>
CUresult Replace(const char* name, CUgraphNode node, const std::function<Kind(const Kind&)>& make) {
  return Enter(name, Rule::kInCallback, [&] {
    Node& changed = RequireNode(node);
    const GraphUse use(*changed.graph);
    auto* current = std::get_if<Kind>(&changed.parameters);
    Require(current != nullptr);
    RequirePermitted(TypeOf(changed.parameters));
    *current = make(*current);
  });
}

// Looks at the parameters of a node of that kind. Those of copies and fills cannot be looked at inside a callback.
template <typename Kind>
CUresult Read(const char* name, CUgraphNode node, const std::function<void(const Kind&)>& look) {
  return Enter(name, Rule::kInCallback, [&] {
    const Node& asked = RequireNode(node);
    const GraphUse use(*asked.graph);
    const auto* current = std::get_if<Kind>(&asked.parameters);
    Require(current != nullptr);
    if constexpr (std::is_same_v<Kind, MemsetNode> || std::is_same_v<Kind, MemcpyNode>) RequireNoCallback();
    look(*current);
  });
}

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_NODE_CHANGE_H_
