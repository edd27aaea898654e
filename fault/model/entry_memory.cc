// Entry points: device and pinned memory, copies and fills, at once, on a stream, or into the graph that a stream
// captures.
#include <cuda.h>

#include "fault/model/call.h"
#include "fault/model/capture.h"
#include "fault/model/capture_mode.h"
#include "fault/model/context.h"
#include "fault/model/graph.h"
#include "fault/model/memory.h"
#include "fault/model/node_change.h"
#include "fault/model/stream.h"

namespace holdfast::fault::model {
namespace {

constexpr unsigned int kHostFlags =
    CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;

bool IsNothing(const LinearCopy& copy) { return copy.bytes == 0; }
bool IsNothing(const Fill& fill) { return fill.width == 0 || fill.height == 0; }
bool IsWellFormed(const LinearCopy& copy) { return copy.source != 0 && copy.destination != 0; }
bool IsWellFormed(const Fill& fill) {
  const bool has_rows = fill.height == 1 || fill.pitch >= fill.width * fill.element_bytes;
  return has_rows && fill.destination % fill.element_bytes == 0;
}

// Enqueues a copy or a fill. Throws Refusal{CUDA_ERROR_INVALID_VALUE} for device addresses that are not allocated.
template <typename Operation>
CompletionPointer SubmitOperation(const Operation& operation, Stream& stream) {
  if (IsNothing(operation)) return Submit(stream, StreamWork{});
  Require(IsWellFormed(operation) && InBounds(operation));
  StreamWork work;
  work.run = [operation] {
    if (!Run(operation)) {
      FailContext(CUDA_ERROR_LAUNCH_FAILED, "a copy or fill uses memory that was freed before it ran");
    }
  };
  return Submit(stream, std::move(work));
}

// The nodes that a capture makes of them. Those of fills take any address: the real driver looks at it when it runs.
CUDA_MEMCPY3D Describe(const LinearCopy& copy, bool is_unified) {
  const auto type = [is_unified](bool is_device) {
    return is_unified ? CU_MEMORYTYPE_UNIFIED : is_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  };
  CUDA_MEMCPY3D given{};
  given.srcMemoryType = type(copy.source_is_device);
  given.dstMemoryType = type(copy.destination_is_device);
  if (given.srcMemoryType == CU_MEMORYTYPE_HOST) {
    given.srcHost = reinterpret_cast<const void*>(copy.source);
  } else {
    given.srcDevice = copy.source;
  }
  if (given.dstMemoryType == CU_MEMORYTYPE_HOST) {
    given.dstHost = reinterpret_cast<void*>(copy.destination);
  } else {
    given.dstDevice = copy.destination;
  }
  given.WidthInBytes = copy.bytes;
  given.Height = 1;
  given.Depth = 1;
  return given;
}
NodeParameters NodeOf(const LinearCopy& copy, bool is_unified) {
  return MakeMemcpyNode(Describe(copy, is_unified), PrimaryContext());
}
NodeParameters NodeOf(const Fill& fill, bool) {
  Require(IsWellFormed(fill));
  return MemsetNode{fill, PrimaryContext()};
}

// A callback may enqueue a fill and may not enqueue a copy.
constexpr Rule RuleOf(const LinearCopy&) { return Rule::kNormal; }
constexpr Rule RuleOf(const Fill&) { return Rule::kInCallback; }

template <typename Operation>
CUresult Asynchronous(const char* name, const Operation& operation, CUstream stream, bool is_unified = false) {
  return Enter(name, RuleOf(operation), [&] {
    const StreamPointer target = RequireUsableStream(stream);
    if (IsNothing(operation) && IsCapturing(*target)) return;
    if (CaptureNode(*target, [&] { return NodeOf(operation, is_unified); })) return;
    SubmitOperation(operation, *target);
  });
}

template <typename Operation>
CUresult Synchronous(const char* name, const Operation& operation) {
  return Enter(name, Rule::kNormal, [&] {
    SubmitOperation(operation, *RequireUsableStream(nullptr))->Wait();
    RequireHealthyContext();
  });
}

LinearCopy ToDevice(CUdeviceptr destination, const void* source, std::size_t bytes) {
  return LinearCopy{destination, reinterpret_cast<std::uint64_t>(source), bytes, true, false};
}
LinearCopy ToHost(void* destination, CUdeviceptr source, std::size_t bytes) {
  return LinearCopy{reinterpret_cast<std::uint64_t>(destination), source, bytes, false, true};
}
LinearCopy OnDevice(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes) {
  return LinearCopy{destination, source, bytes, true, true};
}
// Each side is what its address is.
LinearCopy Unified(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes) {
  return LinearCopy{destination, source, bytes, FindAllocation(destination, bytes) != nullptr,
                    FindAllocation(source, bytes) != nullptr};
}
Fill FillOf(CUdeviceptr destination, std::uint32_t value, std::uint32_t element_bytes, std::size_t width) {
  return Fill{destination, 0, value, element_bytes, width, 1};
}

// Memory of a graph is free for the next launch of the graph from the call on.
void FreeOnStream(const AllocationPointer& memory, Stream& stream) {
  Require(memory->kind == MemoryKind::kDevice || memory->kind == MemoryKind::kGraph);
  StreamWork work;
  if (memory->kind == MemoryKind::kGraph) {
    MarkAllocated(*memory, false);
    work.run = [memory] { MakeUsable(*memory, false); };
  } else {
    work.run = [address = memory->address()] {
      try {
        Free(address, MemoryKind::kDevice);
      } catch (const Refusal&) {
        FailContext(CUDA_ERROR_LAUNCH_FAILED, "memory is freed twice, the second time on a stream");
      }
    };
  }
  Submit(stream, std::move(work));
}

// The node of a captured allocation; false if the stream does not capture. No node is made for no bytes, and what the
// real driver gives back for them is not known.
bool CaptureAllocation(Stream& stream, std::size_t size, CUdeviceptr* address) {
  return CaptureNodeOf(stream, [&](Graph& graph) {
    if (size == 0) throw Unmodelled{};
    CUDA_MEM_ALLOC_NODE_PARAMS given{};
    given.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    given.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    given.bytesize = size;
    std::shared_ptr<GraphMemory> memory = ReserveMemory(graph, given);
    *address = memory->allocation().address();
    return MemAllocNode{std::move(memory)};
  });
}

// The same for a free, which in a capture is one of memory that a node allocates.
bool CaptureFree(Stream& stream, CUdeviceptr address) {
  return CaptureNodeOf(stream, [&](Graph& graph) {
    const std::shared_ptr<GraphMemory> memory = RequireFreeable(graph, address);
    memory->freed_in.insert(graph.serial);
    return MemFreeNode{memory->allocation_pointer()};
  });
}

CUresult PointerAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  return Enter("cuPointerGetAttribute", Rule::kNormal, [&] {
    Require(data != nullptr);
    const AllocationPointer allocation = FindAllocation(address, 1);
    Require(allocation != nullptr);  // ordinary host memory is an invalid value
    switch (attribute) {
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *static_cast<unsigned int*>(data) =
            allocation->kind == MemoryKind::kPinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *static_cast<int*>(data) = 0;
        return;
      case CU_POINTER_ATTRIBUTE_CONTEXT:
        *static_cast<CUcontext*>(data) = PrimaryContext();
        return;
      case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *static_cast<CUdeviceptr*>(data) = address;
        return;
      case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        Require(allocation->kind == MemoryKind::kPinned);
        *static_cast<void**>(data) = reinterpret_cast<void*>(address);
        return;
      case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *static_cast<CUdeviceptr*>(data) = allocation->address();
        return;
      case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *static_cast<std::size_t*>(data) = allocation->size;
        return;
      case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *static_cast<int*>(data) = 0;
        return;
      case CU_POINTER_ATTRIBUTE_MAPPED:
        *static_cast<int*>(data) = 1;
        return;
      default:
        throw Unmodelled{};
    }
  });
}

}  // namespace

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t size) {
  return Enter(__func__, Rule::kUnsafe, [&] {
    Require(address != nullptr);
    RequireCurrentContext();
    *address = Allocate(size, MemoryKind::kDevice);
  });
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  return Enter(__func__, Rule::kUnsafe, [&] {
    RequireCurrentContext();
    if (address != 0) Free(address, MemoryKind::kDevice);
  });
}

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t size, CUstream stream) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(address != nullptr);
    RequireCurrentContext();
    const StreamPointer target = RequireUsableStream(stream);
    if (CaptureAllocation(*target, size, address)) return;
    RequireSafe();
    *address = Allocate(size, MemoryKind::kDevice);
  });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return Enter(__func__, Rule::kNormal, [&] {
    RequireCurrentContext();
    const StreamPointer target = RequireUsableStream(stream);
    if (CaptureFree(*target, address)) return;
    RequireSafe();
    const AllocationPointer allocation = FindAllocation(address, 1);
    Require(allocation != nullptr && allocation->address() == address);
    FreeOnStream(allocation, *target);
  });
}

