// Device and pinned memory, which is host memory whose address is the device pointer, and the operations on it.
//
// Every operation looks its device addresses up in the table of allocations and holds the allocation while it runs: a
// use after free becomes CUDA_ERROR_LAUNCH_FAILED, as on a GPU, and never a write to memory of someone else.
//
// Memory of graphs has an address from when the node that allocates it is added, and is allocated by each launch of the
// node until it is freed. Two orders count: that of the calls, which decides what a call answers, and that in which
// work runs, which decides what the work may touch.
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
  kGraph,  // of a memory-allocation node
  kArray   // of an array; it has no address for the caller
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

  // Of memory of a graph, changed by the functions below alone, with the lock of the table held.
  struct GraphState {
    bool reserved = true;    // a node, or an executable that was made from it, may still allocate it
    bool allocated = false;  // in the order of calls
    bool usable = false;     // in the order of work
  };
  mutable GraphState graph_state;

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

// The allocation that has all of [address, address + size) now, in the order of calls; null if there is none.
AllocationPointer FindAllocation(CUdeviceptr address, std::size_t size);

// The same with memory of graphs that is not allocated now: for nodes, which may run once it is.
AllocationPointer FindReserved(CUdeviceptr address, std::size_t size);

// The same in the order of work.
AllocationPointer FindUsable(CUdeviceptr address, std::size_t size);

// An address for a node that allocates. Its memory goes when it is neither reserved nor allocated.
AllocationPointer ReserveGraphMemory(std::size_t size);
void EndReservation(const Allocation& memory);

// Whether a call that frees `address` at once, or on a stream, may do so: memory of a graph, allocated by calls so far.
bool IsAllocatedByGraph(CUdeviceptr address);

// The two orders, one after the other: first the call is made, then the work runs.
bool IsAllocated(const Allocation& memory);
void MarkAllocated(const Allocation& memory, bool allocated);
void MakeUsable(const Allocation& memory, bool usable);

// What the driver's pool for graphs holds: it grows with what is allocated, and shrinks when it is trimmed.
struct GraphPool {
  std::size_t bytes = 0;
  std::size_t used_bytes_max = 0;
  std::size_t reserved_bytes_max = 0;
};
GraphPool GraphPoolNow();
void TrimGraphPool();
void ResetGraphPoolMax(bool used);

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

// Whether the device side is allocated, in the order of calls.
bool InBounds(const LinearCopy& copy);
bool InBounds(const Fill& fill);

// Whether a node may fill that: memory of graphs need not be allocated yet.
bool IsReserved(const Fill& fill);

// False, with nothing written, if the memory is not allocated any more.
bool Run(const LinearCopy& copy);
bool Run(const Fill& fill);

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_MEMORY_H_
