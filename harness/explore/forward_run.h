// An execution from its beginning to its end, a step at a time, as somebody chooses.
#ifndef HOLDFAST_HARNESS_EXPLORE_FORWARD_RUN_H_
#define HOLDFAST_HARNESS_EXPLORE_FORWARD_RUN_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/explore/execution.h"

namespace holdfast::explore {

class ForwardRun {
 public:
  // `preemptions_max`: how often a thread that could go on may have to wait for another.
  ForwardRun(Machine& machine, const Program& program, const Limits& limits, std::uint64_t preemptions_max)
      : execution_(machine, program, limits), preemptions_max_(preemptions_max) {}

  Execution& execution() { return execution_; }

  // A chooser has
  //   std::size_t PickThread(std::span<const std::size_t> runnable)   one of these; the one that ran last comes first
  //   bool PrefersUsual()                                             takes the usual option in this step, if it can be
  //   std::size_t PickOption(std::size_t count)                       else: from 0, the usual one, to count - 1
  // The result is there until the next run.
  template <typename Chooser>
  void Run(Chooser& chooser) {
    Begin();
    while (!execution_.finding()) {
      FindRunnable();
      if (runnable_count_ == 0) {
        EndWithWaits();
        return;
      }
      const std::size_t thread = chooser.PickThread(std::span(runnable_).first(runnable_count_));
      preemptions_ += thread != last_ && runnable_[0] == last_ ? 1 : 0;
      last_ = thread;
      // From here, not from further in: see Machine::Complete.
      if (Step(thread, chooser)) {
        execution_.RunOn(thread);
      }
    }
  }

 private:
  void Begin();
  void FindRunnable();
  bool CanGoOn(std::size_t thread) {
    return execution_.IsRunnable(thread) && rests_until_[thread] != writes_ &&
           (!execution_.machine().PendingOf(thread).waits || CanEndWait(thread));
  }
  bool CanEndWait(std::size_t thread);
  void ListOptions(std::size_t thread, bool without_usual);
  bool Take(std::size_t thread, const Option& option, std::uint32_t stamp);
  void EndWithWaits();

  // Whether the thread has a new event and can run on. Options of which it turns out that they lead to no execution of
  // the memory model are taken back.
  template <typename Chooser>
  bool Step(std::size_t thread, Chooser& chooser) {
    const std::uint32_t stamp = execution_.TakeStamp();
    const bool prefers_usual = chooser.PrefersUsual();
    // To list the options can cost more than to take one.
    const bool tries_usual = prefers_usual && !execution_.machine().PendingOf(thread).waits;
    if (tries_usual && Take(thread, execution_.UsualOption(thread), stamp)) {
      return !execution_.finding();
    }
    ListOptions(thread, tries_usual);
    while (!options_.empty()) {
      const std::size_t pick = prefers_usual || options_.size() == 1 ? 0 : chooser.PickOption(options_.size());
      if (Take(thread, options_[pick], stamp)) {
        return !execution_.finding();
      }
      options_.erase(options_.begin() + static_cast<std::ptrdiff_t>(pick));
    }
    rests_until_[thread] = writes_;
    return false;
  }

  Execution execution_;
  const std::uint64_t preemptions_max_;
  std::uint64_t preemptions_ = 0;
  std::size_t last_ = kThreadsMax;

  std::array<std::size_t, kThreadsMax> runnable_{};
  std::size_t runnable_count_ = 0;

  // A thread that goes round in a loop rests until something has been written.
  std::array<std::uint64_t, kThreadsMax> rests_until_{};
  std::uint64_t writes_ = 0;
  std::vector<Option> options_;
};

}  // namespace holdfast::explore

#endif  // HOLDFAST_HARNESS_EXPLORE_FORWARD_RUN_H_
