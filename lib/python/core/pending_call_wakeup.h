// PendingCallWakeup: CPython runs the drain on its main thread, as a pending call.
#ifndef HOLDFAST_LIB_PYTHON_CORE_PENDING_CALL_WAKEUP_H_
#define HOLDFAST_LIB_PYTHON_CORE_PENDING_CALL_WAKEUP_H_

#include "lib/cleanup/wakeup.h"

namespace holdfast::python {

// The drain runs without the GIL: an owner may free device memory, which waits for the device, which may wait for a
// host callback that is Python. Owners that are Python objects take the GIL for themselves.
class PendingCallWakeup : public cleanup::Wakeup {
 public:
  void Start(cleanup::DrainFunction drain) override { drain_ = drain; }
  // REQUIRES: inside the queue's gate: before 3.13 the call crashes once Python is gone (P3 of the facts).
  bool Request() noexcept override;
  void Stop() noexcept override {}

 private:
  static int RunDrain(void* wakeup) noexcept;

  cleanup::DrainFunction drain_{nullptr, nullptr};
};

}  // namespace holdfast::python

#endif  // HOLDFAST_LIB_PYTHON_CORE_PENDING_CALL_WAKEUP_H_
