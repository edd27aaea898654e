#include "harness/explore/forward_run.h"

namespace holdfast::explore {

void ForwardRun::Begin() {
  execution_.Begin();
  rests_until_.fill(0);
  writes_ = 1;
  preemptions_ = 0;
  last_ = kThreadsMax;
}

void ForwardRun::FindRunnable() {
  runnable_count_ = 0;
  if (last_ < kThreadsMax && CanGoOn(last_)) {
    runnable_[runnable_count_++] = last_;
    if (preemptions_ >= preemptions_max_) {
      return;
    }
  }
  for (std::size_t thread = 0; thread < execution_.machine().thread_count(); ++thread) {
    if (thread != last_ && CanGoOn(thread)) {
      runnable_[runnable_count_++] = thread;
    }
  }
}

bool ForwardRun::CanEndWait(std::size_t thread) {
  const std::vector<Option>& options = execution_.OptionsOf(thread, false);
  return std::any_of(options.begin(), options.end(),
                     [&](const Option& option) { return !execution_.WouldWait(thread, option); });
}

// Those with which the thread goes on.
void ForwardRun::ListOptions(std::size_t thread, bool without_usual) {
  const std::vector<Option>& options = execution_.OptionsOf(thread, false);
  options_.assign(options.begin() + (without_usual ? 1 : 0), options.end());
  if (execution_.machine().PendingOf(thread).waits) {
    std::erase_if(options_, [&](const Option& option) { return execution_.WouldWait(thread, option); });
  }
}

// Adds the event. False if it is taken back: it is inconsistent, or the thread would go round in a loop.
bool ForwardRun::Take(std::size_t thread, const Option& option, std::uint32_t stamp) {
  const bool is_consistent = execution_.Append(thread, option, stamp);
  if (execution_.finding()) {
    return true;
  }
  const Event& event = execution_.graph().At(execution_.graph().LastOf(thread));
  if (!is_consistent || event.is_spinning) {
    execution_.TakeBack(thread);
    return false;
  }
  writes_ += event.Writes() ? 1 : 0;
  return true;
}

// Nothing can go on: what waits does so for good.
void ForwardRun::EndWithWaits() {
  for (std::size_t thread = 0; thread < execution_.machine().thread_count() && !execution_.finding(); ++thread) {
    if (execution_.IsRunnable(thread)) {
      execution_.Append(thread, execution_.OptionsOf(thread, false).front(), execution_.TakeStamp());
      execution_.RunOn(thread);
    }
  }
  if (!execution_.finding()) {
    execution_.Finish();
  }
}

}  // namespace holdfast::explore
