// What a node works on: addresses, callbacks, kernel arguments, each with the owners that keep it valid.
//
// An owner is whatever must live as long as the node's parameters are used by anything: the graph, a clone, an
// executable, a launch. A null owner means that the caller vouches for the resource.
#ifndef HOLDFAST_LIB_GRAPH_OPERANDS_H_
#define HOLDFAST_LIB_GRAPH_OPERANDS_H_

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "lib/handles/opaque_handle.h"
#include "lib/handles/resources.h"

namespace holdfast {

// One side of a copy, or the target of a memset.
struct MemoryOperand {
  enum class Kind { kDevice, kHost, kArray };

  // Offsets are in bytes. The whole allocation is kept, not a view of it.
  static MemoryOperand Device(const DeviceMemoryHandle& memory, std::size_t offset_bytes = 0);
  static MemoryOperand Device(CUdeviceptr address, OpaqueHandle owner);
  static MemoryOperand Host(void* address, OpaqueHandle owner);
  static MemoryOperand Array(const ArrayHandle& array);
  static MemoryOperand Array(CUarray array, OpaqueHandle owner);

  Kind kind;
  std::uintptr_t address;  // of an array: its handle
  OpaqueHandle owner;
};

// Where in a side's memory a copy of many rows begins, and how its rows lie. Pitch and height are unused for arrays,
// which know their own.
struct CopySide {
  MemoryOperand memory;
  std::size_t x_bytes = 0;
  std::size_t y = 0;            // rows
  std::size_t z = 0;            // slices
  std::size_t pitch_bytes = 0;  // from row to row; 0: the copy's width
  std::size_t height = 0;       // rows in a slice; 0: the copy's height
};

// A copy of `depth` slices of `height` rows of `width_bytes`.
struct CopyParameters {
  CopySide destination;
  CopySide source;
  std::size_t width_bytes = 0;
  std::size_t height = 1;
  std::size_t depth = 1;
};

// A fill of `height` rows of `width_elements`, rows `pitch_bytes` apart (unused when height is 1).
struct MemsetParameters {
  unsigned value = 0;
  unsigned element_size_bytes = 1;  // 1, 2 or 4
  std::size_t width_elements = 0;
  std::size_t height = 1;
  std::size_t pitch_bytes = 0;
};

// A fill with its target.
struct FillParameters {
  MemoryOperand destination;
  MemsetParameters pattern;
};

// Memory that a launch allocates: of which kind, where, and which other devices may read and write it.
struct AllocationParameters {
  std::size_t size_bytes = 0;
  CUmemAllocationType type = CU_MEM_ALLOCATION_TYPE_PINNED;
  CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  std::vector<CUdevice> peers;
};

// A function that runs on a driver thread at each launch. It must not call CUDA.
struct HostCallback {
  // Any callable; each launch runs the same copy, which the node keeps. An exception that leaves it is written to
  // stderr and goes no further.
  static HostCallback FromFunction(std::function<void()> function);

  CUhostFn function = nullptr;
  void* user_data = nullptr;
  OpaqueHandle function_owner;
  OpaqueHandle user_data_owner;
};

struct LaunchConfiguration {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_memory_bytes = 0;
  unsigned cluster[3] = {0, 0, 0};  // blocks in a cluster; zeroes: no clusters of its own
  bool cooperative = false;
};

// The arguments of a kernel. The driver copies their values when the node is made; the owners keep what the values
// point to.
class KernelArguments {
 public:
  // REQUIRES: `value` has the type of the kernel's next parameter.
  template <typename Value>
  KernelArguments& Add(const Value& value) {
    static_assert(
        std::is_trivially_copyable_v<Value>,
        "the driver copies the bytes of an argument; a handle goes through its own Add, or its address and AddOwner");
    AddBytes(&value, sizeof value);
    return *this;
  }

  // REQUIRES: the bytes are a value of the type of the kernel's next parameter.
  void AddBytes(const void* value, std::size_t size_bytes);

  // A device address, with its allocation as owner.
  KernelArguments& Add(const DeviceMemoryHandle& memory);

  KernelArguments& AddOwner(OpaqueHandle owner);

  // One pointer a parameter, as cuLaunchKernel wants them; valid until the next Add.
  std::vector<void*> Pointers() const;
  const std::vector<std::size_t>& sizes_bytes() const noexcept { return sizes_bytes_; }
  const std::vector<OpaqueHandle>& owners() const noexcept { return owners_; }

 private:
  // Big enough and aligned for any parameter of up to 16 bytes; larger ones span several.
  struct alignas(16) Slot {
    unsigned char bytes[16];
  };

  std::vector<Slot> slots_;
  std::vector<std::size_t> first_slots_;
  std::vector<std::size_t> sizes_bytes_;
  std::vector<OpaqueHandle> owners_;
};

}  // namespace holdfast

#endif  // HOLDFAST_LIB_GRAPH_OPERANDS_H_
