#include "lib/python/core/pending_call_wakeup.h"

#include <Python.h>

#include "lib/python/core/gil.h"

namespace holdfast::python {

bool PendingCallWakeup::Request() noexcept { return Py_AddPendingCall(&RunDrain, this) == 0; }

int PendingCallWakeup::RunDrain(void* wakeup) noexcept {
  const GilReleased released;
  static_cast<PendingCallWakeup*>(wakeup)->drain_();
  return 0;
}

}  // namespace holdfast::python
