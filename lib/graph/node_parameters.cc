#include "lib/graph/node_parameters.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "lib/driver/driver.h"
#include "lib/driver/status.h"

namespace holdfast::graph {
namespace {

using driver::Check;
using driver::GetDriver;

// One side of a CUDA_MEMCPY3D, whose members have the same meaning on both.
struct Side {
  CUmemorytype type = CU_MEMORYTYPE_DEVICE;
  std::uintptr_t address = 0;
  std::size_t pitch_bytes = 0;
  std::size_t height = 0;
};

CUmemorytype TypeOf(MemoryOperand::Kind kind) {
  switch (kind) {
    case MemoryOperand::Kind::kHost:
      return CU_MEMORYTYPE_HOST;
    case MemoryOperand::Kind::kArray:
      return CU_MEMORYTYPE_ARRAY;
    case MemoryOperand::Kind::kDevice:
      break;
  }
  return CU_MEMORYTYPE_DEVICE;
}

// Rows in linear memory need a pitch as soon as there are several, slices a height; a single row has neither.
Side MakeSide(const CopySide& side, const CopyParameters& copy, const char* name) {
  Side made{TypeOf(side.memory.kind), side.memory.address};
  const bool has_rows = copy.height > 1 || copy.depth > 1 || side.y > 0 || side.z > 0;
  if (made.type == CU_MEMORYTYPE_ARRAY || !has_rows) {
    return made;
  }
  made.pitch_bytes = side.pitch_bytes != 0 ? side.pitch_bytes : copy.width_bytes;
  made.height = side.height != 0 ? side.height : copy.height;
  if (made.pitch_bytes < side.x_bytes + copy.width_bytes) {
    throw std::invalid_argument("a copy's " + std::string(name) + ": rows that begin at " +
                                std::to_string(side.x_bytes) + " and are " + std::to_string(copy.width_bytes) +
                                " bytes wide need a larger pitch_bytes than " + std::to_string(made.pitch_bytes));
  }
  const bool has_slices = copy.depth > 1 || side.z > 0;
  if (has_slices && made.height < side.y + copy.height) {
    throw std::invalid_argument("a copy's " + std::string(name) + ": slices that begin at row " +
                                std::to_string(side.y) + " and have " + std::to_string(copy.height) +
                                " rows need a larger height than " + std::to_string(made.height));
  }
  // Of a single slice the driver wants nothing said, or enough.
  if (!has_slices && side.height == 0) {
    made.height = 0;
  }
  return made;
}

MemoryOperand ReadOperand(CUmemorytype type, CUdeviceptr device, const void* host, CUarray array) {
  switch (type) {
    case CU_MEMORYTYPE_HOST:
      return {MemoryOperand::Kind::kHost, reinterpret_cast<std::uintptr_t>(host), nullptr};
    case CU_MEMORYTYPE_ARRAY:
      return {MemoryOperand::Kind::kArray, reinterpret_cast<std::uintptr_t>(array), nullptr};
    default:
      // A unified address, which captured copies have, stands where a device address does.
      return {MemoryOperand::Kind::kDevice, static_cast<std::uintptr_t>(device), nullptr};
  }
}

void RequireFits(const MemsetParameters& parameters) {
  const unsigned size_bytes = parameters.element_size_bytes;
  if (size_bytes != 1 && size_bytes != 2 && size_bytes != 4) {
    throw std::invalid_argument("a memset's element_size_bytes is " + std::to_string(size_bytes) +
                                "; it must be 1, 2 or 4");
  }
  if (size_bytes < 4 && parameters.value >> (8 * size_bytes) != 0) {
    throw std::invalid_argument("a memset's value " + std::to_string(parameters.value) + " does not fit elements of " +
                                std::to_string(size_bytes) + " bytes");
  }
}

}  // namespace

CUcontext CurrentContext() {
  CUcontext context = nullptr;
  Check("cuCtxGetCurrent", GetDriver().cuCtxGetCurrent(&context), "asking for the current context");
  return context;
}

std::vector<OpaqueHandle> KernelOwners(OpaqueHandle kernel, std::span<const OpaqueHandle> arguments) {
  std::vector<OpaqueHandle> owners;
  owners.reserve(1 + arguments.size());
  owners.push_back(std::move(kernel));
  owners.insert(owners.end(), arguments.begin(), arguments.end());
  return owners;
}

CUDA_KERNEL_NODE_PARAMS MakeKernel(CUkernel kernel, const LaunchConfiguration& configuration, void** arguments) {
  CUDA_KERNEL_NODE_PARAMS parameters{};
  parameters.kern = kernel;
  parameters.kernelParams = arguments;
  SetShape(parameters, configuration);
  return parameters;
}

void SetShape(CUDA_KERNEL_NODE_PARAMS& parameters, const LaunchConfiguration& configuration) {
  parameters.gridDimX = configuration.grid[0];
  parameters.gridDimY = configuration.grid[1];
  parameters.gridDimZ = configuration.grid[2];
  parameters.blockDimX = configuration.block[0];
  parameters.blockDimY = configuration.block[1];
  parameters.blockDimZ = configuration.block[2];
  parameters.sharedMemBytes = configuration.shared_memory_bytes;
}

void GetShape(const CUDA_KERNEL_NODE_PARAMS& parameters, LaunchConfiguration& configuration) {
  configuration.grid[0] = parameters.gridDimX;
  configuration.grid[1] = parameters.gridDimY;
  configuration.grid[2] = parameters.gridDimZ;
  configuration.block[0] = parameters.blockDimX;
  configuration.block[1] = parameters.blockDimY;
  configuration.block[2] = parameters.blockDimZ;
  configuration.shared_memory_bytes = parameters.sharedMemBytes;
}

std::optional<std::vector<std::size_t>> ParameterSizes(CUkernel kernel) {
  const auto& ask = GetDriver().cuKernelGetParamInfo;
  if (kernel == nullptr || !ask.available()) {
    return std::nullopt;
  }
  std::vector<std::size_t> sizes_bytes;
  while (true) {
    std::size_t offset_bytes = 0;
    std::size_t size_bytes = 0;
    const CUresult result = ask(kernel, sizes_bytes.size(), &offset_bytes, &size_bytes);
    // Without a current context, or with a driver that lacks the answer, there is nothing to say.
    if (result == CUDA_ERROR_NOT_SUPPORTED || result == CUDA_ERROR_INVALID_CONTEXT) {
      return std::nullopt;
    }
    // One further than there are: that is how the driver says that there are no more.
    if (result == CUDA_ERROR_INVALID_VALUE) {
      return sizes_bytes;
    }
    Check("cuKernelGetParamInfo", result, "asking for a kernel's parameters");
    sizes_bytes.push_back(size_bytes);
  }
}

void CheckArguments(CUkernel kernel, const KernelArguments& arguments) {
  const std::optional<std::vector<std::size_t>> wanted = ParameterSizes(kernel);
  if (!wanted) {
    return;
  }
  const std::vector<std::size_t>& given = arguments.sizes_bytes();
  if (given.size() != wanted->size()) {
    throw std::invalid_argument("the kernel takes " + std::to_string(wanted->size()) + " arguments, not " +
                                std::to_string(given.size()));
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] != (*wanted)[i]) {
      throw std::invalid_argument("argument " + std::to_string(i) + " of the kernel has " +
                                  std::to_string((*wanted)[i]) + " bytes, not " + std::to_string(given[i]));
    }
  }
}

