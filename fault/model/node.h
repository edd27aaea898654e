// A node of a graph: its parameters by kind, and its edges.
#ifndef HOLDFAST_FAULT_MODEL_NODE_H_
#define HOLDFAST_FAULT_MODEL_NODE_H_

#include <cuda.h>

#include <cstdint>
#include <list>
#include <memory>
#include <variant>
#include <vector>

#include "fault/model/code.h"
#include "fault/model/copy.h"
#include "fault/model/edges.h"
#include "fault/model/event.h"
#include "fault/model/graph_memory.h"
#include "fault/model/kernel_attributes.h"
#include "fault/model/memory.h"

namespace holdfast::fault::model {

class Graph;

struct EmptyNode {};

struct KernelNode {
  KernelPointer kernel;
  KernelArguments arguments;
  LaunchShape shape{};
  CUkernel by_kernel = nullptr;  // null if the caller named the function alone
  CUcontext context = nullptr;
  std::shared_ptr<const KernelAttributes> attributes;  // null: none was ever set
};

struct MemsetNode {
  Fill fill;
  CUcontext context = nullptr;
};

struct MemcpyNode {
  struct Description {
    BoxCopy copy;
    CUDA_MEMCPY3D given{};  // for the getter
  };
  std::shared_ptr<const Description> description;
  CUcontext context = nullptr;
};

struct HostNode {
  CUhostFn function = nullptr;
  void* payload = nullptr;
};

struct EventRecordNode {
  EventPointer event;
};

struct EventWaitNode {
  EventPointer event;
};

// The embedded graph is in Node::graphs.
struct ChildGraphNode {};

// The bodies are in Node::graphs.
struct ConditionalNode {
  CUgraphConditionalHandle handle = 0;
  CUgraphConditionalNodeType type = CU_GRAPH_COND_TYPE_IF;
  CUcontext context = nullptr;
};

struct MemAllocNode {
  std::shared_ptr<GraphMemory> memory;
};

struct MemFreeNode {
  AllocationPointer memory;
};

using NodeParameters = std::variant<EmptyNode, KernelNode, MemsetNode, MemcpyNode, HostNode, EventRecordNode,
                                    EventWaitNode, ChildGraphNode, ConditionalNode, MemAllocNode, MemFreeNode>;

CUgraphNodeType TypeOf(const NodeParameters& parameters);

// Throws Refusal{CUDA_ERROR_INVALID_VALUE} unless what the type leaves unused is zero.
void RequireUnusedZero(const CUgraphNodeParams& given);

// Whether nodes of that kind never get other parameters (fact N7).
bool IsFixed(const NodeParameters& parameters);

// Throws Refusal{CUDA_ERROR_NOT_PERMITTED} inside a callback for the kinds that cannot be added or changed there.
void RequirePermitted(CUgraphNodeType type);

struct Node {
  Graph* graph = nullptr;
  CUgraphNode handle = nullptr;
  std::uint64_t serial = 0;         // never used twice in a process
  std::uint64_t origin_serial = 0;  // of the node that this one was cloned from; 0 if it was added
  NodeParameters parameters;
  Dependencies dependencies;
  Dependents dependents;
  std::vector<std::unique_ptr<Graph>> graphs;  // owned: one embedded graph, or the bodies
  std::vector<CUgraph> graph_handles;          // of `graphs`; the driver gives out the bodies' handles as an array
  std::list<Node>::iterator place;             // in graph->nodes
  mutable std::uint32_t mark = 0;              // scratch of one operation on the graph

  Node() = default;
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
};

// The kinds' parameters from what a caller passes. Each throws Refusal{CUDA_ERROR_INVALID_VALUE} for what the driver
// refuses (fact N4), and Unmodelled for what the model lacks.
KernelNode MakeKernelNode(const CUDA_KERNEL_NODE_PARAMS_v2& given,
                          std::shared_ptr<const KernelAttributes> attributes = nullptr);
MemsetNode MakeMemsetNode(const CUDA_MEMSET_NODE_PARAMS_v2& given);
MemcpyNode MakeMemcpyNode(const CUDA_MEMCPY3D& given, CUcontext context);
HostNode MakeHostNode(CUhostFn function, void* payload);
EventPointer RequireNodeEvent(CUevent event);

// The kinds that have no graph of their own. Throws Refusal for other types, Unmodelled for those that the model lacks.
NodeParameters MakeParameters(const CUgraphNodeParams& given);

// The same where a node of that kind is to be changed: its attributes stay.
NodeParameters MakeParameters(const CUgraphNodeParams& given, const NodeParameters& current);

// All defaults if none was ever set.
const KernelAttributes& AttributesOf(const KernelNode& node);

CUDA_KERNEL_NODE_PARAMS_v2 Describe(const KernelNode& node);
CUDA_MEMSET_NODE_PARAMS_v2 Describe(const MemsetNode& node);

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_NODE_H_
