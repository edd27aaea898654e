#include "fault/model/memory.h"

#include <cstring>
#include <map>
#include <mutex>
#include <new>

#include "fault/model/call.h"

namespace holdfast::fault::model {
namespace {

// What cuMemAlloc of the real driver aligns to.
constexpr std::align_val_t kAlignment{512};

struct Allocations {
  std::mutex mutex;
  std::map<std::uint64_t, AllocationPointer> by_address;  // guarded by mutex
  std::size_t device_bytes = 0;                           // guarded by mutex
};

Allocations& All() {
  static auto* allocations = new Allocations;
  return *allocations;
}

// Bytes from the first to the last one that `fill` writes.
std::size_t Extent(const Fill& fill) {
  const std::size_t row = fill.width * fill.element_bytes;
  return fill.height <= 1 ? row : (fill.height - 1) * fill.pitch + row;
}

template <typename Element>
void FillRow(void* row, std::uint32_t value, std::size_t width) {
  const Element element = static_cast<Element>(value);
  auto* bytes = static_cast<std::byte*>(row);
  for (std::size_t i = 0; i < width; ++i) std::memcpy(bytes + i * sizeof(Element), &element, sizeof(Element));
}

}  // namespace

Allocation::Allocation(std::size_t size, MemoryKind kind)
    : size(size), kind(kind), bytes_(static_cast<std::byte*>(::operator new(size, kAlignment))) {}

Allocation::~Allocation() { ::operator delete(bytes_, kAlignment); }

CUdeviceptr Allocate(std::size_t size, MemoryKind kind) {
  Require(size > 0);
  Require(size <= kDeviceMemoryBytes, CUDA_ERROR_OUT_OF_MEMORY);
  Allocations& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (kind != MemoryKind::kPinned) {
    Require(all.device_bytes + size <= kDeviceMemoryBytes, CUDA_ERROR_OUT_OF_MEMORY);
  }
  auto allocation = std::make_shared<const Allocation>(size, kind);
  const std::uint64_t address = allocation->address();
  all.by_address.emplace(address, std::move(allocation));
  if (kind != MemoryKind::kPinned) all.device_bytes += size;
  return address;
}

void Free(CUdeviceptr address, MemoryKind kind) {
  AllocationPointer last;  // the memory goes when the lock is gone
  Allocations& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.by_address.find(address);
  Require(found != all.by_address.end() && found->second->kind == kind);
  last = std::move(found->second);
  if (kind != MemoryKind::kPinned) all.device_bytes -= last->size;
  all.by_address.erase(found);
}

void FreeAll() {
  Allocations& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.by_address.clear();
  all.device_bytes = 0;
}

AllocationPointer FindAllocation(CUdeviceptr address, std::size_t size) {
  Allocations& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  auto found = all.by_address.upper_bound(address);
  if (found == all.by_address.begin()) return nullptr;
  --found;
  const std::size_t offset = address - found->first;
  if (offset > found->second->size || size > found->second->size - offset) return nullptr;
  return offset == found->second->size ? nullptr : found->second;
}

std::size_t AllocatedBytes() {
  Allocations& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  return all.device_bytes;
}

std::uint64_t LiveAllocations() {
  Allocations& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  return all.by_address.size();
}

bool InBounds(const LinearCopy& copy) {
  return (!copy.destination_is_device || FindAllocation(copy.destination, copy.bytes) != nullptr) &&
         (!copy.source_is_device || FindAllocation(copy.source, copy.bytes) != nullptr);
}

bool InBounds(const Fill& fill) { return FindAllocation(fill.destination, Extent(fill)) != nullptr; }

bool Run(const LinearCopy& copy) {
  AllocationPointer destination;
  AllocationPointer source;
  if (copy.destination_is_device) {
    destination = FindAllocation(copy.destination, copy.bytes);
    if (destination == nullptr) return false;
  }
  if (copy.source_is_device) {
    source = FindAllocation(copy.source, copy.bytes);
    if (source == nullptr) return false;
  }
  std::memmove(reinterpret_cast<void*>(copy.destination), reinterpret_cast<const void*>(copy.source), copy.bytes);
  return true;
}

bool Run(const Fill& fill) {
  const AllocationPointer allocation = FindAllocation(fill.destination, Extent(fill));
  if (allocation == nullptr) return false;
  for (std::size_t y = 0; y < fill.height; ++y) {
    void* row = reinterpret_cast<void*>(fill.destination + y * fill.pitch);
    if (fill.element_bytes == 1) {
      FillRow<std::uint8_t>(row, fill.value, fill.width);
    } else if (fill.element_bytes == 2) {
      FillRow<std::uint16_t>(row, fill.value, fill.width);
    } else {
      FillRow<std::uint32_t>(row, fill.value, fill.width);
    }
  }
  return true;
}

}  // namespace holdfast::fault::model
