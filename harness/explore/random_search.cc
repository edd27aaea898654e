#include "harness/explore/random_search.h"

#include <algorithm>
#include <span>

namespace holdfast::explore {

RandomSearch::RandomSearch(Machine& machine, const Program& program, const Limits& limits, Strategy strategy,
                           std::uint64_t seed, std::uint64_t preemptions_max)
    : execution_(machine, program, limits), seed_(seed), preemptions_max_(preemptions_max), picker_(strategy) {}

void RandomSearch::Draw(std::uint64_t number) {
  RandomNumbers random(RandomNumbers(seed_).Next() ^ number);
  execution_.Begin();
  rests_until_.fill(0);
  writes_ = 1;
  preemptions_ = 0;
  last_ = kThreadsMax;
  const std::size_t thread_count = execution_.machine().thread_count();
  picker_.Begin(random, std::max<std::size_t>(1, thread_count), thread_count);
  for (std::size_t index = 0; index < picker_.kPriorityChanges; ++index) {
    picker_.SetChange(index, random.Below(steps_of_last_));
  }
  while (!execution_.finding()) {
    Prepare();
    if (runnable_count_ == 0) {
      EndWithWaits();
      break;
    }
    Step(PickThread(random), random);
    picker_.CountStep();
  }
  steps_of_last_ = std::max<std::size_t>(picker_.steps(), 1);
}

void RandomSearch::Prepare() {
  runnable_count_ = 0;
  for (std::size_t thread = 0; thread < execution_.machine().thread_count(); ++thread) {
    if (CanGoOn(thread)) {
      runnable_[runnable_count_++] = thread;
    }
  }
}

bool RandomSearch::CanGoOn(std::size_t thread) {
  if (!execution_.IsRunnable(thread) || rests_until_[thread] == writes_) {
    return false;
  }
  if (!execution_.machine().PendingOf(thread).waits) {
    return true;
  }
  const std::vector<Option>& options = execution_.OptionsOf(thread, false);
  return std::any_of(options.begin(), options.end(),
                     [&](const Option& option) { return !execution_.WouldWait(thread, option); });
}

std::size_t RandomSearch::PickThread(RandomNumbers& random) {
  const auto runnable = std::span(runnable_).first(runnable_count_);
  const bool could_go_on = std::find(runnable.begin(), runnable.end(), last_) != runnable.end();
  std::size_t thread = picker_.Pick(random, runnable);
  if (could_go_on && thread != last_ && ++preemptions_ > preemptions_max_) {
    thread = last_;
  }
  last_ = thread;
  return thread;
}

// The newest value half of the time: what goes wrong with it must not be crowded out by what goes wrong with others.
std::size_t RandomSearch::PickOption(RandomNumbers& random, const std::vector<Option>& options) {
  return options.size() == 1 || random.Below(2) == 0 ? 0 : random.Below(options.size());
}

bool RandomSearch::Step(std::size_t thread, RandomNumbers& random) {
  options_ = execution_.OptionsOf(thread, false);
  if (execution_.machine().PendingOf(thread).waits) {
    std::erase_if(options_, [&](const Option& option) { return execution_.WouldWait(thread, option); });
  }
  const std::uint32_t stamp = execution_.next_stamp();
  execution_.set_next_stamp(stamp + 1);
  bool spins = false;
  while (!options_.empty()) {
    const std::size_t pick = PickOption(random, options_);
    const bool is_consistent = execution_.Append(thread, options_[pick], stamp);
    if (execution_.finding()) {
      return false;
    }
    const Event& event = execution_.graph().At(
        {static_cast<std::uint16_t>(thread), static_cast<std::uint16_t>(execution_.graph().Size(thread))});
    if (is_consistent && !event.is_spinning) {
      writes_ += event.Writes() ? 1 : 0;
      execution_.RunOn(thread);
      return true;
    }
    spins = spins || event.is_spinning;
    execution_.TakeBack(thread);
    options_.erase(options_.begin() + static_cast<std::ptrdiff_t>(pick));
  }
  rests_until_[thread] = writes_;
  return spins;
}

// Nothing can go on: what waits does so for good.
void RandomSearch::EndWithWaits() {
  for (std::size_t thread = 0; thread < execution_.machine().thread_count() && !execution_.finding(); ++thread) {
    if (execution_.IsRunnable(thread)) {
      const std::uint32_t stamp = execution_.next_stamp();
      execution_.set_next_stamp(stamp + 1);
      execution_.Append(thread, execution_.OptionsOf(thread, false).front(), stamp);
      execution_.RunOn(thread);
    }
  }
  if (!execution_.finding()) {
    execution_.Finish();
  }
}

}  // namespace holdfast::explore
