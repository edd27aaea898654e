#include "lib/python/core/life.h"

#include <Python.h>
#include <pthread.h>

#include <memory>
#include <mutex>
#include <stdexcept>

#include "lib/cleanup/deferred_cleanup.h"
#include "lib/cleanup/wakeups.h"
#include "lib/driver/driver.h"
#include "lib/python/core/gil.h"
#include "lib/python/core/pending_call_wakeup.h"

namespace holdfast::python {
namespace {

using cleanup::DeferredCleanup;

enum class WakeupChoice { kPendingCall, kWorker, kManual };

// Neither is destroyed: threads may come after the process has begun to end.
std::atomic<Life*> present{nullptr};

// Guards the choice and the start. Held for moments only, and never while the GIL is asked for.
std::mutex& StartMutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

WakeupChoice choice = WakeupChoice::kPendingCall;  // guarded by StartMutex

std::unique_ptr<cleanup::Wakeup> MakeWakeup() {
  switch (choice) {
    case WakeupChoice::kWorker:
      return std::make_unique<cleanup::WorkerWakeup>();
    case WakeupChoice::kManual:
      return std::make_unique<cleanup::ManualWakeup>();
    case WakeupChoice::kPendingCall:
      break;
  }
  return std::make_unique<PendingCallWakeup>();
}

}  // namespace

// Memory ordering: acquire, paired with the release in Begin.
Life& Life::Present() { return *present.load(std::memory_order_acquire); }

void Life::Begin() {
  Life* const before = present.load(std::memory_order_acquire);
  if (before == nullptr) {
    pthread_atfork(nullptr, nullptr, &AbandonInForkedChild);
  } else if (!before->IsOver()) {
    return;  // imported once more
  }
  present.store(new Life, std::memory_order_release);
}

void Life::StartCleanup() {
  DeferredCleanup& cleanup = DeferredCleanup::Process();
  if (cleanup.IsRunning()) {
    return;
  }
  const std::lock_guard lock(StartMutex());
  if (is_ending_) {
    throw std::runtime_error("no graph can be made any more: Python is going away");
  }
  if (!cleanup.IsRunning()) {
    cleanup.Start(MakeWakeup());
  }
}

void Life::ChooseWakeup(const std::string& name) {
  const std::lock_guard lock(StartMutex());
  if (DeferredCleanup::Process().IsRunning()) {
    throw std::runtime_error("the wakeup is chosen before the first graph is made: the cleanup runs already");
  }
  if (name == "pending-call") {
    choice = WakeupChoice::kPendingCall;
  } else if (name == "worker") {
    choice = WakeupChoice::kWorker;
  } else if (name == "manual") {
    choice = WakeupChoice::kManual;
  } else {
    throw std::invalid_argument("there is no wakeup '" + name + "': it is 'pending-call', 'worker' or 'manual'");
  }
}

void Life::End() {
  const GilReleased released;
  {
    // Other threads run on, and must not start anew what is shut down next.
    const std::lock_guard lock(StartMutex());
    is_ending_ = true;
  }
  DeferredCleanup::Process().Shutdown();
  gate_.Close();
}

void Life::AbandonInForkedChild() {
  driver::AbandonInForkedChild();
  DeferredCleanup::Process().AbandonInForkedChild();
  Life* const before = present.load(std::memory_order_acquire);
  before->gate_.CloseWithoutWaiting();
  present.store(new Life, std::memory_order_release);
}

}  // namespace holdfast::python
