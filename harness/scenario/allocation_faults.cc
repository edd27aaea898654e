// The program's operator new, with the site "alloc" in front of it for threads inside an AllocationFaultWindow.
#include <cstdlib>
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

}  // namespace

AllocationFaultWindow::AllocationFaultWindow(const Context& context) noexcept { window_shim = &context.shim(); }

AllocationFaultWindow::~AllocationFaultWindow() { window_shim = nullptr; }

}  // namespace holdfast::harness

void* operator new(std::size_t size_bytes) { return holdfast::harness::Allocate(size_bytes); }
void* operator new[](std::size_t size_bytes) { return holdfast::harness::Allocate(size_bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
