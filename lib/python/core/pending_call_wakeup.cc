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

// Memory ordering: acq_rel on every change of the state: a request that leaves the rest to the drain hands over what
// came before it, and the drain's end takes it.
bool PendingCallWakeup::Request() noexcept {
  int draining = kDraining;
  const bool left_to_the_drain =
      state_.compare_exchange_strong(draining, kDrainingAndAsked, std::memory_order_acq_rel) ||
      draining == kDrainingAndAsked;
  return left_to_the_drain || AddPendingCall();
}

bool PendingCallWakeup::AddPendingCall() noexcept {
  if (Py_AddPendingCall(&RunDrain, this) != 0) {
    return false;
  }
  // Memory ordering: relaxed, a thread that finds its own identity has stored it itself.
  if (kInterruptsMainThread && main_thread_.load(std::memory_order_relaxed) != std::this_thread::get_id()) {
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
  static_cast<PendingCallWakeup*>(wakeup)->Drain();
  return 0;
}

// The interpreter runs one pending call at a time, so there is one of these.
void PendingCallWakeup::Drain() noexcept {
  // Memory ordering: relaxed, as where it is read.
  main_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  do {
    state_.store(kDraining, std::memory_order_release);
    drain_();
    // Who was told that the drain would see to it is served here and now if the interpreter has no room.
  } while (state_.exchange(kIdle, std::memory_order_acq_rel) == kDrainingAndAsked && !AddPendingCall());
}

void PendingCallWakeup::InterruptMainThread() noexcept {
  while (true) {
    accepted_.Acquire();
    // Memory ordering: acquire, paired with the release in Stop.
    if (stopping_.load(std::memory_order_acquire)) {
      return;
    }
    const GilHeld held;  // to have asked for it is all
  }
}

}  // namespace holdfast::python
