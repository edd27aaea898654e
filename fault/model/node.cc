#include "fault/model/node.h"

#include "fault/model/call.h"
#include "fault/model/context.h"
#include "fault/model/graph.h"

namespace holdfast::fault::model {
namespace {

constexpr std::uint64_t kBlockThreadsMax = 1024;

bool IsDeviceSide(CUmemorytype type) {
  if (type == CU_MEMORYTYPE_ARRAY) throw Unmodelled{};
  Require(type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED);
  return type == CU_MEMORYTYPE_DEVICE;
}

// A unified address is a device address if it is one of ours.
std::uint64_t Address(CUmemorytype type, const void* host, CUdeviceptr device) {
  return type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uint64_t>(host) : device;
}

bool IsDeviceAddress(CUmemorytype type, std::uint64_t address, std::size_t bytes) {
  if (IsDeviceSide(type)) return true;
  return type == CU_MEMORYTYPE_UNIFIED && FindAllocation(address, bytes) != nullptr;
}

}  // namespace

// Here, where Graph is complete.
Node::~Node() = default;

// The context may have been reset since, and the memory with it.
GraphMemory::~GraphMemory() {
  if (const AllocationPointer memory = FindAllocation(address_, 1); memory && memory->address() == address_) {
    Free(address_, MemoryKind::kGraph);
  }
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

void RequirePermitted(CUgraphNodeType type) {
  const bool permitted = type == CU_GRAPH_NODE_TYPE_EMPTY || type == CU_GRAPH_NODE_TYPE_HOST ||
                         type == CU_GRAPH_NODE_TYPE_EVENT_RECORD || type == CU_GRAPH_NODE_TYPE_WAIT_EVENT;
  if (!permitted) RequireNoCallback();
}

KernelNode MakeKernelNode(const CUDA_KERNEL_NODE_PARAMS_v2& given) {
  Require(given.func != nullptr || given.kern != nullptr, CUDA_ERROR_INVALID_HANDLE);
  Require(given.gridDimX > 0 && given.gridDimY > 0 && given.gridDimZ > 0);
  Require(given.blockDimX > 0 && given.blockDimY > 0 && given.blockDimZ > 0);
  Require(std::uint64_t{given.blockDimX} * given.blockDimY * given.blockDimZ <= kBlockThreadsMax);
  KernelNode node;
  node.kernel = given.kern != nullptr ? RequireKernel(given.kern) : RequireFunction(given.func);
  node.arguments = KernelArguments(*node.kernel, given.kernelParams, given.extra);
  node.shape = LaunchShape{{given.gridDimX, given.gridDimY, given.gridDimZ},
                           {given.blockDimX, given.blockDimY, given.blockDimZ},
                           given.sharedMemBytes};
  node.function = node.kernel->function;
  node.by_kernel = given.kern;
  node.context = given.ctx != nullptr ? given.ctx : PrimaryContext();
  return node;
}

MemsetNode MakeMemsetNode(const CUDA_MEMSET_NODE_PARAMS_v2& given) {
  Require(given.elementSize == 1 || given.elementSize == 2 || given.elementSize == 4);
  Require(given.width > 0 && given.height > 0);
  RequireContext(given.ctx);
  MemsetNode node;
  node.fill = Fill{given.dst, given.pitch, given.value, given.elementSize, given.width, given.height};
  Require(given.height == 1 || given.pitch >= given.width * given.elementSize);
  Require(given.dst % given.elementSize == 0);
  Require(InBounds(node.fill));
  node.context = given.ctx;
  return node;
}

MemcpyNode MakeMemcpyNode(const CUDA_MEMCPY3D& given, CUcontext context) {
  RequireContext(context);
  IsDeviceSide(given.srcMemoryType);
  IsDeviceSide(given.dstMemoryType);
  Require(given.WidthInBytes > 0 && given.Height > 0 && given.Depth > 0);
  if (given.Height != 1 || given.Depth != 1) throw Unmodelled{};
  if (given.srcY != 0 || given.srcZ != 0 || given.dstY != 0 || given.dstZ != 0) throw Unmodelled{};
  MemcpyNode node;
  node.copy.bytes = given.WidthInBytes;
  node.copy.source = Address(given.srcMemoryType, given.srcHost, given.srcDevice) + given.srcXInBytes;
  node.copy.destination = Address(given.dstMemoryType, given.dstHost, given.dstDevice) + given.dstXInBytes;
  Require(node.copy.source != 0 && node.copy.destination != 0);
  node.copy.source_is_device = IsDeviceAddress(given.srcMemoryType, node.copy.source, node.copy.bytes);
  node.copy.destination_is_device = IsDeviceAddress(given.dstMemoryType, node.copy.destination, node.copy.bytes);
  Require(InBounds(node.copy));
  node.parameters = given;
  node.context = context;
  return node;
}

HostNode MakeHostNode(CUhostFn function, void* payload) {
  Require(function != nullptr);
  return HostNode{function, payload};
}

EventPointer RequireNodeEvent(CUevent event) { return RequireEvent(event, CUDA_ERROR_INVALID_VALUE); }

NodeParameters MakeParameters(const CUgraphNodeParams& given) {
  switch (given.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      const CUDA_KERNEL_NODE_PARAMS_v3& kernel = given.kernel;
      return MakeKernelNode(CUDA_KERNEL_NODE_PARAMS_v2{
          kernel.func, kernel.gridDimX, kernel.gridDimY, kernel.gridDimZ, kernel.blockDimX, kernel.blockDimY,
          kernel.blockDimZ, kernel.sharedMemBytes, kernel.kernelParams, kernel.extra, kernel.kern, kernel.ctx});
    }
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return MakeMemsetNode(given.memset);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
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

CUDA_KERNEL_NODE_PARAMS_v2 Describe(const KernelNode& node) {
  CUDA_KERNEL_NODE_PARAMS_v2 result{};
  result.func = node.function;
  result.kern = node.by_kernel;
  result.ctx = node.context;
  result.gridDimX = node.shape.grid[0];
  result.gridDimY = node.shape.grid[1];
  result.gridDimZ = node.shape.grid[2];
  result.blockDimX = node.shape.block[0];
  result.blockDimY = node.shape.block[1];
  result.blockDimZ = node.shape.block[2];
  result.sharedMemBytes = node.shape.shared_memory_bytes;
  result.kernelParams = node.arguments.pointers();
  return result;
}

CUDA_MEMSET_NODE_PARAMS_v2 Describe(const MemsetNode& node) {
  return CUDA_MEMSET_NODE_PARAMS_v2{node.fill.destination, node.fill.pitch,  node.fill.value, node.fill.element_bytes,
                                    node.fill.width,       node.fill.height, node.context};
}

}  // namespace holdfast::fault::model
