// callback_probe._core: what the library's destructor callback costs, in a real interpreter.
//
// It has a cleanup of its own, with the module's pending-call wakeup and the interpreter's Py_AddPendingCall, and an
// operator new that counts. The callbacks run on a thread that Python does not know, as CUDA's do.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "lib/cleanup/deferred_cleanup.h"
#include "lib/python/core/gil.h"
#include "lib/python/core/pending_call_wakeup.h"

namespace {

// Of the calling thread.
thread_local std::uint64_t allocations = 0;

void* Allocate(std::size_t size_bytes) {
  ++allocations;
  void* const memory = std::malloc(size_bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size_bytes) { return Allocate(size_bytes); }
void* operator new[](std::size_t size_bytes) { return Allocate(size_bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace holdfast::python {
namespace {

using cleanup::DeferredCleanup;
using Clock = std::chrono::steady_clock;

struct ReleasedPayload : cleanup::Payload {
  ReleasedPayload() noexcept
      : Payload([](cleanup::Item* item) noexcept { delete static_cast<ReleasedPayload*>(item); }) {}
};

// Nanoseconds of each of `count` callbacks, one after the other, and the allocations in all of them. The main thread
// runs the drains when it evaluates Python again.
std::pair<std::vector<std::int64_t>, std::uint64_t> TimeCallbacks(std::size_t count) {
  if (!DeferredCleanup::Process().IsRunning()) {
    DeferredCleanup::Process().Start(std::make_unique<PendingCallWakeup>());
  }
  std::vector<std::unique_ptr<ReleasedPayload>> payloads;
  for (std::size_t i = 0; i < count; ++i) {
    payloads.push_back(std::make_unique<ReleasedPayload>());
  }
  std::vector<std::int64_t> nanoseconds(count);
  std::uint64_t allocated = 0;
  const GilReleased released;
  std::thread([&] {
    for (std::size_t i = 0; i < count; ++i) {
      cleanup::Payload* const payload = payloads[i].release();
      const std::uint64_t before = allocations;
      const Clock::time_point start = Clock::now();
      DeferredCleanup::OnUserObjectDestroyed(payload);
      nanoseconds[i] = std::chrono::nanoseconds(Clock::now() - start).count();
      allocated += allocations - before;
    }
  }).join();
  return {std::move(nanoseconds), allocated};
}

// The same for the interpreter's own call, with nothing around it; 0 for one that was refused.
std::vector<std::int64_t> TimePendingCalls(std::size_t count) {
  std::vector<std::int64_t> nanoseconds(count);
  const GilReleased released;
  std::thread([&] {
    for (std::int64_t& each : nanoseconds) {
      const Clock::time_point start = Clock::now();
      const int result = Py_AddPendingCall([](void*) { return 0; }, nullptr);
      each = result == 0 ? std::chrono::nanoseconds(Clock::now() - start).count() : 0;
    }
  }).join();
  return nanoseconds;
}

}  // namespace
}  // namespace holdfast::python

PYBIND11_MODULE(_core, module, pybind11::mod_gil_not_used()) {
  module.def("time_callbacks", &holdfast::python::TimeCallbacks, pybind11::arg("count"));
  module.def("time_pending_calls", &holdfast::python::TimePendingCalls, pybind11::arg("count"));
  module.def("has_work", [] { return holdfast::cleanup::DeferredCleanup::Process().HasWork(); });
  module.def("shutdown", [] {
    const holdfast::python::GilReleased released;
    return holdfast::cleanup::DeferredCleanup::Process().Shutdown();
  });
}
