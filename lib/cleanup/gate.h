// The gate that shutdown closes: threads pass through it before they touch the host (Python, a worker), and closing
// it waits for those inside. A flag that is checked first and acted on later would leave a window between the two,
// in which the host goes away under the caller.
#ifndef HOLDFAST_LIB_CLEANUP_GATE_H_
#define HOLDFAST_LIB_CLEANUP_GATE_H_

#include <atomic>
#include <cstdint>

namespace holdfast::cleanup {

// Thread safety: all members from any thread.
template <typename Atomics>
class ShutdownGate {
 public:
  // False once the gate is closed; then there is nothing to leave. Never blocks and takes no lock.
  // Memory ordering: acquire, so that what the closer did before an earlier Enter is not mistaken for later; the
  // release half keeps the count in one chain with Close, which must see every thread that got in.
  bool Enter() noexcept {
    if ((state_.fetch_add(1, std::memory_order_acq_rel) & kClosed) == 0) {
      return true;
    }
    Leave();
    return false;
  }

  // Memory ordering: release, so that all that was done inside happens before Close returns; acquire, since the
  // thread that leaves last hands over what the others released.
  void Leave() noexcept {
    if (state_.fetch_sub(1, std::memory_order_acq_rel) == (kClosed | 1)) {
      nobody_inside_.Release();
    }
  }

  // Closes the gate for good and waits until nobody is inside. False, at once, if it had been closed before.
  // REQUIRES: the calling thread is not inside.
  // ENSURES: when it returned true, every Enter that succeeded has been left, and none will succeed.
  bool Close() noexcept {
    if ((state_.fetch_or(kClosed, std::memory_order_acq_rel) & kClosed) != 0) {
      return false;
    }
    // Memory ordering: acquire, paired with the release in the last Leave.
    // A thread that is turned away also passes through the count, so a post may be one too many or early: look again.
    while (state_.load(std::memory_order_acquire) != kClosed) {
      nobody_inside_.Acquire();
    }
    return true;
  }

  // For the child of a fork: the threads that were inside stayed behind, and would be waited for in vain.
  // Memory ordering: release, paired with IsClosed and Enter.
  void CloseWithoutWaiting() noexcept { state_.fetch_or(kClosed, std::memory_order_acq_rel); }

  // Memory ordering: acquire, paired with Close. A true answer is final, a false one may be outdated.
  bool IsClosed() const noexcept { return (state_.load(std::memory_order_acquire) & kClosed) != 0; }

 private:
  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 63;

  // The top bit says closed, the rest counts the threads inside.
  typename Atomics::template Atomic<std::uint64_t> state_{0};
  typename Atomics::Semaphore nobody_inside_;
};

}  // namespace holdfast::cleanup

#endif  // HOLDFAST_LIB_CLEANUP_GATE_H_
