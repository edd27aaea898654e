// CUDA arrays: memory that has no address, and elements that are reached by their place.
#ifndef HOLDFAST_FAULT_MODEL_ARRAY_H_
#define HOLDFAST_FAULT_MODEL_ARRAY_H_

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <memory>

#include "fault/model/memory.h"

namespace holdfast::fault::model {

// Thread safety: all functions may be called from any thread.
class Array : public std::enable_shared_from_this<Array> {
 public:
  Array(const CUDA_ARRAY3D_DESCRIPTOR& descriptor, AllocationPointer memory);

  // The whole of it, rows and slices without gaps. An extent that the descriptor leaves out is 1.
  std::size_t width_bytes() const { return width_bytes_; }
  std::size_t height() const { return descriptor.Height == 0 ? 1 : descriptor.Height; }
  std::size_t depth() const { return descriptor.Depth == 0 ? 1 : descriptor.Depth; }
  std::uint64_t address() const { return memory->address(); }

  // A node may still hold an array whose handle was destroyed.
  bool destroyed() const { return destroyed_.load(std::memory_order_relaxed); }
  void MarkDestroyed() { destroyed_.store(true, std::memory_order_relaxed); }

  const CUDA_ARRAY3D_DESCRIPTOR descriptor;
  const AllocationPointer memory;
  CUarray handle = nullptr;  // set before the handle is given out

 private:
  const std::size_t width_bytes_;
  std::atomic<bool> destroyed_{false};
};

using ArrayPointer = std::shared_ptr<Array>;

// Throws Refusal{CUDA_ERROR_INVALID_VALUE} for what is no array, CUDA_ERROR_OUT_OF_MEMORY when the device is full.
ArrayPointer CreateArray(const CUDA_ARRAY3D_DESCRIPTOR& descriptor);

// Throws Refusal{CUDA_ERROR_INVALID_HANDLE} for null. What is no array, or none any more, is a misuse.
ArrayPointer RequireArray(CUarray handle);

void DestroyArray(CUarray handle);
void DestroyAllArrays();

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_ARRAY_H_
