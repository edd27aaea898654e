// Draws executions of a program at random, for those too large to be enumerated. Each is determined by the seed and its
// number, and is an execution of the memory model: what a read may read and where a store may go are drawn too.
#ifndef HOLDFAST_HARNESS_EXPLORE_RANDOM_SEARCH_H_
#define HOLDFAST_HARNESS_EXPLORE_RANDOM_SEARCH_H_

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "fault/schedule/thread_picker.h"
#include "harness/explore/execution.h"

namespace holdfast::explore {

using schedule::RandomNumbers;
using schedule::Strategy;

class RandomSearch {
 public:
  RandomSearch(Machine& machine, const Program& program, const Limits& limits, Strategy strategy, std::uint64_t seed,
               std::uint64_t preemptions_max = UINT64_MAX);

  // Draws the execution of this number, to its end. The result is there until the next one.
  void Draw(std::uint64_t number);

  Execution& execution() { return execution_; }

 private:
  void Prepare();
  std::size_t PickThread(RandomNumbers& random);
  std::size_t PickOption(RandomNumbers& random, const std::vector<Option>& options);
  bool Step(std::size_t thread, RandomNumbers& random);
  void EndWithWaits();
  bool CanGoOn(std::size_t thread);

  Execution execution_;
  const std::uint64_t seed_;
  const std::uint64_t preemptions_max_;  // how often a thread that could go on may have to wait for another
  std::uint64_t preemptions_ = 0;
  std::size_t last_ = 0;

  std::array<std::size_t, kThreadsMax> runnable_{};
  std::size_t runnable_count_ = 0;

  // A thread that goes round in a loop rests until something has been written.
  std::array<std::uint64_t, kThreadsMax> rests_until_{};
  std::uint64_t writes_ = 0;

  schedule::ThreadPicker<kThreadsMax> picker_;
  std::size_t steps_of_last_ = 32;
  std::vector<Option> options_;
};

}  // namespace holdfast::explore

#endif  // HOLDFAST_HARNESS_EXPLORE_RANDOM_SEARCH_H_
