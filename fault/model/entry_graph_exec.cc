// Entry points: executables.
#include <cuda.h>

#include <utility>

#include "fault/model/call.h"
#include "fault/model/context.h"
#include "fault/model/executable.h"
#include "fault/model/graph.h"
#include "fault/model/program_update.h"
#include "fault/model/stream.h"

namespace holdfast::fault::model {
namespace {

constexpr cuuint64_t kModelledFlags =
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
constexpr cuuint64_t kKnownFlags = kModelledFlags | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
// What an executable tells of its flags.
constexpr cuuint64_t kToldFlags = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;

CUresult Instantiate(const char* name, CUgraphExec* executable, CUgraph graph, cuuint64_t flags,
                     InstantiationError* error) {
  return Enter(name, Rule::kUnsafe, [&] {
    Graph& source = Graph::Require(graph);
    const GraphUse use(source);
    Require(executable != nullptr && (flags & ~kKnownFlags) == 0);
    if ((flags & ~kModelledFlags) != 0) throw Unmodelled{};
    RequireCurrentContext();
    if (source.parent != nullptr) throw Refusal{CUDA_ERROR_NOT_SUPPORTED};
    *executable = Executable::Instantiate(source, flags, error);
  });
}

CUresult Update(const char* name, CUgraphExec executable, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  return Enter(name, Rule::kNormal, [&] {
    Executable& updated = Executable::Require(executable);
    Graph& source = Graph::Require(graph);
    Require(source.parent == nullptr);
    Holdings dropped;
    CUgraphExecUpdateResultInfo told{};
    bool done = false;
    {
      const GraphUse use(source);
      done = updated.Update(source, &told, &dropped);
    }
    if (info != nullptr) *info = told;
    updated.LetGo(std::move(dropped));
    Require(done, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  });
}

CUDA_KERNEL_NODE_PARAMS_v2 Widen(const CUDA_KERNEL_NODE_PARAMS_v1& given) {
  return CUDA_KERNEL_NODE_PARAMS_v2{given.func,         given.gridDimX,  given.gridDimY,  given.gridDimZ,
                                    given.blockDimX,    given.blockDimY, given.blockDimZ, given.sharedMemBytes,
                                    given.kernelParams, given.extra,     nullptr,         nullptr};
}

// Gives the executable's node new parameters of the kind that it has, made with a look at those.
template <typename Make>
CUresult Set(const char* name, CUgraphExec executable, CUgraphNode node, const Make& make) {
  return Enter(name, Rule::kNodeOfExec, [&] {
    Executable& changed = Executable::Require(executable);
    const Node& source = RequireNode(node);
    const NodeParameters& current = changed.NodeOf(source).parameters;
    NodeParameters parameters = make(current);
    Require(CompareParameters(current, parameters) == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    changed.Change(source, [&](ProgramNode& place) { place.parameters = std::move(parameters); });
  });
}

std::shared_ptr<const KernelAttributes> KeptAttributes(const NodeParameters& current) {
  const auto* kernel = std::get_if<KernelNode>(&current);
  return kernel == nullptr ? nullptr : kernel->attributes;
}

bool CanBeDisabled(const ProgramNode& node) {
  return std::holds_alternative<KernelNode>(node.parameters) || std::holds_alternative<MemsetNode>(node.parameters) ||
         std::holds_alternative<MemcpyNode>(node.parameters);
}

void SetChild(CUgraphExec executable, CUgraphNode node, CUgraph graph) {
  Executable& changed = Executable::Require(executable);
  Graph& source = Graph::Require(graph);
  if (source.parent != nullptr) throw Refusal{CUDA_ERROR_NOT_SUPPORTED};
  Holdings dropped;
  {
    const GraphUse use(source);
    changed.ChangeChild(RequireNode(node), source, &dropped);
  }
  changed.LetGo(std::move(dropped));
}

}  // namespace

extern "C" {

CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
  InstantiationError error;
  return Instantiate(__func__, executable, graph, flags, &error);
}
CUresult cuGraphInstantiate_v2(CUgraphExec* executable, CUgraph graph, CUgraphNode* error_node, char* log,
                               size_t log_size) {
  InstantiationError error;
  const CUresult result = Instantiate(__func__, executable, graph, 0, &error);
  if (error_node != nullptr) *error_node = error.node;
  if (log != nullptr && log_size > 0) *log = '\0';
  return result;
}
CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, CUgraphNode* error_node, char* log,
                            size_t log_size) {
  return cuGraphInstantiate_v2(executable, graph, error_node, log, log_size);
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* executable, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  InstantiationError error;
  // An upload changes nothing on the model. The other forms do not take the flag.
  const cuuint64_t flags = parameters->flags & ~cuuint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD};
  const CUresult result = Instantiate(__func__, executable, graph, flags, &error);
  parameters->hErrNode_out = error.node;
  parameters->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : error.result;
  return result;
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  return Enter(__func__, Rule::kUnsafe, [&] { Executable::Destroy(executable); });
}

CUresult cuGraphExecGetFlags(CUgraphExec executable, cuuint64_t* flags) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(flags != nullptr);
    *flags = Executable::Require(executable).flags & kToldFlags;
  });
}

