// Device and pinned memory, which is host memory whose address is the device pointer, and the operations on it.
//
// Every operation looks its device addresses up in the table of allocations and holds the allocation while it runs: a
// use after free becomes CUDA_ERROR_LAUNCH_FAILED, as on a GPU, and never a write to memory of someone else.
#ifndef HOLDFAST_FAULT_MODEL_MEMORY_H_
#define HOLDFAST_FAULT_MODEL_MEMORY_H_

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace holdfast::fault::model {

inline constexpr std::size_t kDeviceMemoryBytes = std::size_t{8} << 30;

enum class MemoryKind : std::uint8_t {
  kDevice,
  kPinned,
  kGraph  // of a memory-allocation node; not for cuMemFree
};

class Allocation {
 public:
  Allocation(std::size_t size, MemoryKind kind);
  ~Allocation();
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;

  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(bytes_); }

  const std::size_t size;
  const MemoryKind kind;

 private:
  std::byte* const bytes_;
};

using AllocationPointer = std::shared_ptr<const Allocation>;

// Thread safety: all functions may be called from any thread.

// Throws Refusal{CUDA_ERROR_OUT_OF_MEMORY} when the device is full.
CUdeviceptr Allocate(std::size_t size, MemoryKind kind);

// Throws Refusal{CUDA_ERROR_INVALID_VALUE} unless an allocation of that kind starts there.
void Free(CUdeviceptr address, MemoryKind kind);
void FreeAll();

// The allocation that has all of [address, address + size); null if there is none.
AllocationPointer FindAllocation(CUdeviceptr address, std::size_t size);

std::size_t AllocatedBytes();
std::uint64_t LiveAllocations();

struct LinearCopy {
  std::uint64_t destination = 0;
  std::uint64_t source = 0;
  std::size_t bytes = 0;
  bool destination_is_device = false;
  bool source_is_device = false;
};

struct Fill {
  CUdeviceptr destination = 0;
  std::size_t pitch = 0;  // bytes from row to row; not used for one row
  std::uint32_t value = 0;
  std::uint32_t element_bytes = 1;
  std::size_t width = 0;  // in elements
  std::size_t height = 1;
};

// Whether the device side lies in live allocations.
bool InBounds(const LinearCopy& copy);
bool InBounds(const Fill& fill);

// False, with nothing written, if the memory is not allocated any more.
bool Run(const LinearCopy& copy);
bool Run(const Fill& fill);

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_MEMORY_H_
