// Which thread goes on next, drawn at random: the strategies that the explorer and the order control share.
//
// Sources: priorities with few changes after Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with
// Probabilistic Guarantees of Finding Bugs" (ASPLOS 2010); starving one thread as rr's chaos mode does.
//
// In a header, and without allocation: the explorer picks millions of times a second, and the order control picks
// inside the allocator's own locks.
#ifndef HOLDFAST_FAULT_SCHEDULE_THREAD_PICKER_H_
#define HOLDFAST_FAULT_SCHEDULE_THREAD_PICKER_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace holdfast::schedule {

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

// Picks for one execution at a time. Threads are numbers below kThreadsMax.
template <std::size_t kThreadsMax>
class ThreadPicker {
 public:
  // How many times a thread of high priority is made the last one.
  static constexpr std::size_t kPriorityChanges = 3;

  explicit ThreadPicker(Strategy strategy) : strategy_(strategy) {}

  // A new execution. The thread that bursts begin with, or that starves, is one of the first `favourites`; priorities
  // are drawn for the first `thread_count`. REQUIRES: favourites > 0.
  void Begin(RandomNumbers& random, std::size_t favourites, std::size_t thread_count) {
    steps_ = 0;
    lowest_ = 0;
    favourite_ = random.Below(favourites);
    for (std::size_t thread = 0; thread < kThreadsMax; ++thread) {
      priorities_[thread] = static_cast<std::ptrdiff_t>(thread + kPriorityChanges);
    }
    for (std::size_t thread = thread_count; thread > 1; --thread) {
      std::swap(priorities_[thread - 1], priorities_[random.Below(thread)]);
    }
  }

  // The step, counted from 0, at which the priority of the thread that goes on is changed for the `index`-th time.
  void SetChange(std::size_t index, std::size_t step) { changes_[index] = step; }

  // One of `runnable`, which has at least one. Does not count the step: what was picked may not be taken.
  std::size_t Pick(RandomNumbers& random, std::span<const std::size_t> runnable) {
    switch (strategy_) {
      case Strategy::kRandom:
        break;
      case Strategy::kPct:
        return PickByPriority(runnable);
      case Strategy::kBursts:
        if (!HasFavourite(runnable) || random.Below(8) == 0) {
          favourite_ = runnable[random.Below(runnable.size())];
        }
        return favourite_;
      case Strategy::kStarvation:
        if (runnable.size() > 1 && HasFavourite(runnable) && random.Below(64) != 0) {
          return PickOther(random, runnable);
        }
        break;
    }
    return runnable[random.Below(runnable.size())];
  }

  void CountStep() { ++steps_; }

  // The thread has nothing to do but to look again: it gets the lowest priority, since one that looks again and again,
  // and wakes others in doing so, would keep those that it waits for from going on for ever.
  void Lower(std::size_t thread) { priorities_[thread] = --lowest_; }

  std::size_t steps() const { return steps_; }

 private:
  bool HasFavourite(std::span<const std::size_t> runnable) const {
    return std::find(runnable.begin(), runnable.end(), favourite_) != runnable.end();
  }

  // REQUIRES: the favourite is one of `runnable`, and there is another.
  std::size_t PickOther(RandomNumbers& random, std::span<const std::size_t> runnable) const {
    std::size_t left = random.Below(runnable.size() - 1);
    const auto other = std::find_if(runnable.begin(), runnable.end(),
                                    [&](std::size_t thread) { return thread != favourite_ && left-- == 0; });
    return *other;
  }

  std::size_t PickByPriority(std::span<const std::size_t> runnable) {
    const std::size_t thread =
        *std::max_element(runnable.begin(), runnable.end(),
                          [&](std::size_t one, std::size_t other) { return priorities_[one] < priorities_[other]; });
    const auto change = std::find(changes_.begin(), changes_.end(), steps_);
    if (change != changes_.end()) {
      priorities_[thread] = static_cast<std::ptrdiff_t>(change - changes_.begin());
    }
    return thread;
  }

  Strategy strategy_;
  std::array<std::ptrdiff_t, kThreadsMax> priorities_{};
  std::array<std::size_t, kPriorityChanges> changes_{};
  std::size_t steps_ = 0;
  std::size_t favourite_ = 0;
  std::ptrdiff_t lowest_ = 0;
};

}  // namespace holdfast::schedule

#endif  // HOLDFAST_FAULT_SCHEDULE_THREAD_PICKER_H_
