#include "fault/model/array.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "fault/model/call.h"
#include "fault/model/handles.h"

namespace holdfast::fault::model {
namespace {

constexpr unsigned int kModelledFlags = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST;
constexpr unsigned int kKnownFlags = kModelledFlags | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER |
                                     CUDA_ARRAY3D_DEPTH_TEXTURE | CUDA_ARRAY3D_COLOR_ATTACHMENT | CUDA_ARRAY3D_SPARSE |
                                     CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;
constexpr std::size_t kExtentMax = 1 << 17;

struct Arrays {
  HandleTable<CUarray, Array, HandleKind::kArray> handles;
  std::mutex mutex;
  std::set<ArrayPointer> live;  // guarded by mutex; owns what `handles` points to
};

Arrays& All() {
  static auto* arrays = new Arrays;
  return *arrays;
}

// Bytes of one channel. Throws Refusal for no format, Unmodelled for one that the model lacks.
std::size_t ChannelBytes(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
      return 4;
    default:
      Require(format != 0);
      throw Unmodelled{};
  }
}

[[noreturn]] void RefuseDead(CUarray handle) {
  Require(handle != nullptr, CUDA_ERROR_INVALID_HANDLE);
  Misuse("the array was never made, or is destroyed already (the real driver crashes)");
}

}  // namespace

Array::Array(const CUDA_ARRAY3D_DESCRIPTOR& descriptor, AllocationPointer memory)
    : descriptor(descriptor),
      memory(std::move(memory)),
      width_bytes_(descriptor.Width * descriptor.NumChannels * ChannelBytes(descriptor.Format)) {}

ArrayPointer CreateArray(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
  Require((descriptor.Flags & ~kKnownFlags) == 0);
  if ((descriptor.Flags & ~kModelledFlags) != 0) throw Unmodelled{};
  Require(descriptor.Width > 0 && descriptor.Width <= kExtentMax);
  Require(descriptor.Height <= kExtentMax && descriptor.Depth <= kExtentMax);
  const bool is_layered = (descriptor.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  Require(descriptor.Depth == 0 || descriptor.Height > 0 || is_layered);
  Require(descriptor.NumChannels == 1 || descriptor.NumChannels == 2 || descriptor.NumChannels == 4);
  const std::size_t row_bytes = descriptor.Width * descriptor.NumChannels * ChannelBytes(descriptor.Format);
  const std::size_t rows = std::max<std::size_t>(descriptor.Height, 1) * std::max<std::size_t>(descriptor.Depth, 1);
  Require(rows <= kDeviceMemoryBytes / row_bytes, CUDA_ERROR_OUT_OF_MEMORY);
  const CUdeviceptr address = Allocate(row_bytes * rows, MemoryKind::kArray);
  ArrayPointer array = std::make_shared<Array>(descriptor, FindAllocation(address, row_bytes * rows));
  Arrays& arrays = All();
  const std::lock_guard<std::mutex> lock(arrays.mutex);
  arrays.live.insert(array);
  array->handle = arrays.handles.Insert(array.get());
  return array;
}

ArrayPointer RequireArray(CUarray handle) {
  Array* array = All().handles.Find(handle);
  if (array == nullptr) RefuseDead(handle);
  return array->shared_from_this();
}

void DestroyArray(CUarray handle) {
  Arrays& arrays = All();
  ArrayPointer array;
  {
    const std::lock_guard<std::mutex> lock(arrays.mutex);
    Array* found = arrays.handles.Take(handle);
    if (found == nullptr) RefuseDead(handle);
    array = found->shared_from_this();
    arrays.live.erase(array);
  }
  array->MarkDestroyed();
  Free(array->address(), MemoryKind::kArray);
}

void DestroyAllArrays() {
  Arrays& arrays = All();
  std::vector<ArrayPointer> live;
  {
    const std::lock_guard<std::mutex> lock(arrays.mutex);
    live.assign(arrays.live.begin(), arrays.live.end());
  }
  for (const ArrayPointer& array : live) DestroyArray(array->handle);
}

}  // namespace holdfast::fault::model
