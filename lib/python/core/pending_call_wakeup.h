// PendingCallWakeup: CPython runs the drain on its main thread, as a pending call.
#ifndef HOLDFAST_LIB_PYTHON_CORE_PENDING_CALL_WAKEUP_H_
#define HOLDFAST_LIB_PYTHON_CORE_PENDING_CALL_WAKEUP_H_

#include <atomic>
#include <thread>

#include "lib/cleanup/standard_atomics.h"
#include "lib/cleanup/wakeup.h"

namespace holdfast::python {

// The drain runs without the GIL: an owner may free device memory, which waits for the device, which may wait for a
// host callback that is Python. Owners that are Python objects take the GIL for themselves.
//
// Up to CPython 3.12 a call that another thread adds does not interrupt a main thread that evaluates and never lets go
// of the GIL (issue 95820 there); it is noticed the next time that thread takes the GIL. So a thread of ours asks for
// the GIL after each call accepted from another thread: the main thread then lets go of it and takes it back.
//
// Free-threaded 3.13.5 forgets to look at its queue again if a call was added while one ran that evaluates Python (an
// owner's finalizer), and that one was the last of as many as it runs in one go, 32: the call added is there and never
// run. So what is asked for during a drain is added at the drain's end, when nothing evaluates any more.
class PendingCallWakeup : public cleanup::Wakeup {
 public:
  ~PendingCallWakeup() override { PendingCallWakeup::Stop(); }
  void Start(cleanup::DrainFunction drain) override;
  // REQUIRES: inside the queue's gate: before 3.13 the call crashes once Python is gone (P3 of the facts).
  bool Request() noexcept override;
  // REQUIRES: the calling thread does not have the GIL; Python is still whole.
  void Stop() noexcept override;

 private:
  enum State : int { kIdle, kDraining, kDrainingAndAsked };

  static int RunDrain(void* wakeup) noexcept;
  void Drain() noexcept;
  bool AddPendingCall() noexcept;
  void InterruptMainThread() noexcept;

  cleanup::DrainFunction drain_{nullptr, nullptr};
  std::atomic<int> state_{kIdle};
  cleanup::StandardAtomics::Semaphore accepted_;
  std::atomic<std::thread::id> main_thread_{};  // known once a call has run
  std::atomic<bool> stopping_{false};
  std::thread interrupter_;  // up to 3.12
};

}  // namespace holdfast::python

#endif  // HOLDFAST_LIB_PYTHON_CORE_PENDING_CALL_WAKEUP_H_
