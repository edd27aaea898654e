#include "lib/python/core/pending_call_wakeup.h"

#include <Python.h>

#include "lib/python/core/gil.h"

namespace holdfast::python {
namespace {

// From 3.13 on the interpreter does it by itself.
constexpr bool kInterruptsMainThread = PY_VERSION_HEX < 0x030D0000;

}  // namespace

void PendingCallWakeup::Start(cleanup::DrainFunction drain) {
  drain_ = drain;
  if (kInterruptsMainThread) {
    interrupter_ = std::thread([this] { InterruptMainThread(); });
  }
}

bool PendingCallWakeup::Request() noexcept {
  if (Py_AddPendingCall(&RunDrain, this) != 0) {
    return false;
  }
  if (kInterruptsMainThread) {
    accepted_.Release();
  }
  return true;
}

void PendingCallWakeup::Stop() noexcept {
  if (!interrupter_.joinable()) {
    return;
  }
  // Memory ordering: release, paired with the acquire in InterruptMainThread.
  stopping_.store(true, std::memory_order_release);
  accepted_.Release();
  interrupter_.join();
}

int PendingCallWakeup::RunDrain(void* wakeup) noexcept {
  const GilReleased released;
  static_cast<PendingCallWakeup*>(wakeup)->drain_();
  return 0;
}

void PendingCallWakeup::InterruptMainThread() noexcept {
  while (true) {
    accepted_.Acquire();
    if (stopping_.load(std::memory_order_acquire)) {
      return;
    }
    const GilHeld held;  // to have asked for it is all
  }
}

}  // namespace holdfast::python
