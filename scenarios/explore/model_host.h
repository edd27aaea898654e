// ModelHost: a host's queue of pending calls, which may be short of room, refuse and lose, with the thread that runs
// them; it may go away, and must then not be touched.
#ifndef HOLDFAST_SCENARIOS_EXPLORE_MODEL_HOST_H_
#define HOLDFAST_SCENARIOS_EXPLORE_MODEL_HOST_H_

#include <array>
#include <cstdint>

#include "harness/explore/explore.h"
#include "lib/cleanup/wakeup.h"

namespace holdfast::scenarios {

// How often each thread's requests may go wrong. Not for the host as a whole: a common count would order the threads.
struct HostFaults {
  int refusals_of_a_thread = 0;
  int losses_of_a_thread = 0;
};

class ModelHost : public cleanup::Wakeup {
 public:
  // `holds_one`: it is a fault of the caller to ask while a call is outstanding.
  explicit ModelHost(const HostFaults& faults = {}, bool holds_one = false) : holds_one_(holds_one) {
    refusals_left_.fill(faults.refusals_of_a_thread);
    losses_left_.fill(faults.losses_of_a_thread);
  }

  void Start(cleanup::DrainFunction) override {}
  void Stop() noexcept override {}

  bool Request() noexcept override {
    RequireAlive();
    const std::size_t me = explore::Machine::Current().current_thread();
    if (certain_refusals_[me] > 0) {
      --certain_refusals_[me];
      return false;
    }
    if (refusals_left_[me] > 0 && --refusals_left_[me] >= 0 && explore::Fails()) {
      return false;
    }
    if (holds_one_) {
      explore::Require(room_.try_acquire(), "at most one wakeup is outstanding, and who asks knows that the last ran");
    }
    if (losses_left_[me] > 0 && --losses_left_[me] >= 0 && explore::Fails()) {
      return true;
    }
    pending_.release();
    return true;
  }

  // From now on the calling thread's requests are refused, so many times.
  void RefuseMine(int count) { certain_refusals_[explore::Machine::Current().current_thread()] = count; }

  // At quiescence: whether a call was accepted that has not come to run.
  bool HasPending() { return pending_.try_acquire(); }

  // The host's own thread: waits for a call and takes it out.
  void Await() {
    pending_.acquire();
    if (holds_one_) {
      room_.release();
    }
  }

  // A plain read: when it races with Finalize, the explorer says so.
  void RequireAlive() const { explore::Require(is_alive_, "the host is touched before it goes, never after"); }
  void Finalize() { is_alive_ = false; }

 private:
  const bool holds_one_;
  // Each count is touched by its own thread alone; the last one is the set-up's.
  std::array<int, explore::kThreadsMax + 1> certain_refusals_{};
  std::array<int, explore::kThreadsMax + 1> refusals_left_{};
  std::array<int, explore::kThreadsMax + 1> losses_left_{};
  explore::semaphore pending_;
  explore::semaphore room_{1};
  explore::var<bool> is_alive_{true};
};

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_EXPLORE_MODEL_HOST_H_