CUDA_MEMCPY3D MakeMemcpy(const MemoryOperand& destination, const MemoryOperand& source, std::size_t size_bytes) {
  return MakeMemcpy(
      CopyParameters{.destination = {.memory = destination}, .source = {.memory = source}, .width_bytes = size_bytes});
}

CUDA_MEMCPY3D MakeMemcpy(const CopyParameters& copy) {
  const Side source = MakeSide(copy.source, copy, "source");
  const Side destination = MakeSide(copy.destination, copy, "destination");
  CUDA_MEMCPY3D made{};
  made.srcXInBytes = copy.source.x_bytes;
  made.srcY = copy.source.y;
  made.srcZ = copy.source.z;
  made.srcMemoryType = source.type;
  made.srcPitch = source.pitch_bytes;
  made.srcHeight = source.height;
  made.dstXInBytes = copy.destination.x_bytes;
  made.dstY = copy.destination.y;
  made.dstZ = copy.destination.z;
  made.dstMemoryType = destination.type;
  made.dstPitch = destination.pitch_bytes;
  made.dstHeight = destination.height;
  // Of the three ways to name memory the driver looks at the one that the type says.
  switch (source.type) {
    case CU_MEMORYTYPE_HOST:
      made.srcHost = reinterpret_cast<const void*>(source.address);
      break;
    case CU_MEMORYTYPE_ARRAY:
      made.srcArray = reinterpret_cast<CUarray>(source.address);
      break;
    default:
      made.srcDevice = source.address;
  }
  switch (destination.type) {
    case CU_MEMORYTYPE_HOST:
      made.dstHost = reinterpret_cast<void*>(destination.address);
      break;
    case CU_MEMORYTYPE_ARRAY:
      made.dstArray = reinterpret_cast<CUarray>(destination.address);
      break;
    default:
      made.dstDevice = destination.address;
  }
  made.WidthInBytes = copy.width_bytes;
  made.Height = copy.height;
  made.Depth = copy.depth;
  return made;
}

