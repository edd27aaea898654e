// Gate: holds launches in flight until it is opened.
#ifndef HOLDFAST_SCENARIOS_FUZZ_GATE_H_
#define HOLDFAST_SCENARIOS_FUZZ_GATE_H_

#include <cuda.h>

#include <atomic>

namespace holdfast::fuzz {

// Thread safety: all members from any thread. REQUIRES: outlives every function that waits for it.
class Gate {
 public:
  bool is_closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  void Close() noexcept { closed_.store(true, std::memory_order_release); }
  void Open() noexcept {
    closed_.store(false, std::memory_order_release);
    closed_.notify_all();
  }

  // A host function: returns when the gate is open.
  static void CUDA_CB Pass(void* gate) { static_cast<Gate*>(gate)->closed_.wait(true, std::memory_order_acquire); }

 private:
  std::atomic<bool> closed_{false};
};

}  // namespace holdfast::fuzz

#endif  // HOLDFAST_SCENARIOS_FUZZ_GATE_H_
