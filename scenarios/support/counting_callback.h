// A host callback that counts its runs.
#ifndef HOLDFAST_SCENARIOS_SUPPORT_COUNTING_CALLBACK_H_
#define HOLDFAST_SCENARIOS_SUPPORT_COUNTING_CALLBACK_H_

#include <utility>

#include "lib/graph/operands.h"
#include "lib/handles/opaque_handle.h"

namespace holdfast::scenarios {

// `runs` outlives all launches, and is read when none is in flight.
inline HostCallback CountingCallback(int& runs, OpaqueHandle owner = nullptr) {
  return {[](void* data) { ++*static_cast<int*>(data); }, &runs, std::move(owner), nullptr};
}

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_COUNTING_CALLBACK_H_
