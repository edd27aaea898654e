// A piece of work that is done or not: what streams, events and launches wait for.
#ifndef HOLDFAST_FAULT_MODEL_COMPLETION_H_
#define HOLDFAST_FAULT_MODEL_COMPLETION_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace holdfast::fault::model {

// Thread safety: all functions may be called from any thread; Finish once.
// Memory ordering: what the working thread did before Finish happens before a return from Wait, and before done() gives
// true.
class Completion {
 public:
  void Finish() {
    finished_at_ = std::chrono::steady_clock::now();
    done_.store(1, std::memory_order_release);
    done_.notify_all();
  }

  bool done() const { return done_.load(std::memory_order_acquire) != 0; }

  void Wait() const {
    while (!done()) done_.wait(0, std::memory_order_acquire);
  }

  // REQUIRES: done().
  std::chrono::steady_clock::time_point finished_at() const { return finished_at_; }

 private:
  std::atomic<std::uint32_t> done_{0};
  std::chrono::steady_clock::time_point finished_at_;  // written before done_
};

using CompletionPointer = std::shared_ptr<Completion>;
using CompletionList = std::vector<CompletionPointer>;

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_COMPLETION_H_
