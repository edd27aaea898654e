// Draws executions of a program at random, for those too large to be enumerated. Each is determined by the seed and its
// number, and is an execution of the memory model: what a read may read and where a store may go are drawn too.
//
// Sources: priorities with few changes after Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with
// Probabilistic Guarantees of Finding Bugs" (ASPLOS 2010); starving one thread as rr's chaos mode does.
#ifndef HOLDFAST_HARNESS_EXPLORE_RANDOM_SEARCH_H_
#define HOLDFAST_HARNESS_EXPLORE_RANDOM_SEARCH_H_

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "harness/explore/execution.h"

namespace holdfast::explore {

enum class Strategy : std::uint8_t {
  kRandom,      // each step any thread, all equally likely
  kPct,         // the thread of the highest priority, which at a few steps becomes the lowest (PCT)
  kBursts,      // one thread for a while, then another
  kStarvation,  // one thread only when no other can go on, or once in a long while
};

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): to start anew for each execution it must be cheap to seed.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }

  // From 0 to `count` - 1; the deviation from evenness does not matter for so small counts.
  std::size_t Below(std::size_t count) { return static_cast<std::size_t>(((Next() >> 32) * count) >> 32); }

 private:
  std::uint64_t state_;
};

class RandomSearch {
 public:
  RandomSearch(Machine& machine, const Program& program, const Limits& limits, Strategy strategy, std::uint64_t seed,
               std::uint64_t preemptions_max = UINT64_MAX);

  // Draws the execution of this number, to its end. The result is there until the next one.
  void Draw(std::uint64_t number);

  Execution& execution() { return execution_; }

 private:
  // How many times a thread of high priority is made the last one.
  static constexpr std::size_t kPriorityChanges = 3;

  void Prepare();
  std::size_t PickThread(RandomNumbers& random);
  std::size_t PickByStrategy(RandomNumbers& random);
  std::size_t PickOption(RandomNumbers& random, const std::vector<Option>& options);
  bool Step(std::size_t thread, RandomNumbers& random);
  void EndWithWaits();
  bool CanGoOn(std::size_t thread);

  Execution execution_;
  const Strategy strategy_;
  const std::uint64_t seed_;
  const std::uint64_t preemptions_max_;  // how often a thread that could go on may have to wait for another
  std::uint64_t preemptions_ = 0;
  std::size_t last_ = 0;

  std::array<std::size_t, kThreadsMax> runnable_{};
  std::size_t runnable_count_ = 0;

  // A thread that goes round in a loop rests until something has been written.
  std::array<std::uint64_t, kThreadsMax> rests_until_{};
  std::uint64_t writes_ = 0;

  std::array<std::size_t, kThreadsMax> priorities_{};
  std::array<std::size_t, kPriorityChanges> changes_{};
  std::size_t steps_ = 0;
  std::size_t steps_of_last_ = 32;
  std::size_t favourite_ = 0;
  std::vector<Option> options_;
};

}  // namespace holdfast::explore

#endif  // HOLDFAST_HARNESS_EXPLORE_RANDOM_SEARCH_H_