CUresult cuGraphUpload(CUgraphExec executable, CUstream stream) {
  return Enter(__func__, Rule::kInCallback, [&] {
    const StreamPointer target = RequireRunningStream(stream);
    Executable::Require(executable).Upload(*target);
  });
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  return Enter(__func__, Rule::kInCallback, [&] {
    const StreamPointer target = RequireRunningStream(stream);
    Executable::Require(executable).Launch(*target);
  });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec executable, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  return Update(__func__, executable, graph, info);
}
CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphNode* error_node,
                           CUgraphExecUpdateResult* result) {
  CUgraphExecUpdateResultInfo info{};
  const CUresult answer = Update(__func__, executable, graph, &info);
  if (error_node != nullptr) *error_node = info.errorNode;
  if (result != nullptr) *result = info.result;
  return answer;
}

CUresult cuGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraphNodeParams* parameters) {
  if (parameters != nullptr && parameters->type == CU_GRAPH_NODE_TYPE_GRAPH) {
    return Enter(__func__, Rule::kNodeOfExec, [&] { SetChild(executable, node, parameters->graph.graph); });
  }
  return Set(__func__, executable, node, [&](const NodeParameters& current) {
    Require(parameters != nullptr && parameters->type == TypeOf(current));
    RequireUnusedZero(*parameters);
    if (IsFixed(current)) throw Refusal{CUDA_ERROR_NOT_SUPPORTED};
    return MakeParameters(*parameters, current);
  });
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS_v2* parameters) {
  return Set(__func__, executable, node, [&](const NodeParameters& current) -> NodeParameters {
    Require(parameters != nullptr);
    return MakeKernelNode(*parameters, KeptAttributes(current));
  });
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  return Set(__func__, executable, node, [&](const NodeParameters& current) -> NodeParameters {
    Require(parameters != nullptr);
    return MakeKernelNode(Widen(*parameters), KeptAttributes(current));
  });
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS_v1* parameters, CUcontext context) {
  return Set(__func__, executable, node, [&](const NodeParameters&) -> NodeParameters {
    Require(parameters != nullptr);
    return MakeMemsetNode(CUDA_MEMSET_NODE_PARAMS_v2{parameters->dst, parameters->pitch, parameters->value,
                                                     parameters->elementSize, parameters->width, parameters->height,
                                                     context});
  });
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node, const CUDA_MEMCPY3D* parameters,
                                        CUcontext context) {
  return Set(__func__, executable, node, [&](const NodeParameters&) -> NodeParameters {
    Require(parameters != nullptr);
    return MakeMemcpyNode(*parameters, context);
  });
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS* parameters) {
  return Set(__func__, executable, node, [&](const NodeParameters&) -> NodeParameters {
    Require(parameters != nullptr);
    return MakeHostNode(parameters->fn, parameters->userData);
  });
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec executable, CUgraphNode node, CUevent event) {
  return Set(__func__, executable, node,
             [&](const NodeParameters&) -> NodeParameters { return EventRecordNode{RequireNodeEvent(event)}; });
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec executable, CUgraphNode node, CUevent event) {
  return Set(__func__, executable, node,
             [&](const NodeParameters&) -> NodeParameters { return EventWaitNode{RequireNodeEvent(event)}; });
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraph graph) {
  return Enter(__func__, Rule::kNodeOfExec, [&] { SetChild(executable, node, graph); });
}

CUresult cuGraphNodeSetEnabled(CUgraphExec executable, CUgraphNode node, unsigned int enabled) {
  return Enter(__func__, Rule::kNodeOfExec, [&] {
    Executable& changed = Executable::Require(executable);
    const Node& source = RequireNode(node);
    Require(CanBeDisabled(changed.NodeOf(source)));
    changed.Change(source, [enabled](ProgramNode& place) { place.enabled = enabled != 0; });
  });
}

CUresult cuGraphNodeGetEnabled(CUgraphExec executable, CUgraphNode node, unsigned int* enabled) {
  return Enter(__func__, Rule::kNodeOfExec, [&] {
    Executable& asked = Executable::Require(executable);
    const ProgramNode& found = asked.NodeOf(RequireNode(node));
    Require(enabled != nullptr && CanBeDisabled(found));
    *enabled = found.enabled ? 1 : 0;
  });
}

}  // extern "C"
}  // namespace holdfast::fault::model
