#include "fault/model/copy.h"

#include <cstring>
#include <limits>

#include "fault/model/call.h"

namespace holdfast::fault::model {
namespace {

// One side as a caller describes it.
struct GivenSide {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  std::size_t x_bytes;
  std::size_t y;
  std::size_t z;
  std::size_t level;
  std::size_t pitch_bytes;
  std::size_t height;
};

using Finder = AllocationPointer (*)(CUdeviceptr address, std::size_t size);

std::size_t Add(std::size_t a, std::size_t b) {
  std::size_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::size_t>::max() : sum;
}

std::size_t Multiply(std::size_t a, std::size_t b) {
  std::size_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::size_t>::max() : product;
}

bool Fits(std::size_t offset, std::size_t length, std::size_t room) {
  return length <= room && offset <= room - length;
}

std::uint64_t FirstByte(std::uint64_t base, const GivenSide& given, const CopySide& side) {
  return base + given.x_bytes + given.y * side.row_pitch_bytes + given.z * side.slice_pitch_bytes;
}

CopySide MakeArraySide(const GivenSide& given, const BoxCopy& box) {
  Require(given.array != nullptr && given.level == 0);
  CopySide side;
  side.array = RequireArray(given.array);
  const Array& array = *side.array;
  Require(Fits(given.x_bytes, box.width_bytes, array.width_bytes()) && Fits(given.y, box.height, array.height()) &&
          Fits(given.z, box.depth, array.depth()));
  side.row_pitch_bytes = array.width_bytes();
  side.slice_pitch_bytes = array.width_bytes() * array.height();
  side.address = FirstByte(array.address(), given, side);
  side.is_device = true;
  return side;
}

// Without a pitch or a slice height, rows and slices end where the box ends.
CopySide MakeSide(const GivenSide& given, const BoxCopy& box) {
  if (given.type == CU_MEMORYTYPE_ARRAY) return MakeArraySide(given, box);
  Require(given.type == CU_MEMORYTYPE_HOST || given.type == CU_MEMORYTYPE_DEVICE ||
          given.type == CU_MEMORYTYPE_UNIFIED);
  const std::uint64_t base =
      given.type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uint64_t>(given.host) : given.device;
  Require(base != 0);
  Require(given.pitch_bytes == 0 || Fits(given.x_bytes, box.width_bytes, given.pitch_bytes));
  Require(given.height == 0 || Fits(given.y, box.height, given.height));
  CopySide side;
  side.row_pitch_bytes = given.pitch_bytes != 0 ? given.pitch_bytes : Add(given.x_bytes, box.width_bytes);
  const std::size_t rows = given.height != 0 ? given.height : Add(given.y, box.height);
  side.slice_pitch_bytes = Multiply(side.row_pitch_bytes, rows);
  side.address = FirstByte(base, given, side);
  side.is_device = given.type == CU_MEMORYTYPE_DEVICE || FindReserved(side.address, 1) != nullptr;
  return side;
}

// Bytes from the first to the last one of a side; no allocation has as many as an extent that overflows.
std::size_t Extent(const CopySide& side, const BoxCopy& box) {
  const std::size_t slices = Multiply(box.depth - 1, side.slice_pitch_bytes);
  const std::size_t rows = Multiply(box.height - 1, side.row_pitch_bytes);
  return Add(Add(slices, rows), box.width_bytes);
}

bool IsFound(const CopySide& side, const BoxCopy& box, Finder find) {
  return !side.is_device || find(side.address, Extent(side, box)) != nullptr;
}

bool IsSame(const CopySide& a, const CopySide& b) {
  return a.address == b.address && a.row_pitch_bytes == b.row_pitch_bytes &&
         a.slice_pitch_bytes == b.slice_pitch_bytes && a.array == b.array;
}

// Holds the memory of a side while the copy runs.
struct Hold {
  bool found = true;
  AllocationPointer memory;

  Hold(const CopySide& side, const BoxCopy& box) {
    if (!side.is_device) return;
    memory = FindUsable(side.address, Extent(side, box));
    found = memory != nullptr;
  }
};

void* Row(const CopySide& side, std::size_t y, std::size_t z) {
  return reinterpret_cast<void*>(side.address + z * side.slice_pitch_bytes + y * side.row_pitch_bytes);
}

}  // namespace

BoxCopy MakeBoxCopy(const CUDA_MEMCPY3D& given) {
  BoxCopy box;
  box.width_bytes = given.WidthInBytes;
  box.height = given.Height;
  box.depth = given.Depth;
  box.source = MakeSide({given.srcMemoryType, given.srcHost, given.srcDevice, given.srcArray, given.srcXInBytes,
                         given.srcY, given.srcZ, given.srcLOD, given.srcPitch, given.srcHeight},
                        box);
  box.destination = MakeSide({given.dstMemoryType, given.dstHost, given.dstDevice, given.dstArray, given.dstXInBytes,
                              given.dstY, given.dstZ, given.dstLOD, given.dstPitch, given.dstHeight},
                             box);
  return box;
}

bool IsNothing(const BoxCopy& copy) { return copy.width_bytes == 0 || copy.height == 0 || copy.depth == 0; }

bool IsSame(const BoxCopy& a, const BoxCopy& b) {
  return IsSame(a.source, b.source) && IsSame(a.destination, b.destination) && a.width_bytes == b.width_bytes &&
         a.height == b.height && a.depth == b.depth;
}

bool InBounds(const BoxCopy& copy) {
  return IsFound(copy.source, copy, &FindAllocation) && IsFound(copy.destination, copy, &FindAllocation);
}

bool IsReserved(const BoxCopy& copy) {
  return IsFound(copy.source, copy, &FindReserved) && IsFound(copy.destination, copy, &FindReserved);
}

bool Run(const BoxCopy& copy) {
  const Hold source(copy.source, copy);
  const Hold destination(copy.destination, copy);
  if (!source.found || !destination.found) return false;
  for (std::size_t z = 0; z < copy.depth; ++z) {
    for (std::size_t y = 0; y < copy.height; ++y) {
      std::memmove(Row(copy.destination, y, z), Row(copy.source, y, z), copy.width_bytes);
    }
  }
  return true;
}

}  // namespace holdfast::fault::model