CUresult cuMemHostAlloc(void** pointer, size_t size, unsigned int flags) {
  return Enter(__func__, Rule::kUnsafe, [&] {
    Require(pointer != nullptr && (flags & ~kHostFlags) == 0);
    RequireCurrentContext();
    *pointer = size == 0 ? nullptr : reinterpret_cast<void*>(Allocate(size, MemoryKind::kPinned));
  });
}

CUresult cuMemAllocHost_v2(void** pointer, size_t size) { return cuMemHostAlloc(pointer, size, 0); }

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* pointer, unsigned int flags) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(address != nullptr && flags == 0);
    const AllocationPointer memory = FindAllocation(reinterpret_cast<CUdeviceptr>(pointer), 1);
    Require(memory != nullptr && memory->kind == MemoryKind::kPinned);
    *address = reinterpret_cast<CUdeviceptr>(pointer);
  });
}

CUresult cuMemFreeHost(void* pointer) {
  return Enter(__func__, Rule::kUnsafe, [&] {
    RequireCurrentContext();
    if (pointer != nullptr) Free(reinterpret_cast<CUdeviceptr>(pointer), MemoryKind::kPinned);
  });
}

CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(free_bytes != nullptr && total_bytes != nullptr);
    RequireCurrentContext();
    *free_bytes = kDeviceMemoryBytes - AllocatedBytes();
    *total_bytes = kDeviceMemoryBytes;
  });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* size, CUdeviceptr address) {
  return Enter(__func__, Rule::kNormal, [&] {
    const AllocationPointer allocation = FindAllocation(address, 1);
    Require(allocation != nullptr, CUDA_ERROR_NOT_FOUND);
    if (base != nullptr) *base = allocation->address();
    if (size != nullptr) *size = allocation->size;
  });
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  return PointerAttribute(data, attribute, address);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr destination, const void* source, size_t bytes) {
  return Synchronous(__func__, ToDevice(destination, source, bytes));
}
CUresult cuMemcpyDtoH_v2(void* destination, CUdeviceptr source, size_t bytes) {
  return Synchronous(__func__, ToHost(destination, source, bytes));
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
  return Synchronous(__func__, OnDevice(destination, source, bytes));
}
CUresult cuMemcpy(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
  return Synchronous(__func__, Unified(destination, source, bytes));
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void* source, size_t bytes, CUstream stream) {
  return Asynchronous(__func__, ToDevice(destination, source, bytes), stream);
}
CUresult cuMemcpyDtoHAsync_v2(void* destination, CUdeviceptr source, size_t bytes, CUstream stream) {
  return Asynchronous(__func__, ToHost(destination, source, bytes), stream);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream) {
  return Asynchronous(__func__, OnDevice(destination, source, bytes), stream);
}
CUresult cuMemcpyAsync(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream) {
  return Asynchronous(__func__, Unified(destination, source, bytes), stream, true);
}

