#include "lib/cleanup/wakeups.h"

namespace holdfast::cleanup {

WorkerWakeup::~WorkerWakeup() { WorkerWakeup::Stop(); }

void WorkerWakeup::Start(DrainFunction drain) {
  thread_ = std::thread([this, drain] { Run(drain); });
}

bool WorkerWakeup::Request() noexcept {
  requests_.Release();
  return true;
}

void WorkerWakeup::Stop() noexcept {
  if (!thread_.joinable()) {
    return;
  }
  // Memory ordering: release, paired with the acquire in Run. The post alone would order them too; the pair keeps
  // that from depending on how the semaphore is made.
  stopping_.store(true, std::memory_order_release);
  requests_.Release();
  thread_.join();
}

void WorkerWakeup::Run(DrainFunction drain) noexcept {
  while (true) {
    requests_.Acquire();
    if (stopping_.load(std::memory_order_acquire)) {
      return;
    }
    drain();
  }
}

void PendingCallWakeup::Start(DrainFunction drain) { drain_ = drain; }

bool PendingCallWakeup::Request() noexcept { return add_pending_call_(&RunDrain, this) == 0; }

int PendingCallWakeup::RunDrain(void* wakeup) noexcept {
  static_cast<PendingCallWakeup*>(wakeup)->drain_();
  return 0;
}

}  // namespace holdfast::cleanup
