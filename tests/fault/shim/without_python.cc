// A program without an interpreter: the shim's Python door leaves it as it is. Ends with 0 if it did.

#include <dlfcn.h>

#include <cstdio>

#include "fault/shim/control.h"

int main() {
  using holdfast::fault::ShimControl;
  using holdfast::fault::ShimControlFunction;
  if (dlsym(RTLD_DEFAULT, "Py_AddPendingCall") != nullptr) {
    std::puts("the shim has put a Py_AddPendingCall where there was none");
    return 1;
  }
  const auto function = reinterpret_cast<ShimControlFunction>(dlsym(RTLD_DEFAULT, "holdfast_shim_control"));
  if (function == nullptr) {
    std::puts("the shim is not preloaded");
    return 1;
  }
  const ShimControl& control = *function();
  const bool untouched = control.saturate(1) == 0 && control.pending_calls().calls == 0;
  control.release_saturation();
  control.release_pending_calls();
  return untouched ? 0 : 1;
}
