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
  //   std::size_t PickOption(std::size_t count)                       from 0, the usual one, to count - 1
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
      Step(thread, chooser);
    }
  }

 private:
  void Begin();
  void FindRunnable();
  bool CanGoOn(std::size_t thread);
  void KeepThoseThatGoOn(std::size_t thread, const std::vector<Option>& options);
  bool Take(std::size_t thread, const Option& option, std::uint32_t stamp);
  void EndWithWaits();

  // Options of which it turns out that they lead to no execution of the memory model are taken back.
  template <typename Chooser>
  void Step(std::size_t thread, Chooser& chooser) {
    const std::vector<Option>* options = &execution_.OptionsOf(thread, false);
    if (execution_.machine().PendingOf(thread).waits) {
      KeepThoseThatGoOn(thread, *options);
      options = &options_;
    }
    const std::uint32_t stamp = execution_.TakeStamp();
    while (!options->empty()) {
      const std::size_t pick = options->size() == 1 ? 0 : chooser.PickOption(options->size());
      if (Take(thread, (*options)[pick], stamp)) {
        return;
      }
      options_ = *options;
      options_.erase(options_.begin() + static_cast<std::ptrdiff_t>(pick));
      options = &options_;
    }
    rests_until_[thread] = writes_;
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
