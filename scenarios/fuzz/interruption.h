// Interruption: has something happen in the middle of a driver call, at the moment when the driver has destroyed a
// graph and the caller does not know yet.
//
//   the thread that destroys            another thread
//   library: destroys a node
//     driver: the child graph is gone, its raw handle is free
//       destructor of our user object -> makes graphs, which get the handle at once
//     driver: returns
//   library: takes out what it knew of the child graph
//
// This is how one hierarchy can mistake a graph of another one for its own (hazard D-17). A destructor may not call
// CUDA itself, and so another thread does.
#ifndef HOLDFAST_SCENARIOS_FUZZ_INTERRUPTION_H_
#define HOLDFAST_SCENARIOS_FUZZ_INTERRUPTION_H_

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "scenarios/fuzz/environment.h"
#include "scenarios/fuzz/worker.h"

namespace holdfast::fuzz {

// Thread safety: none, but for what the driver calls back.
class Interruption {
 public:
  explicit Interruption(Environment& environment) : environment_(environment) {}

  // Runs `call` with `task` in the middle of it, on a thread of its own, if `call` ends `graph`; behind it otherwise.
  void Run(CUgraph graph, const std::function<void()>& call, std::function<void()> task);

  // User objects of this class that are alive: a graph that was not ended after all keeps the one that it was given.
  std::uint64_t live_objects() const { return live_objects_.load(std::memory_order_relaxed); }

 private:
  static void CUDA_CB OnDestroyed(void* interruption);

  // Whether it was this call that handed the task over. ENSURES: the worker has it, whoever did.
  bool Start();

  Environment& environment_;
  std::unique_ptr<Worker> worker_;  // made when first needed
  std::mutex mutex_;
  // Guarded by mutex_. Who takes it hands it to the worker: the destructor, or Run when there was none.
  std::function<void()> task_;
  // Memory ordering: relaxed. Read where the driver has no destructor under way.
  std::atomic<std::uint64_t> live_objects_{0};
};

}  // namespace holdfast::fuzz

#endif  // HOLDFAST_SCENARIOS_FUZZ_INTERRUPTION_H_
