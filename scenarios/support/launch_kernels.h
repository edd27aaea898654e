// Kernels for how a launch is configured: one whose blocks leave a mark each, one with parameters of odd sizes. PTX
// text for a real device, and host functions of the same meaning for the model driver.
#ifndef HOLDFAST_SCENARIOS_SUPPORT_LAUNCH_KERNELS_H_
#define HOLDFAST_SCENARIOS_SUPPORT_LAUNCH_KERNELS_H_

#include <cstdint>

#include "harness/scenario/context.h"
#include "lib/graph/operands.h"
#include "lib/handles/resources.h"

namespace holdfast::scenarios {

struct LaunchKernels {
  // `mark_blocks(memory, value)`: each block writes the value into its byte.
  KernelHandle mark_blocks;

  // `take_arguments(u64, u8, 24 bytes)`: does nothing.
  KernelHandle take_arguments;
};

// The third parameter of take_arguments.
struct TwentyFourBytes {
  std::uint64_t words[3];
};

LaunchKernels LoadLaunchKernels(const harness::Context& context);

KernelArguments MarkBlocksArguments(const DeviceMemoryHandle& memory, std::uint32_t value);

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_LAUNCH_KERNELS_H_
