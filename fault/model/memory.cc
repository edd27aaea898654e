#include "fault/model/memory.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <new>

#include "fault/model/call.h"

namespace holdfast::fault::model {
namespace {

// What cuMemAlloc of the real driver aligns to.
constexpr std::align_val_t kAlignment{512};

// The pool for graphs grows by that much.
constexpr std::size_t kPoolStepBytes = std::size_t{32} << 20;

struct Allocations {
  std::mutex mutex;
  std::map<std::uint64_t, AllocationPointer> by_address;  // guarded by mutex
  std::size_t device_bytes = 0;                           // guarded by mutex
  std::size_t graph_bytes = 0;  // guarded by mutex; allocated by graphs, in the order of calls
  GraphPool pool;               // guarded by mutex
};

Allocations& All() {
  static auto* allocations = new Allocations;
  return *allocations;
}

std::size_t PoolBytes(std::size_t graph_bytes) {
  return (graph_bytes + kPoolStepBytes - 1) / kPoolStepBytes * kPoolStepBytes;
}

// What an address is looked up for.
enum class Use { kCall, kNode, kWork };

bool IsFor(Use use, const Allocation& allocation) {
  if (allocation.kind != MemoryKind::kGraph || use == Use::kNode) return true;
  return use == Use::kCall ? allocation.graph_state.allocated : allocation.graph_state.usable;
}

AllocationPointer Find(CUdeviceptr address, std::size_t size, Use use) {
  Allocations& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  auto found = all.by_address.upper_bound(address);
  if (found == all.by_address.begin()) return nullptr;
  --found;
  const std::size_t offset = address - found->first;
  if (offset >= found->second->size || size > found->second->size - offset) return nullptr;
  return IsFor(use, *found->second) ? found->second : nullptr;
}

// Whether `memory` is still in the table: a reset of the context takes all with it.
bool IsKnown(const Allocations& all, const Allocation& memory) {
  const auto found = all.by_address.find(memory.address());
  return found != all.by_address.end() && found->second.get() == &memory;
}

void Erase(Allocations& all, const Allocation& memory) {
  all.device_bytes -= memory.size;
  all.by_address.erase(memory.address());
}

void EraseIfUnused(Allocations& all, const Allocation& memory) {
  const Allocation::GraphState& state = memory.graph_state;
  if (!state.reserved && !state.allocated && !state.usable) Erase(all, memory);
}

void SetAllocated(Allocations& all, const Allocation& memory, bool allocated) {
  if (memory.graph_state.allocated == allocated) return;
  memory.graph_state.allocated = allocated;
  all.graph_bytes += allocated ? memory.size : 0 - memory.size;
  all.pool.bytes = std::max(all.pool.bytes, PoolBytes(all.graph_bytes));
  all.pool.used_bytes_max = std::max(all.pool.used_bytes_max, all.pool.bytes);
  all.pool.reserved_bytes_max = std::max(all.pool.reserved_bytes_max, all.pool.bytes);
}

// Bytes from the first to the last one that `fill` writes; no allocation has as many as an extent that overflows.
std::size_t Extent(const Fill& fill) {
  std::size_t row = 0;
  std::size_t rows = 0;
  std::size_t extent = 0;
  const bool overflows = __builtin_mul_overflow(fill.width, fill.element_bytes, &row) ||
                         (fill.height > 1 && __builtin_mul_overflow(fill.height - 1, fill.pitch, &rows)) ||
                         __builtin_add_overflow(row, rows, &extent);
  return overflows ? std::numeric_limits<std::size_t>::max() : extent;
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
  Require(found != all.by_address.end());
  last = found->second;
  if (last->kind == MemoryKind::kGraph && kind == MemoryKind::kDevice) {
    Require(last->graph_state.allocated);
    SetAllocated(all, *last, false);
    last->graph_state.usable = false;
    EraseIfUnused(all, *last);
    return;
  }
  Require(last->kind == kind);
  if (kind != MemoryKind::kPinned) all.device_bytes -= last->size;
  all.by_address.erase(found);
}

void FreeAll() {
  Allocations& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.by_address.clear();
  all.device_bytes = 0;
  all.graph_bytes = 0;
  all.pool = GraphPool{};
}

AllocationPointer FindAllocation(CUdeviceptr address, std::size_t size) { return Find(address, size, Use::kCall); }

AllocationPointer FindReserved(CUdeviceptr address, std::size_t size) { return Find(address, size, Use::kNode); }

AllocationPointer FindUsable(CUdeviceptr address, std::size_t size) { return Find(address, size, Use::kWork); }

AllocationPointer ReserveGraphMemory(std::size_t size) {
  return FindReserved(Allocate(size, MemoryKind::kGraph), size);
}

void EndReservation(const Allocation& memory) {
  Allocations& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (!IsKnown(all, memory)) return;
  memory.graph_state.reserved = false;
  EraseIfUnused(all, memory);
}

bool IsAllocatedByGraph(CUdeviceptr address) {
  const AllocationPointer memory = FindAllocation(address, 1);
  return memory != nullptr && memory->address() == address && memory->kind == MemoryKind::kGraph;
}

bool IsAllocated(const Allocation& memory) {
  Allocations& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  return memory.graph_state.allocated;
}

void MarkAllocated(const Allocation& memory, bool allocated) {
  Allocations& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (IsKnown(all, memory)) SetAllocated(all, memory, allocated);
}

void MakeUsable(const Allocation& memory, bool usable) {
  Allocations& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (!IsKnown(all, memory)) return;
  memory.graph_state.usable = usable;
  EraseIfUnused(all, memory);
}

GraphPool GraphPoolNow() {
  Allocations& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  return all.pool;
}

void TrimGraphPool() {
  Allocations& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.pool.bytes = PoolBytes(all.graph_bytes);
}

void ResetGraphPoolMax(bool used) {
  Allocations& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  (used ? all.pool.used_bytes_max : all.pool.reserved_bytes_max) = all.pool.bytes;
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

bool IsReserved(const Fill& fill) { return FindReserved(fill.destination, Extent(fill)) != nullptr; }

bool Run(const LinearCopy& copy) {
  AllocationPointer destination;
  AllocationPointer source;
  if (copy.destination_is_device) {
    destination = FindUsable(copy.destination, copy.bytes);
    if (destination == nullptr) return false;
  }
  if (copy.source_is_device) {
    source = FindUsable(copy.source, copy.bytes);
    if (source == nullptr) return false;
  }
  std::memmove(reinterpret_cast<void*>(copy.destination), reinterpret_cast<const void*>(copy.source), copy.bytes);
  return true;
}

bool Run(const Fill& fill) {
  const AllocationPointer allocation = FindUsable(fill.destination, Extent(fill));
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