CopyParameters ReadMemcpy(const CUDA_MEMCPY3D& copy) {
  CopyParameters read{
      .destination = {.memory = ReadOperand(copy.dstMemoryType, copy.dstDevice, copy.dstHost, copy.dstArray)},
      .source = {.memory = ReadOperand(copy.srcMemoryType, copy.srcDevice, copy.srcHost, copy.srcArray)}};
  read.destination.x_bytes = copy.dstXInBytes;
  read.destination.y = copy.dstY;
  read.destination.z = copy.dstZ;
  read.destination.pitch_bytes = copy.dstPitch;
  read.destination.height = copy.dstHeight;
  read.source.x_bytes = copy.srcXInBytes;
  read.source.y = copy.srcY;
  read.source.z = copy.srcZ;
  read.source.pitch_bytes = copy.srcPitch;
  read.source.height = copy.srcHeight;
  read.width_bytes = copy.WidthInBytes;
  read.height = copy.Height;
  read.depth = copy.Depth;
  return read;
}

bool IsPlainCopy(const CUDA_MEMCPY3D& copy) {
  const bool has_offsets = copy.srcXInBytes != 0 || copy.srcY != 0 || copy.srcZ != 0 || copy.srcLOD != 0 ||
                           copy.dstXInBytes != 0 || copy.dstY != 0 || copy.dstZ != 0 || copy.dstLOD != 0;
  const bool has_arrays = copy.srcMemoryType == CU_MEMORYTYPE_ARRAY || copy.dstMemoryType == CU_MEMORYTYPE_ARRAY;
  return copy.Height == 1 && copy.Depth == 1 && !has_offsets && !has_arrays;
}

CUDA_MEMSET_NODE_PARAMS MakeMemset(const MemoryOperand& destination, const MemsetParameters& parameters) {
  if (destination.kind != MemoryOperand::Kind::kDevice) {
    throw std::invalid_argument("a memset node needs a device address as its target");
  }
  RequireFits(parameters);
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = destination.address;
  fill.value = parameters.value;
  fill.elementSize = parameters.element_size_bytes;
  fill.width = parameters.width_elements;
  fill.height = parameters.height;
  fill.pitch = parameters.pitch_bytes;
  return fill;
}

FillParameters ReadMemset(const CUDA_MEMSET_NODE_PARAMS& fill) {
  return {.destination = MemoryOperand::Device(fill.dst, nullptr),
          .pattern = {.value = fill.value,
                      .element_size_bytes = fill.elementSize,
                      .width_elements = fill.width,
                      .height = fill.height,
                      .pitch_bytes = fill.pitch}};
}

CUgraphNodeParams AsNodeParameters(const CUDA_KERNEL_NODE_PARAMS& kernel) {
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_KERNEL;
  parameters.kernel.func = kernel.func;
  parameters.kernel.kern = kernel.kern;
  parameters.kernel.ctx = kernel.ctx;
  parameters.kernel.gridDimX = kernel.gridDimX;
  parameters.kernel.gridDimY = kernel.gridDimY;
  parameters.kernel.gridDimZ = kernel.gridDimZ;
  parameters.kernel.blockDimX = kernel.blockDimX;
  parameters.kernel.blockDimY = kernel.blockDimY;
  parameters.kernel.blockDimZ = kernel.blockDimZ;
  parameters.kernel.sharedMemBytes = kernel.sharedMemBytes;
  parameters.kernel.kernelParams = kernel.kernelParams;
  parameters.kernel.extra = kernel.extra;
  return parameters;
}

CUgraphNodeParams AsNodeParameters(const CUDA_MEMCPY3D& copy, CUcontext context) {
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  parameters.memcpy.copyCtx = context;
  parameters.memcpy.copyParams = copy;
  return parameters;
}

CUgraphNodeParams AsNodeParameters(const CUDA_MEMSET_NODE_PARAMS& fill, CUcontext context) {
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_MEMSET;
  parameters.memset.dst = fill.dst;
  parameters.memset.pitch = fill.pitch;
  parameters.memset.value = fill.value;
  parameters.memset.elementSize = fill.elementSize;
  parameters.memset.width = fill.width;
  parameters.memset.height = fill.height;
  parameters.memset.ctx = context;
  return parameters;
}

CUgraphNodeParams HostNodeParameters(const HostCallback& callback) {
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_HOST;
  parameters.host.fn = callback.function;
  parameters.host.userData = callback.user_data;
  return parameters;
}

CUgraphNodeParams EventRecordNodeParameters(const Event& event) {
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  parameters.eventRecord.event = event.raw();
  return parameters;
}

CUgraphNodeParams EventWaitNodeParameters(const Event& event) {
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
  parameters.eventWait.event = event.raw();
  return parameters;
}

CUgraphNodeParams ChildGraphNodeParameters(CUgraph source, CUgraphChildGraphNodeOwnership ownership) {
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_GRAPH;
  parameters.graph.graph = source;
  parameters.graph.ownership = ownership;
  return parameters;
}

const Event& RequireEvent(const EventHandle& event, const char* operation) {
  if (event == nullptr) {
    throw std::invalid_argument(std::string(operation) + ": the event is null");
  }
  return *event;
}

}  // namespace holdfast::graph
