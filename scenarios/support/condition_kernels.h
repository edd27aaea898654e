// Kernels that decide what a conditional node does. PTX text for a real device, and host functions of the same meaning
// for the model driver.
#ifndef HOLDFAST_SCENARIOS_SUPPORT_CONDITION_KERNELS_H_
#define HOLDFAST_SCENARIOS_SUPPORT_CONDITION_KERNELS_H_

#include <cstdint>

#include "harness/scenario/context.h"
#include "lib/graph/condition.h"
#include "lib/graph/operands.h"
#include "lib/handles/resources.h"

namespace holdfast::scenarios {

// Each runs as one thread.
struct ConditionKernels {
  // `set_condition(condition, value)`
  KernelHandle set_condition;

  // `count_up_to(condition, counter, limit)`: adds one to the 32 bits at `counter`; the condition is then whether the
  // limit is not reached.
  KernelHandle count_up_to;
};

ConditionKernels LoadConditionKernels(const harness::Context& context);

KernelArguments SetConditionArguments(const Condition& condition, std::uint32_t value);
KernelArguments CountUpToArguments(const Condition& condition, const DeviceMemoryHandle& counter, std::uint32_t limit);

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_CONDITION_KERNELS_H_
