#include "lib/python/core/gil.h"

#include <cxxabi.h>
#include <unistd.h>

namespace holdfast::python {
namespace {

// Calls `take`, and does not come back if the interpreter ends the thread.
template <typename Take>
auto TakeOrStay(const Take& take) noexcept {
  try {
    return take();
  } catch (abi::__forced_unwind&) {
    // To leave this handler would end the process.
    while (true) {
      pause();
    }
  }
}

}  // namespace

GilReleased::~GilReleased() {
  TakeOrStay([this] { PyEval_RestoreThread(state_); });
}

GilHeld::GilHeld() noexcept : state_(TakeOrStay([] { return PyGILState_Ensure(); })) {}

}  // namespace holdfast::python
