// The beginning: reads the environment, loads plan and driver. Runs when the library is loaded, or at the first call if
// another library's constructor makes one before.
#ifndef HOLDFAST_FAULT_SHIM_START_H_
#define HOLDFAST_FAULT_SHIM_START_H_

namespace holdfast::fault {

// ENSURES: the shim has started, unless the caller is what starts it; false then.
bool EnsureStarted();

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_START_H_
