// Copies of boxes: rows and slices of rows, between host memory, device memory and arrays.
#ifndef HOLDFAST_FAULT_MODEL_COPY_H_
#define HOLDFAST_FAULT_MODEL_COPY_H_

#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "fault/model/array.h"
#include "fault/model/memory.h"

namespace holdfast::fault::model {

// Where one side of a copy lies.
struct CopySide {
  std::uint64_t address = 0;  // of the first byte
  std::size_t row_pitch_bytes = 0;
  std::size_t slice_pitch_bytes = 0;
  bool is_device = false;  // to be looked up in the allocations
  ArrayPointer array;      // null for plain memory
};

struct BoxCopy {
  CopySide source;
  CopySide destination;
  std::size_t width_bytes = 0;
  std::size_t height = 1;
  std::size_t depth = 1;
};

// What a caller describes. Throws Refusal{CUDA_ERROR_INVALID_VALUE} for rows that do not fit their pitch or slice, for
// what an array has no room for and for null addresses. Extents may be 0: then nothing is copied.
BoxCopy MakeBoxCopy(const CUDA_MEMCPY3D& given);

bool IsNothing(const BoxCopy& copy);

// Whether both copy the same bytes to the same place.
bool IsSame(const BoxCopy& a, const BoxCopy& b);

// Whether the device sides are allocated, in the order of calls.
bool InBounds(const BoxCopy& copy);

// Whether a node may copy that: memory of graphs need not be allocated yet.
bool IsReserved(const BoxCopy& copy);

// False, with nothing written, if the memory is not allocated any more.
bool Run(const BoxCopy& copy);

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_COPY_H_
