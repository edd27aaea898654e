// What a worker thread does: parks, drains when it is asked to, and ends when it is told to.
#ifndef HOLDFAST_LIB_CLEANUP_WORKER_LOOP_H_
#define HOLDFAST_LIB_CLEANUP_WORKER_LOOP_H_

#include <atomic>

namespace holdfast::cleanup {

// Thread safety: Run on one thread, the other members from any. Whoever has the thread starts it and waits for its end.
template <typename Atomics>
class WorkerLoop {
 public:
  // Posts a semaphore, nothing else.
  void Request() noexcept { requests_.Release(); }

  // Run returns soon. Later requests do nothing.
  // Memory ordering: release, paired with the acquire in Run. The post alone would order them too; the pair keeps
  // that from depending on how the semaphore is made.
  void RequestStop() noexcept {
    stopping_.store(true, std::memory_order_release);
    requests_.Release();
  }

  template <typename Drain>
  void Run(Drain drain) noexcept {
    while (true) {
      requests_.Acquire();
      if (stopping_.load(std::memory_order_acquire)) {
        return;
      }
      drain();
    }
  }

 private:
  typename Atomics::Semaphore requests_;
  typename Atomics::template Atomic<bool> stopping_{false};
};

}  // namespace holdfast::cleanup

#endif  // HOLDFAST_LIB_CLEANUP_WORKER_LOOP_H_
