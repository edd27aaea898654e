// Draws executions of a program at random, for those too large to be enumerated. Each is determined by the seed and its
// number, and is an execution of the memory model: what a read may read and where a store may go are drawn too.
#ifndef HOLDFAST_HARNESS_EXPLORE_RANDOM_SEARCH_H_
#define HOLDFAST_HARNESS_EXPLORE_RANDOM_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "fault/schedule/thread_picker.h"
#include "harness/explore/forward_run.h"

namespace holdfast::explore {

using schedule::RandomNumbers;
using schedule::Strategy;

class RandomSearch {
 public:
  RandomSearch(Machine& machine, const Program& program, const Limits& limits, Strategy strategy, std::uint64_t seed,
               std::uint64_t preemptions_max = UINT64_MAX)
      : run_(machine, program, limits, preemptions_max), seed_(seed), random_(seed), picker_(strategy) {}

  // Draws the execution of this number, to its end. The result is there until the next one.
  void Draw(std::uint64_t number);

  Execution& execution() { return run_.execution(); }

  // For ForwardRun.
  std::size_t PickThread(std::span<const std::size_t> runnable);

  // The newest value half of the time: what goes wrong with it must not be crowded out by what goes wrong with others.
  bool PrefersUsual() { return random_.Below(2) == 0; }
  std::size_t PickOption(std::size_t count) { return random_.Below(count); }

 private:
  void BeginPicking();

  ForwardRun run_;
  const std::uint64_t seed_;
  RandomNumbers random_;
  bool has_begun_ = false;
  schedule::ThreadPicker<kThreadsMax> picker_;
  std::size_t steps_of_last_ = 32;
};

}  // namespace holdfast::explore

#endif  // HOLDFAST_HARNESS_EXPLORE_RANDOM_SEARCH_H_