CUresult cuMemsetD8_v2(CUdeviceptr destination, unsigned char value, size_t count) {
  return Synchronous(__func__, FillOf(destination, value, 1, count));
}
CUresult cuMemsetD16_v2(CUdeviceptr destination, unsigned short value, size_t count) {
  return Synchronous(__func__, FillOf(destination, value, 2, count));
}
CUresult cuMemsetD32_v2(CUdeviceptr destination, unsigned int value, size_t count) {
  return Synchronous(__func__, FillOf(destination, value, 4, count));
}
CUresult cuMemsetD8Async(CUdeviceptr destination, unsigned char value, size_t count, CUstream stream) {
  return Asynchronous(__func__, FillOf(destination, value, 1, count), stream);
}
CUresult cuMemsetD16Async(CUdeviceptr destination, unsigned short value, size_t count, CUstream stream) {
  return Asynchronous(__func__, FillOf(destination, value, 2, count), stream);
}
CUresult cuMemsetD32Async(CUdeviceptr destination, unsigned int value, size_t count, CUstream stream) {
  return Asynchronous(__func__, FillOf(destination, value, 4, count), stream);
}

CUresult cuMemsetD2D8Async(CUdeviceptr destination, size_t pitch, unsigned char value, size_t width, size_t height,
                           CUstream stream) {
  return Asynchronous(__func__, Fill{destination, pitch, value, 1, width, height}, stream);
}
CUresult cuMemsetD2D16Async(CUdeviceptr destination, size_t pitch, unsigned short value, size_t width, size_t height,
                            CUstream stream) {
  return Asynchronous(__func__, Fill{destination, pitch, value, 2, width, height}, stream);
}
CUresult cuMemsetD2D32Async(CUdeviceptr destination, size_t pitch, unsigned int value, size_t width, size_t height,
                            CUstream stream) {
  return Asynchronous(__func__, Fill{destination, pitch, value, 4, width, height}, stream);
}

}  // extern "C"
}  // namespace holdfast::fault::model
