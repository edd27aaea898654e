// The program's operator new, with the site "alloc" in front of it for threads inside an AllocationFaultWindow, and its
// operator delete, which can keep freed memory back.
#include <malloc.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "harness/scenario/context.h"

namespace holdfast::harness {
namespace {

// Each belongs to its thread alone.
thread_local const fault::ShimControl* window_shim = nullptr;

// Whether the plan fails this allocation. The plan's own allocations are left alone.
bool PlanFailsAllocation() noexcept {
  const fault::ShimControl* shim = window_shim;
  if (shim == nullptr) {
    return false;
  }
  window_shim = nullptr;
  const fault::SiteDecision decision = shim->decide("alloc");
  window_shim = shim;
  return decision.fails;
}

void* Allocate(std::size_t size_bytes) {
  void* memory = PlanFailsAllocation() ? nullptr : std::malloc(size_bytes != 0 ? size_bytes : 1);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kHasAddressSanitizer = true;
#else
constexpr bool kHasAddressSanitizer = false;
#endif

// No address, and no small number.
constexpr int kSpoiled = 0xA5;
constexpr std::size_t kMostSpoiledBytes = 1024;  // of one piece: larger ones are seldom, and slow to fill
constexpr std::size_t kMostKept = 2048;

std::atomic<bool> spoils_freed_memory{false};

// Memory ordering: acquire and release for a piece that another thread frees in the end; the place is a mere number.
std::atomic<std::size_t> next_kept{0};
std::array<std::atomic<void*>, kMostKept> kept;

void Free(void* memory) noexcept {
  if (memory != nullptr && spoils_freed_memory.load(std::memory_order_relaxed)) {
    const std::size_t size_bytes = malloc_usable_size(memory);
    if (size_bytes <= kMostSpoiledBytes) {
      std::memset(memory, kSpoiled, size_bytes);
      const std::size_t place = next_kept.fetch_add(1, std::memory_order_relaxed) % kMostKept;
      memory = kept[place].exchange(memory, std::memory_order_acq_rel);
    }
  }
  std::free(memory);
}

}  // namespace

void SpoilFreedMemory() noexcept { spoils_freed_memory.store(!kHasAddressSanitizer, std::memory_order_relaxed); }

AllocationFaultWindow::AllocationFaultWindow(const Context& context) noexcept { window_shim = &context.shim(); }

AllocationFaultWindow::~AllocationFaultWindow() { window_shim = nullptr; }

}  // namespace holdfast::harness

void* operator new(std::size_t size_bytes) { return holdfast::harness::Allocate(size_bytes); }
void* operator new[](std::size_t size_bytes) { return holdfast::harness::Allocate(size_bytes); }
void operator delete(void* memory) noexcept { holdfast::harness::Free(memory); }
void operator delete[](void* memory) noexcept { holdfast::harness::Free(memory); }
void operator delete(void* memory, std::size_t) noexcept { holdfast::harness::Free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { holdfast::harness::Free(memory); }
