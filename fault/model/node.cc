#include "fault/model/node.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "fault/model/call.h"
#include "fault/model/context.h"
#include "fault/model/graph.h"

namespace holdfast::fault::model {
namespace {

std::size_t SizeOfMember(const CUgraphNodeParams& given) {
  switch (given.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return sizeof(given.kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return sizeof(given.memcpy);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return sizeof(given.memset);
    case CU_GRAPH_NODE_TYPE_HOST:
      return sizeof(given.host);
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return sizeof(given.graph);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return sizeof(given.eventRecord);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return sizeof(given.eventWait);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return sizeof(given.alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return sizeof(given.free);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return sizeof(given.conditional);
    default:
      return 0;
  }
}

CUDA_KERNEL_NODE_PARAMS_v2 Narrow(const CUDA_KERNEL_NODE_PARAMS_v3& given) {
  return CUDA_KERNEL_NODE_PARAMS_v2{given.func,         given.gridDimX,  given.gridDimY,  given.gridDimZ,
                                    given.blockDimX,    given.blockDimY, given.blockDimZ, given.sharedMemBytes,
                                    given.kernelParams, given.extra,     given.kern,      given.ctx};
}

}  // namespace

// Here, where Graph is complete. A node that goes alone has no edges any more; one that goes with its graph ends those
// that come from it, and what they lead to goes too.
Node::~Node() {
  for (const Edge* edge : dependents.edges()) delete edge;
}

CUgraphNodeType TypeOf(const NodeParameters& parameters) {
  static constexpr CUgraphNodeType kTypes[] = {
      CU_GRAPH_NODE_TYPE_EMPTY,      CU_GRAPH_NODE_TYPE_KERNEL,   CU_GRAPH_NODE_TYPE_MEMSET,
      CU_GRAPH_NODE_TYPE_MEMCPY,     CU_GRAPH_NODE_TYPE_HOST,     CU_GRAPH_NODE_TYPE_EVENT_RECORD,
      CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_GRAPH,    CU_GRAPH_NODE_TYPE_CONDITIONAL,
      CU_GRAPH_NODE_TYPE_MEM_ALLOC,  CU_GRAPH_NODE_TYPE_MEM_FREE,
  };
  static_assert(std::size(kTypes) == std::variant_size_v<NodeParameters>);
  return kTypes[parameters.index()];
}

void RequireUnusedZero(const CUgraphNodeParams& given) {
  Require(given.reserved2 == 0);
  for (const int word : given.reserved0) Require(word == 0);
  const auto* member = reinterpret_cast<const std::byte*>(given.reserved1);
  const bool is_clean = std::all_of(member + SizeOfMember(given), member + sizeof(given.reserved1),
                                    [](std::byte byte) { return byte == std::byte{0}; });
  Require(is_clean);
}

bool IsFixed(const NodeParameters& parameters) {
  return std::holds_alternative<ConditionalNode>(parameters) || std::holds_alternative<MemAllocNode>(parameters) ||
         std::holds_alternative<MemFreeNode>(parameters);
}

void RequirePermitted(CUgraphNodeType type) {
  const bool permitted = type == CU_GRAPH_NODE_TYPE_EMPTY || type == CU_GRAPH_NODE_TYPE_HOST ||
                         type == CU_GRAPH_NODE_TYPE_EVENT_RECORD || type == CU_GRAPH_NODE_TYPE_WAIT_EVENT ||
                         type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
  if (!permitted) RequireNoCallback();
}

KernelNode MakeKernelNode(const CUDA_KERNEL_NODE_PARAMS_v2& given, std::shared_ptr<const KernelAttributes> attributes) {
  Require(given.func != nullptr || given.kern != nullptr, CUDA_ERROR_INVALID_HANDLE);
  KernelNode node;
  node.kernel = given.kern != nullptr ? RequireKernel(given.kern) : RequireFunction(given.func);
  node.shape = LaunchShape{{given.gridDimX, given.gridDimY, given.gridDimZ},
                           {given.blockDimX, given.blockDimY, given.blockDimZ},
                           given.sharedMemBytes};
  node.attributes = std::move(attributes);
  RequireShape(*node.kernel, node.shape);
  RequireAttributes(*node.kernel, node.shape, AttributesOf(node));
  node.arguments = KernelArguments(*node.kernel, given.kernelParams, given.extra);
  node.by_kernel = given.kern;
  node.context = given.ctx != nullptr ? given.ctx : PrimaryContext();
  return node;
}

const KernelAttributes& AttributesOf(const KernelNode& node) {
  static const KernelAttributes kDefaults;
  return node.attributes == nullptr ? kDefaults : *node.attributes;
}

MemsetNode MakeMemsetNode(const CUDA_MEMSET_NODE_PARAMS_v2& given) {
  Require(given.elementSize == 1 || given.elementSize == 2 || given.elementSize == 4);
  Require(given.width > 0 && given.height > 0);
  RequireNodeContext(given.ctx);
  MemsetNode node;
  node.fill = Fill{given.dst, given.pitch, given.value, given.elementSize, given.width, given.height};
  Require(given.height == 1 || given.pitch >= given.width * given.elementSize);
  Require(given.dst % given.elementSize == 0);
  Require(IsReserved(node.fill));
  node.context = given.ctx;
  return node;
}

MemcpyNode MakeMemcpyNode(const CUDA_MEMCPY3D& given, CUcontext context) {
  RequireNodeContext(context);
  auto description = std::make_shared<MemcpyNode::Description>();
  description->given = given;
  Require(given.WidthInBytes > 0 && given.Height > 0 && given.Depth > 0);
  description->copy = MakeBoxCopy(given);
  Require(IsReserved(description->copy));
  return MemcpyNode{std::move(description), context};
}

HostNode MakeHostNode(CUhostFn function, void* payload) {
  Require(function != nullptr);
  return HostNode{function, payload};
}

EventPointer RequireNodeEvent(CUevent event) { return RequireEvent(event, CUDA_ERROR_INVALID_VALUE); }

NodeParameters MakeParameters(const CUgraphNodeParams& given) {
  switch (given.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return MakeKernelNode(Narrow(given.kernel));
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return MakeMemsetNode(given.memset);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      Require(given.memcpy.flags == 0 && given.memcpy.reserved == 0);
      return MakeMemcpyNode(given.memcpy.copyParams, given.memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_HOST:
      return MakeHostNode(given.host.fn, given.host.userData);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return EventRecordNode{RequireNodeEvent(given.eventRecord.event)};
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return EventWaitNode{RequireNodeEvent(given.eventWait.event)};
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return EmptyNode{};
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      throw Unmodelled{};
    default:
      throw Refusal{CUDA_ERROR_INVALID_VALUE};
  }
}

NodeParameters MakeParameters(const CUgraphNodeParams& given, const NodeParameters& current) {
  const auto* kernel = std::get_if<KernelNode>(&current);
  if (kernel == nullptr || given.type != CU_GRAPH_NODE_TYPE_KERNEL) return MakeParameters(given);
  return MakeKernelNode(Narrow(given.kernel), kernel->attributes);
}

CUDA_KERNEL_NODE_PARAMS_v2 Describe(const KernelNode& node) {
  CUDA_KERNEL_NODE_PARAMS_v2 result{};
  result.func = node.kernel->function;
  result.kern = node.by_kernel;
  result.ctx = node.context;
  result.gridDimX = node.shape.grid[0];
  result.gridDimY = node.shape.grid[1];
  result.gridDimZ = node.shape.grid[2];
  result.blockDimX = node.shape.block[0];
  result.blockDimY = node.shape.block[1];
  result.blockDimZ = node.shape.block[2];
  result.sharedMemBytes = node.shape.shared_memory_bytes;
  result.kernelParams = node.arguments.given_pointers();
  result.extra = node.arguments.given_extra();
  return result;
}

CUDA_MEMSET_NODE_PARAMS_v2 Describe(const MemsetNode& node) {
  return CUDA_MEMSET_NODE_PARAMS_v2{node.fill.destination, node.fill.pitch,  node.fill.value, node.fill.element_bytes,
                                    node.fill.width,       node.fill.height, node.context};
}

}  // namespace holdfast::fault::model
