// The kernel of the scenarios: adds one to each byte. PTX text for a real device, and a host function of the same
// meaning for the model driver.
#ifndef HOLDFAST_SCENARIOS_SUPPORT_ADD_ONE_KERNEL_H_
#define HOLDFAST_SCENARIOS_SUPPORT_ADD_ONE_KERNEL_H_

#include "harness/scenario/context.h"
#include "lib/handles/resources.h"

namespace holdfast::scenarios {

// `add_one(memory, size_bytes)` for one block of up to 1024 threads, a byte a thread.
KernelHandle LoadAddOneKernel(const harness::Context& context);

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_ADD_ONE_KERNEL_H_
