// cuGetProcAddress: the driver is asked first, and its answer is turned into the shim's own function of the same call.
#ifndef HOLDFAST_FAULT_SHIM_LOOKUP_H_
#define HOLDFAST_FAULT_SHIM_LOOKUP_H_

#include <cstdint>
#include <string_view>

// The shim's wrapper of each entry point, null where it has none; generated.
extern "C" __attribute__((visibility("hidden"))) void* const holdfast_own_functions[];

namespace holdfast::fault {

// What the subject gets for the driver's answer: the shim's wrapper, or the answer itself where there is none.
void* OwnFunction(std::string_view symbol, int version, std::uint64_t flags, void* answer);

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_LOOKUP_H_
