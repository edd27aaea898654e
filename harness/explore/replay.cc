#include "harness/explore/replay.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace holdfast::explore {
namespace {

// The option by which the next event of a thread becomes what it is in `wanted`; the size of the list if there is none.
std::size_t NumberOf(Execution& execution, const Graph& wanted, EventId id) {
  const Event& event = wanted.At(id);
  const std::vector<Option>& options = execution.OptionsOf(id.thread, false);
  std::size_t after = 0;
  if (event.kind == EventKind::kWrite) {
    for (const EventId earlier : execution.graph().Writes(event.location)) {
      after += wanted.At(earlier).modification_index < event.modification_index ? 1 : 0;
    }
  }
  const auto found = std::find_if(options.begin(), options.end(), [&](const Option& option) {
    switch (event.kind) {
      case EventKind::kFence:
        return true;
      case EventKind::kChoice:
        return option.alternative == event.value_read;
      case EventKind::kWrite:
        return option.after == after;
      case EventKind::kRead:
      case EventKind::kReadModifyWrite:
        return option.reads_from == event.reads_from && option.fails_spuriously == event.is_spurious;
    }
    return false;
  });
  return static_cast<std::size_t>(found - options.begin());
}

// Takes one step; false if it cannot be taken.
bool Take(Execution& execution, const Step& step) {
  if (step.thread >= execution.machine().thread_count() || !execution.IsRunnable(step.thread)) {
    return false;
  }
  const std::vector<Option>& options = execution.OptionsOf(step.thread, false);
  if (step.option >= options.size()) {
    return false;
  }
  const Option option = options[step.option];
  if (!execution.Append(step.thread, option, execution.TakeStamp())) {
    if (execution.finding()) {
      return true;  // that of too many steps
    }
    execution.TakeBack(step.thread);
    return false;
  }
  if (!execution.finding()) {
    execution.RunOn(step.thread);
  }
  return true;
}

// Whether a thread can do more than to wait.
bool CanGoOn(Execution& execution, std::size_t thread) {
  if (!execution.IsRunnable(thread)) {
    return false;
  }
  if (!execution.machine().PendingOf(thread).waits) {
    return true;
  }
  const std::vector<Option>& options = execution.OptionsOf(thread, false);
  return !options.empty() && !execution.WouldWait(thread, options.front());
}

// Goes on with the thread that ran last, as long as it can, then with the first that can; waits come last.
void GoOn(Execution& execution, std::size_t last) {
  while (!execution.finding()) {
    std::size_t next = last;
    for (std::size_t thread = 0; thread < execution.machine().thread_count() && !CanGoOn(execution, next); ++thread) {
      next = thread;
    }
    for (std::size_t thread = 0;
         thread < execution.machine().thread_count() && !CanGoOn(execution, next) && !execution.IsRunnable(next);
         ++thread) {
      next = thread;
    }
    if (!execution.IsRunnable(next) || !Take(execution, {next, 0})) {
      break;
    }
    last = next;
  }
  if (!execution.finding()) {
    execution.Finish();
  }
}

}  // namespace

bool Failure::IsShorterThan(const Failure& other) const {
  return std::make_tuple(switches, faults, order.size()) <
         std::make_tuple(other.switches, other.faults, other.order.size());
}

void Replay(Execution& execution, const Schedule& schedule) {
  execution.Begin();
  std::vector<EventId> order;
  for (const Step& step : schedule.steps) {
    if (execution.finding() || !Take(execution, step)) {
      throw std::invalid_argument("the schedule cannot be taken beyond step " + std::to_string(order.size()) +
                                  ": the program is not the one that it was made with");
    }
    order.push_back(execution.graph().LastOf(step.thread));
  }
  if (HashOf(execution.graph(), order) != schedule.hash) {
    throw std::invalid_argument(
        "the program did something else than when the schedule was made: it was changed, or it depends on addresses, "
        "time or chance");
  }
  // A program that was repaired since goes on from here.
  GoOn(execution, schedule.steps.empty() ? 0 : schedule.steps.back().thread);
}

void ReplayLoosely(Execution& execution, const std::vector<Step>& steps) {
  execution.Begin();
  std::size_t last = 0;
  for (const Step& step : steps) {
    if (execution.finding()) {
      return;
    }
    if (step.thread < execution.machine().thread_count() && CanGoOn(execution, step.thread) &&
        (Take(execution, step) || Take(execution, {step.thread, 0}))) {
      last = step.thread;
    }
  }
  GoOn(execution, last);
}

Failure FailureOf(Execution& execution) {
  Failure failure;
  failure.finding = *execution.finding();
  failure.graph = execution.graph();
  failure.order = OrderWithFewestSwitches(failure.graph);
  execution.Begin();
  for (const EventId id : failure.order) {
    const Step step{id.thread, NumberOf(execution, failure.graph, id)};
    failure.schedule.steps.push_back(step);
    if (!Take(execution, step) || execution.finding()) {
      break;
    }
  }
  // In this order it may show earlier.
  failure.order.resize(failure.schedule.steps.size());
  failure.graph = execution.graph();
  failure.switches = SwitchesOf(failure.order);
  failure.faults = FaultsOf(failure.graph);
  failure.schedule.hash = HashOf(failure.graph, failure.order);
  return failure;
}

}  // namespace holdfast::explore
