// Entry points: adding nodes, and the parameters of nodes of the definition.
#include <cuda.h>

#include "fault/model/call.h"
#include "fault/model/context.h"
#include "fault/model/graph.h"
#include "fault/model/node_change.h"

namespace holdfast::fault::model {
namespace {

CUDA_KERNEL_NODE_PARAMS_v2 Widen(const CUDA_KERNEL_NODE_PARAMS_v1& given) {
  return CUDA_KERNEL_NODE_PARAMS_v2{given.func,         given.gridDimX,  given.gridDimY,  given.gridDimZ,
                                    given.blockDimX,    given.blockDimY, given.blockDimZ, given.sharedMemBytes,
                                    given.kernelParams, given.extra,     nullptr,         nullptr};
}

CUDA_MEMSET_NODE_PARAMS_v2 Widen(const CUDA_MEMSET_NODE_PARAMS_v1& given, CUcontext context) {
  return CUDA_MEMSET_NODE_PARAMS_v2{given.dst,   given.pitch,  given.value, given.elementSize,
                                    given.width, given.height, context};
}

// The new embedded graph is a clone of the source; the old one goes with its references (fact U11).
void SetChildGraph(Node& node, const CUDA_CHILD_GRAPH_NODE_PARAMS& given, std::vector<Reference>* dropped) {
  Graph& source = Graph::Require(given.graph);
  const GraphUse use(source);
  if (source.parent != nullptr || node.graphs.front()->HasMemoryNodesOutsideBodies()) {
    throw Refusal{CUDA_ERROR_NOT_SUPPORTED};
  }
  // The real driver takes it, and the node has no graph afterwards.
  if (given.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) throw Unmodelled{};
  Graph::ReplaceChild(node, source.Clone(node.graph), dropped);
}

CUresult ReadEvent(const char* name, CUgraphNode node, CUevent* event, bool is_record) {
  const auto give = [event](const EventPointer& held) {
    Require(event != nullptr);
    *event = held->handle;
  };
  if (is_record) return Read<EventRecordNode>(name, node, [&](const EventRecordNode& read) { give(read.event); });
  return Read<EventWaitNode>(name, node, [&](const EventWaitNode& read) { give(read.event); });
}

}  // namespace

extern "C" {

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* edges, size_t count, CUgraphNodeParams* parameters) {
  return AddAny(__func__, Place{node, graph, dependencies, count}, edges, parameters);
}
CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                        CUgraphNodeParams* parameters) {
  return AddAny(__func__, Place{node, graph, dependencies, count}, nullptr, parameters);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS_v2* parameters) {
  return AddPlain(__func__, Place{node, graph, dependencies, count}, CU_GRAPH_NODE_TYPE_KERNEL, [&] {
    Require(parameters != nullptr);
    return MakeKernelNode(*parameters);
  });
}
CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  return AddPlain(__func__, Place{node, graph, dependencies, count}, CU_GRAPH_NODE_TYPE_KERNEL, [&] {
    Require(parameters != nullptr);
    return MakeKernelNode(Widen(*parameters));
  });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS_v1* parameters, CUcontext context) {
  return AddPlain(__func__, Place{node, graph, dependencies, count}, CU_GRAPH_NODE_TYPE_MEMSET, [&] {
    Require(parameters != nullptr);
    return MakeMemsetNode(Widen(*parameters, context));
  });
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_MEMCPY3D* parameters, CUcontext context) {
  return AddPlain(__func__, Place{node, graph, dependencies, count}, CU_GRAPH_NODE_TYPE_MEMCPY, [&] {
    Require(parameters != nullptr);
    return MakeMemcpyNode(*parameters, context);
  });
}

CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                            const CUDA_HOST_NODE_PARAMS* parameters) {
  return AddPlain(__func__, Place{node, graph, dependencies, count}, CU_GRAPH_NODE_TYPE_HOST, [&] {
    Require(parameters != nullptr);
    return MakeHostNode(parameters->fn, parameters->userData);
  });
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count) {
  return AddPlain(__func__, Place{node, graph, dependencies, count}, CU_GRAPH_NODE_TYPE_EMPTY,
                  [] { return EmptyNode{}; });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                   CUevent event) {
  return AddPlain(__func__, Place{node, graph, dependencies, count}, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                  [&] { return EventRecordNode{RequireNodeEvent(event)}; });
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                 CUevent event) {
  return AddPlain(__func__, Place{node, graph, dependencies, count}, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                  [&] { return EventWaitNode{RequireNodeEvent(event)}; });
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                  CUgraph child) {
  return AddChild(__func__, Place{node, graph, dependencies, count}, child, false);
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  return AddMemAlloc(__func__, Place{node, graph, dependencies, count}, parameters);
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                               CUdeviceptr address) {
  return AddMemFree(__func__, Place{node, graph, dependencies, count}, address);
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* parameters) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Node& changed = RequireNode(node);
    std::vector<Reference> dropped;
    {
      const GraphUse use(*changed.graph);
      Require(parameters != nullptr);
      const CUgraphNodeType type = TypeOf(changed.parameters);
      Require(parameters->type == type);
      RequireUnusedZero(*parameters);
      RequirePermitted(type);
      if (IsFixed(changed.parameters)) throw Refusal{CUDA_ERROR_NOT_SUPPORTED};
      if (type == CU_GRAPH_NODE_TYPE_GRAPH) {
        SetChildGraph(changed, parameters->graph, &dropped);
      } else {
        changed.parameters = MakeParameters(*parameters, changed.parameters);
      }
    }
    DropAll(dropped);
  });
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2* parameters) {
  return Read<KernelNode>(__func__, node, [&](const KernelNode& read) {
    Require(parameters != nullptr);
    *parameters = Describe(read);
  });
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  return Read<KernelNode>(__func__, node, [&](const KernelNode& read) {
    Require(parameters != nullptr);
    const CUDA_KERNEL_NODE_PARAMS_v2 wide = Describe(read);
    *parameters = CUDA_KERNEL_NODE_PARAMS_v1{read.kernel->function, wide.gridDimX,  wide.gridDimY,  wide.gridDimZ,
                                             wide.blockDimX,        wide.blockDimY, wide.blockDimZ, wide.sharedMemBytes,
                                             wide.kernelParams,     wide.extra};
  });
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2* parameters) {
  return Replace<KernelNode>(__func__, node, [&](const KernelNode& current) {
    Require(parameters != nullptr);
    return MakeKernelNode(*parameters, current.attributes);
  });
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  return Replace<KernelNode>(__func__, node, [&](const KernelNode& current) {
    Require(parameters != nullptr);
    return MakeKernelNode(Widen(*parameters), current.attributes);
  });
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS_v1* parameters) {
  return Read<MemsetNode>(__func__, node, [&](const MemsetNode& read) {
    Require(parameters != nullptr);
    const CUDA_MEMSET_NODE_PARAMS_v2 wide = Describe(read);
    *parameters =
        CUDA_MEMSET_NODE_PARAMS_v1{wide.dst, wide.pitch, wide.value, wide.elementSize, wide.width, wide.height};
  });
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS_v1* parameters) {
  return Replace<MemsetNode>(__func__, node, [&](const MemsetNode& current) {
    Require(parameters != nullptr);
    return MakeMemsetNode(Widen(*parameters, current.context));
  });
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* parameters) {
  return Read<MemcpyNode>(__func__, node, [&](const MemcpyNode& read) {
    Require(parameters != nullptr);
    *parameters = read.description->given;
  });
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* parameters) {
  return Replace<MemcpyNode>(__func__, node, [&](const MemcpyNode& current) {
    Require(parameters != nullptr);
    return MakeMemcpyNode(*parameters, current.context);
  });
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* parameters) {
  return Read<HostNode>(__func__, node, [&](const HostNode& read) {
    Require(parameters != nullptr);
    *parameters = CUDA_HOST_NODE_PARAMS{read.function, read.payload};
  });
}
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* parameters) {
  return Replace<HostNode>(__func__, node, [&](const HostNode&) {
    Require(parameters != nullptr);
    return MakeHostNode(parameters->fn, parameters->userData);
  });
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return ReadEvent(__func__, node, event, true);
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return ReadEvent(__func__, node, event, false);
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return Replace<EventRecordNode>(__func__, node,
                                  [&](const EventRecordNode&) { return EventRecordNode{RequireNodeEvent(event)}; });
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return Replace<EventWaitNode>(__func__, node,
                                [&](const EventWaitNode&) { return EventWaitNode{RequireNodeEvent(event)}; });
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  return Read<MemAllocNode>(__func__, node, [&](const MemAllocNode& read) {
    Require(parameters != nullptr);
    *parameters = read.memory->parameters();
  });
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* address) {
  return Read<MemFreeNode>(__func__, node, [&](const MemFreeNode& read) {
    Require(address != nullptr);
    *address = read.memory->address();
  });
}

}  // extern "C"
}  // namespace holdfast::fault::model
