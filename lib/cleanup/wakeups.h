// The wakeups: a caller who drains when it suits him, a worker thread, and a host's pending call.
#ifndef HOLDFAST_LIB_CLEANUP_WAKEUPS_H_
#define HOLDFAST_LIB_CLEANUP_WAKEUPS_H_

#include <thread>

#include "lib/cleanup/standard_atomics.h"
#include "lib/cleanup/wakeup.h"
#include "lib/cleanup/worker_loop.h"

namespace holdfast::cleanup {

// Nothing runs by itself: the program calls DeferredCleanup::Drain at places of its own choice.
class ManualWakeup : public Wakeup {
 public:
  void Start(DrainFunction) override {}
  bool Request() noexcept override { return true; }
  void Stop() noexcept override {}
};

// A thread of our own drains; owners are released there. It is parked while there is nothing to do.
class WorkerWakeup : public Wakeup {
 public:
  ~WorkerWakeup() override;
  void Start(DrainFunction drain) override;
  bool Request() noexcept override;
  void Stop() noexcept override;

 private:
  WorkerLoop<StandardAtomics> loop_;
  std::thread thread_;
};

// A host that runs queued calls on its main thread, as CPython does: the drain is one such call.
class PendingCallWakeup : public Wakeup {
 public:
  // Queues `call(argument)`; 0 means accepted, anything else refused. The signature of Py_AddPendingCall, which may
  // be called from any thread and without the interpreter's lock.
  using AddPendingCall = int (*)(int (*call)(void*), void* argument);

  explicit PendingCallWakeup(AddPendingCall add_pending_call) noexcept : add_pending_call_(add_pending_call) {}
  void Start(DrainFunction drain) override;
  bool Request() noexcept override;
  void Stop() noexcept override {}

 private:
  // Runs on the host's main thread.
  static int RunDrain(void* wakeup) noexcept;

  const AddPendingCall add_pending_call_;
  DrainFunction drain_{nullptr, nullptr};
};

}  // namespace holdfast::cleanup

#endif  // HOLDFAST_LIB_CLEANUP_WAKEUPS_H_
