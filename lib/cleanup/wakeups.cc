#include "lib/cleanup/wakeups.h"

namespace holdfast::cleanup {

WorkerWakeup::~WorkerWakeup() { WorkerWakeup::Stop(); }

void WorkerWakeup::Start(DrainFunction drain) {
  thread_ = std::thread([this, drain] { loop_.Run(drain); });
}

bool WorkerWakeup::Request() noexcept {
  loop_.Request();
  return true;
}

void WorkerWakeup::Stop() noexcept {
  if (!thread_.joinable()) {
    return;
  }
  loop_.RequestStop();
  thread_.join();
}

void PendingCallWakeup::Start(DrainFunction drain) { drain_ = drain; }

bool PendingCallWakeup::Request() noexcept { return add_pending_call_(&RunDrain, this) == 0; }

int PendingCallWakeup::RunDrain(void* wakeup) noexcept {
  static_cast<PendingCallWakeup*>(wakeup)->drain_();
  return 0;
}

}  // namespace holdfast::cleanup
