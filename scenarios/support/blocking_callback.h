// BlockingCallback: a host node that holds its launch in flight until the scenario lets it go.
#ifndef HOLDFAST_SCENARIOS_SUPPORT_BLOCKING_CALLBACK_H_
#define HOLDFAST_SCENARIOS_SUPPORT_BLOCKING_CALLBACK_H_

#include <atomic>
#include <memory>
#include <thread>

#include "lib/graph/operands.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {

class BlockingCallback {
 public:
  ~BlockingCallback() { Open(); }

  // The node's callback. Its function owner is `owner`; what the function touches lives until it has run.
  HostCallback Callback(OpaqueHandle owner) {
    // The gate must outlive the launch whatever happens to the owner under test: it is kept by this object and by the
    // scenario's promise to synchronise before it ends.
    return {&Wait, gate_.get(), std::move(owner), nullptr};
  }

  bool HasStarted() const noexcept { return gate_->started.load() > 0; }
  bool HasEnded() const noexcept { return gate_->ended.load() > 0; }
  void Open() noexcept { gate_->open = true; }

 private:
  struct Gate {
    std::atomic<bool> open{false};
    std::atomic<int> started{0};
    std::atomic<int> ended{0};
  };

  static void CUDA_CB Wait(void* user_data) {
    Gate* gate = static_cast<Gate*>(user_data);
    ++gate->started;
    while (!gate->open) {
      std::this_thread::yield();
    }
    ++gate->ended;
  }

  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
};

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_BLOCKING_CALLBACK_H_
