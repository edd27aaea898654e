#include "lib/cleanup/retry_thread.h"

#include <utility>

namespace holdfast::cleanup {

RetryThread::RetryThread(std::function<bool()> retry) : retry_(std::move(retry)), thread_([this] { Run(); }) {}

RetryThread::~RetryThread() { Stop(); }

void RetryThread::Stop() noexcept {
  if (!thread_.joinable()) {
    return;
  }
  // Memory ordering: release, paired with the acquire loads in Run.
  stopping_.store(true, std::memory_order_release);
  alerts_.Release();
  stop_.Release();
  thread_.join();
}

void RetryThread::Run() noexcept {
  while (true) {
    alerts_.Acquire();
    while (!stopping_.load(std::memory_order_acquire) && !retry_()) {
      stop_.AcquireFor(kInterval);
    }
    if (stopping_.load(std::memory_order_acquire)) {
      return;
    }
  }
}

}  // namespace holdfast::cleanup
