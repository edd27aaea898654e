// Runs an operation out of memory at each of its allocations, one after the other, until it gets by.
#ifndef HOLDFAST_SCENARIOS_SUPPORT_FAILING_ALLOCATIONS_H_
#define HOLDFAST_SCENARIOS_SUPPORT_FAILING_ALLOCATIONS_H_

#include <cstdint>
#include <new>

#include "harness/scenario/context.h"

namespace holdfast::scenarios {

// Lets `operation` make no allocation at all, then one, then two, and so on, until it does not throw std::bad_alloc any
// more; `check_failure(n)` runs after each time that it did, with n allocations granted. Gives how often that was.
// Checks that an operation that gets by had all the memory that it asked for.
template <typename Operation, typename CheckFailure>
std::uint64_t FailEachAllocation(harness::Context& context, Operation operation, CheckFailure check_failure) {
  for (std::uint64_t granted = 0;; ++granted) {
    const fault::ArmedFault fault{"alloc", granted + 1, /*persistent=*/true, /*after=*/false, /*result=*/0};
    context.Check(context.shim().arm(fault), "the scenario can fail allocations");
    bool failed = false;
    try {
      const harness::AllocationFaultWindow window(context);
      operation();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    const bool ran_out = context.shim().disarm() > 0;
    context.Check(failed == ran_out, "an operation throws std::bad_alloc if and only if it runs out of memory");
    if (!failed) {
      return granted;
    }
    check_failure(granted);
  }
}

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_FAILING_ALLOCATIONS_H_
