// Asks again for wakeups that the host refused, so that payloads do not wait for somebody to use a graph again.
#ifndef HOLDFAST_LIB_CLEANUP_RETRY_THREAD_H_
#define HOLDFAST_LIB_CLEANUP_RETRY_THREAD_H_

#include <chrono>
#include <functional>
#include <thread>

#include "lib/cleanup/retry_loop.h"
#include "lib/cleanup/standard_atomics.h"

namespace holdfast::cleanup {

// Parked until Alert; then calls `retry` at short intervals until it says true, and parks again.
class RetryThread {
 public:
  // Bounds the time between room in the host's queue and the next attempt.
  static constexpr std::chrono::milliseconds kInterval{20};

  // Starts the thread: here, in the caller's context, and never in a driver callback.
  // `retry` must not throw.
  explicit RetryThread(std::function<bool()> retry);
  ~RetryThread();
  RetryThread(const RetryThread&) = delete;
  RetryThread& operator=(const RetryThread&) = delete;

  // Thread safety: from any thread, driver callbacks included: posts a semaphore, nothing else.
  void Alert() noexcept { loop_.Alert(); }

  // Ends the thread and waits for it. Later alerts do nothing.
  void Stop() noexcept;

 private:
  const std::function<bool()> retry_;
  RetryLoop<StandardAtomics> loop_;
  std::thread thread_;
};

}  // namespace holdfast::cleanup

#endif  // HOLDFAST_LIB_CLEANUP_RETRY_THREAD_H_
