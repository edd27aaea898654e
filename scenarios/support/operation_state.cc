#include "scenarios/support/operation_state.h"

#include <algorithm>
#include <stdexcept>

namespace holdfast::scenarios {
namespace {

// Calls the driver itself. A call that it refuses is a fault of the scenario, which asks for what is there.
template <typename Function, typename... Arguments>
void Ask(const harness::Context& context, const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<Function*>(context.shim().driver_symbol(name));
  const CUresult result = function == nullptr ? CUDA_ERROR_NOT_FOUND : function(arguments...);
  if (result != CUDA_SUCCESS) {
    throw std::runtime_error(std::string("taking a snapshot: the driver answered ") + std::to_string(result) + " to " +
                             name);
  }
}

// The first form of the call, which cuda.h renames to a later one.
using GetEdges = CUresult(CUgraph, CUgraphNode*, CUgraphNode*, std::size_t*);

std::uint64_t Number(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

std::vector<std::uint64_t> MemcpyNumbers(const CUDA_MEMCPY3D& copy) {
  return {copy.srcXInBytes,
          copy.srcY,
          copy.srcZ,
          copy.srcMemoryType,
          Number(copy.srcHost),
          copy.srcDevice,
          Number(copy.srcArray),
          copy.srcPitch,
          copy.srcHeight,
          copy.dstXInBytes,
          copy.dstY,
          copy.dstZ,
          copy.dstMemoryType,
          Number(copy.dstHost),
          copy.dstDevice,
          Number(copy.dstArray),
          copy.dstPitch,
          copy.dstHeight,
          copy.WidthInBytes,
          copy.Height,
          copy.Depth};
}

std::vector<std::uint64_t> KernelNumbers(const CUDA_KERNEL_NODE_PARAMS& launch) {
  return {Number(launch.func), Number(launch.kern), launch.gridDimX,  launch.gridDimY,      launch.gridDimZ,
          launch.blockDimX,    launch.blockDimY,    launch.blockDimZ, launch.sharedMemBytes};
}

std::vector<std::uint64_t> ParametersOf(const harness::Context& context, CUgraphNode node, CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_HOST: {
      CUDA_HOST_NODE_PARAMS host{};
      Ask<decltype(cuGraphHostNodeGetParams)>(context, "cuGraphHostNodeGetParams", node, &host);
      return {Number(reinterpret_cast<void*>(host.fn)), Number(host.userData)};
    }
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      CUDA_MEMSET_NODE_PARAMS fill{};
      Ask<decltype(cuGraphMemsetNodeGetParams)>(context, "cuGraphMemsetNodeGetParams", node, &fill);
      return {fill.dst, fill.pitch, fill.value, fill.elementSize, fill.width, fill.height};
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY: {
      CUDA_MEMCPY3D copy{};
      Ask<decltype(cuGraphMemcpyNodeGetParams)>(context, "cuGraphMemcpyNodeGetParams", node, &copy);
      return MemcpyNumbers(copy);
    }
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      CUDA_KERNEL_NODE_PARAMS launch{};
      Ask<decltype(cuGraphKernelNodeGetParams)>(context, "cuGraphKernelNodeGetParams_v2", node, &launch);
      return KernelNumbers(launch);
    }
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: {
      CUevent event = nullptr;
      Ask<decltype(cuGraphEventRecordNodeGetEvent)>(context, "cuGraphEventRecordNodeGetEvent", node, &event);
      return {Number(event)};
    }
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: {
      CUevent event = nullptr;
      Ask<decltype(cuGraphEventWaitNodeGetEvent)>(context, "cuGraphEventWaitNodeGetEvent", node, &event);
      return {Number(event)};
    }
    case CU_GRAPH_NODE_TYPE_GRAPH: {
      CUgraph child = nullptr;
      Ask<decltype(cuGraphChildGraphNodeGetGraph)>(context, "cuGraphChildGraphNodeGetGraph", node, &child);
      return {Number(child)};
    }
    default:
      return {};
  }
}

std::string Counts(const char* what, std::size_t before, std::size_t after) {
  return std::string(what) + ": " + std::to_string(before) + " before, " + std::to_string(after) + " after";
}

}  // namespace

void OperationState::Visit(const harness::Context& context, CUgraph graph) {
  std::size_t node_count = 0, edge_count = 0;
  Ask<decltype(cuGraphGetNodes)>(context, "cuGraphGetNodes", graph, nullptr, &node_count);
  Ask<GetEdges>(context, "cuGraphGetEdges", graph, nullptr, nullptr, &edge_count);
  std::vector<CUgraphNode> nodes(node_count), from(edge_count), to(edge_count);
  if (node_count > 0) {
    Ask<decltype(cuGraphGetNodes)>(context, "cuGraphGetNodes", graph, nodes.data(), &node_count);
  }
  if (edge_count > 0) {
    Ask<GetEdges>(context, "cuGraphGetEdges", graph, from.data(), to.data(), &edge_count);
  }
  GraphState state{graph, {}, {}};
  std::vector<CUgraph> children;
  for (const CUgraphNode node : nodes) {
    CUgraphNodeType type{};
    Ask<decltype(cuGraphNodeGetType)>(context, "cuGraphNodeGetType", node, &type);
    state.nodes.push_back({node, type, ParametersOf(context, node, type)});
    if (type == CU_GRAPH_NODE_TYPE_GRAPH) {
      children.push_back(reinterpret_cast<CUgraph>(state.nodes.back().parameters.front()));
    }
  }
  for (std::size_t index = 0; index < edge_count; ++index) {
    state.edges.emplace_back(from[index], to[index]);
  }
  std::sort(state.edges.begin(), state.edges.end());
  graphs_.push_back(std::move(state));
  for (const CUgraph child : children) {
    Visit(context, child);
  }
}

OperationState OperationState::Of(const harness::Context& context, const GraphDefinition& graph,
                                  std::span<const GraphNode> handles) {
  OperationState state;
  state.Visit(context, graph.raw());
  state.attachment_count_ = graph.attachment_count();
  for (const GraphNode& handle : handles) {
    HandleState entry{handle.raw(), {}};
    for (const OpaqueHandle& owner : handle.Owners()) {
      entry.owners.push_back(owner.get());
    }
    state.handles_.push_back(std::move(entry));
  }
  return state;
}

std::string OperationState::DifferenceFrom(const OperationState& before) const {
  if (graphs_.size() != before.graphs_.size()) {
    return Counts("graphs", before.graphs_.size(), graphs_.size());
  }
  for (std::size_t index = 0; index < graphs_.size(); ++index) {
    const GraphState& now = graphs_[index];
    const GraphState& then = before.graphs_[index];
    if (now.nodes.size() != then.nodes.size()) {
      return Counts("nodes", then.nodes.size(), now.nodes.size());
    }
    if (now.edges.size() != then.edges.size()) {
      return Counts("edges", then.edges.size(), now.edges.size());
    }
    if (now != then) {
      return "other nodes, parameters or edges in graph " + std::to_string(index);
    }
  }
  if (attachment_count_ != before.attachment_count_) {
    return Counts("nodes with owners", before.attachment_count_, attachment_count_);
  }
  return handles_ == before.handles_ ? "" : "a node handle names another node, or other owners";
}

void CheckUnchanged(harness::Context& context, const OperationState& before, const OperationState& after,
                    const std::string& why, harness::SourcePlace where) {
  const std::string difference = after.DifferenceFrom(before);
  context.Check(difference.empty(), "the graph is as it was before: " + why + " (" + difference + ")", where);
}

}  // namespace holdfast::scenarios
