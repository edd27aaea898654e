// What a test can ask of the model driver beyond the driver API.
//
// The model driver exports `holdfast_model_control`; the real driver does not, which is how a scenario tells
// the two apart. Settings also come from the environment: see model/settings.
#ifndef HOLDFAST_FAULT_MODEL_CONTROL_H_
#define HOLDFAST_FAULT_MODEL_CONTROL_H_

#include <cstddef>
#include <cstdint>

namespace holdfast::fault {

// When the destructor of a user object runs whose last reference goes inside a driver call.
// References that go at the end of a launch are always delivered by the driver's internal thread.
enum class Delivery : std::uint32_t {
  kInline,  // on the calling thread, before the call returns (facts U1, U2)
  kThread,  // on the driver's internal thread
  kHeld,    // on the internal thread, once `release_held` is called
  kMixed,   // inline or on the internal thread, by a fixed sequence drawn from the seed
};

enum class HandleReuse : std::uint32_t {
  kAtOnce,  // the handle destroyed last is the next one given out (fact N1)
  kNever,
};

struct LaunchShape {
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint32_t shared_memory_bytes;
};

// Body of a kernel: `parameters` as in cuLaunchKernel, one pointer a parameter.
using HostKernel = void (*)(void** parameters, const LaunchShape& shape);

struct ModelObjects {
  std::uint64_t user_objects, graphs, executables, streams, events, allocations, libraries, launches_in_flight;
};

struct ModelControl {
  std::uint32_t version;  // 2

  // Every library or module loaded whose text has `.entry NAME` runs `body` for it. Without a registration the
  // kernel lookup answers CUDA_ERROR_NOT_FOUND.
  void (*register_kernel)(const char* name, HostKernel body);

  void (*set_delivery)(Delivery delivery);
  void (*set_handle_reuse)(HandleReuse reuse);
  void (*release_held)();

  // Returns once no launch is in flight and the internal thread has nothing to deliver that is not held.
  void (*quiesce)();

  ModelObjects (*live)();

  // Names of entry points that were called and answered CUDA_ERROR_NOT_SUPPORTED because the model lacks them,
  // separated by commas; valid until the next call.
  const char* (*unmodelled)();

  // For the body of a kernel that runs in a graph: sets the value of a conditional handle, as device code does with
  // cudaGraphSetConditional. Elsewhere, or with a handle that the graph does not have, the context is lost.
  void (*set_conditional)(std::uint64_t handle, unsigned int value);
};

using ModelControlFunction = const ModelControl* (*)();

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_MODEL_CONTROL_H_
