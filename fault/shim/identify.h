// Which entry point an address is that the driver's cuGetProcAddress handed out.
#ifndef HOLDFAST_FAULT_SHIM_IDENTIFY_H_
#define HOLDFAST_FAULT_SHIM_IDENTIFY_H_

#include <optional>
#include <span>
#include <string_view>

#include "fault/shim/entries.h"

namespace holdfast::fault {

struct Request {
  std::string_view symbol;  // as asked for: usually without a version
  int version = 0;          // of CUDA, e.g. 12030
  bool per_thread = false;  // the per-thread default stream
  const void* answer = nullptr;
};

// The version is read off the address where it is one that the driver exports; otherwise off the requested name, CUDA
// version and stream flavour, by the `since` column of the table. nullopt if neither leads to the table.
// REQUIRES: `exported` has the driver's address of each entry point, in the order of the table.
std::optional<Entry> IdentifyAnswer(const Request& request, std::span<void* const> exported);

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_IDENTIFY_H_
