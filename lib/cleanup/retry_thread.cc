#include "lib/cleanup/retry_thread.h"

#include <utility>

namespace holdfast::cleanup {

RetryThread::RetryThread(std::function<bool()> retry)
    : retry_(std::move(retry)), thread_([this] { loop_.Run(retry_, kInterval); }) {}

RetryThread::~RetryThread() { Stop(); }

void RetryThread::Stop() noexcept {
  if (!thread_.joinable()) {
    return;
  }
  loop_.RequestStop();
  thread_.join();
}

}  // namespace holdfast::cleanup
