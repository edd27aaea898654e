// The concurrency primitives that the cleanup templates are written against, as the program ships with them.
//
// The templates take this struct as a parameter, so that the very code that ships also runs under an explorer of
// interleavings with its own primitives. A replacement provides the same names:
//   Atomic<T>    std::atomic's operations, memory orders included
//   Plain<T>     an ordinary variable (an explorer checks it for races)
//   Counter      a statistic that orders nothing: Add, RaiseTo, Get
//   Semaphore    Release, Acquire, AcquireFor
#ifndef HOLDFAST_LIB_CLEANUP_STANDARD_ATOMICS_H_
#define HOLDFAST_LIB_CLEANUP_STANDARD_ATOMICS_H_

#include <semaphore.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace holdfast::cleanup {

struct StandardAtomics {
  template <typename T>
  using Atomic = std::atomic<T>;

  template <typename T>
  using Plain = T;

  // Memory ordering: relaxed throughout. A reader learns how often something happened, never that it may rely on
  // the effect of it.
  class Counter {
   public:
    void Add(std::uint64_t amount) noexcept { value_.fetch_add(amount, std::memory_order_relaxed); }
    std::uint64_t Get() const noexcept { return value_.load(std::memory_order_relaxed); }

    void RaiseTo(std::uint64_t value) noexcept {
      std::uint64_t seen = Get();
      while (seen < value && !value_.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
      }
    }

   private:
    std::atomic<std::uint64_t> value_{0};
  };

  // POSIX's semaphore: posting takes no lock, so a driver callback may do it.
  class Semaphore {
   public:
    Semaphore() noexcept { sem_init(&semaphore_, 0, 0); }
    ~Semaphore() { sem_destroy(&semaphore_); }
    Semaphore(const Semaphore&) = delete;
    Semaphore& operator=(const Semaphore&) = delete;

    void Release() noexcept { sem_post(&semaphore_); }

    void Acquire() noexcept {
      while (sem_wait(&semaphore_) != 0) {  // interrupted by a signal
      }
    }

    // False when `limit` passed first.
    bool AcquireFor(std::chrono::milliseconds limit) noexcept {
      timespec deadline{};
      clock_gettime(CLOCK_MONOTONIC, &deadline);
      const std::int64_t nanoseconds = deadline.tv_nsec + std::chrono::nanoseconds(limit).count();
      deadline.tv_sec += nanoseconds / 1'000'000'000;
      deadline.tv_nsec = nanoseconds % 1'000'000'000;
      while (sem_clockwait(&semaphore_, CLOCK_MONOTONIC, &deadline) != 0) {
        if (errno == ETIMEDOUT) {
          return false;
        }
      }
      return true;
    }

   private:
    sem_t semaphore_;
  };
};

}  // namespace holdfast::cleanup

#endif  // HOLDFAST_LIB_CLEANUP_STANDARD_ATOMICS_H_
