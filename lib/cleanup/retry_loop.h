// What the retry thread does: parks until it is alerted, then tries at short intervals until it is told that all is
// well, and parks again.
#ifndef HOLDFAST_LIB_CLEANUP_RETRY_LOOP_H_
#define HOLDFAST_LIB_CLEANUP_RETRY_LOOP_H_

#include <atomic>
#include <chrono>

namespace holdfast::cleanup {

// Thread safety: Run on one thread, the other members from any. Whoever has the thread starts it and waits for its end.
template <typename Atomics>
class RetryLoop {
 public:
  // Posts a semaphore, nothing else.
  void Alert() noexcept { alerts_.Release(); }

  // Run returns soon. Later alerts do nothing.
  // Memory ordering: release, paired with the acquire load in Run.
  void RequestStop() noexcept {
    stopping_.store(true, std::memory_order_release);
    alerts_.Release();
    stop_.Release();
  }

  // `retry` says true when there is nothing to try again for.
  // Memory ordering: relaxed in the inner loop: who sees the end there looks again, with acquire.
  template <typename Retry>
  void Run(const Retry& retry, std::chrono::milliseconds interval) noexcept {
    while (true) {
      alerts_.Acquire();
      while (!stopping_.load(std::memory_order_relaxed) && !retry()) {
        stop_.AcquireFor(interval);
      }
      if (stopping_.load(std::memory_order_acquire)) {
        return;
      }
    }
  }

 private:
  typename Atomics::Semaphore alerts_;
  // Apart from the alerts: an attempt that is refused alerts again, and must not cut the pause after it short.
  typename Atomics::Semaphore stop_;
  typename Atomics::template Atomic<bool> stopping_{false};
};

}  // namespace holdfast::cleanup

#endif  // HOLDFAST_LIB_CLEANUP_RETRY_LOOP_H_
