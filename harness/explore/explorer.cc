#include "harness/explore/explorer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "harness/explore/bounded_search.h"
#include "harness/explore/table.h"

namespace holdfast::explore {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Asks the clock now and then: it costs more than a short execution.
class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds limit) : limit_(limit), begin_(SteadyClock::now()) {}

  bool HasPassed() {
    if (++asked_ % 16 == 0) {
      has_passed_ = has_passed_ || SteadyClock::now() - begin_ >= limit_;
    }
    return has_passed_;
  }

  std::chrono::nanoseconds Elapsed() const { return SteadyClock::now() - begin_; }

 private:
  const std::chrono::milliseconds limit_;
  const SteadyClock::time_point begin_;
  std::uint64_t asked_ = 0;
  bool has_passed_ = false;
};

void KeepTheShorter(std::optional<Failure>& best, Failure found) {
  if (!best || (found.finding.verdict == best->finding.verdict && found.IsShorterThan(*best))) {
    best = std::move(found);
  }
}

// Each step with the usual option instead of its own; each stretch of a thread left out, or begun by its neighbour.
std::vector<std::vector<Step>> Simplifications(const std::vector<Step>& steps) {
  std::vector<std::vector<Step>> attempts;
  for (std::size_t index = 0; index < steps.size(); ++index) {
    const auto place = static_cast<std::ptrdiff_t>(index);
    if (steps[index].option != 0) {
      attempts.push_back(steps);
      attempts.back()[index].option = 0;
    }
    if (index > 0 && steps[index].thread != steps[index - 1].thread) {
      const auto last = std::find_if(steps.begin() + place, steps.end(),
                                     [&](const Step& step) { return step.thread != steps[index].thread; });
      attempts.push_back(steps);
      attempts.back().erase(attempts.back().begin() + place, attempts.back().begin() + (last - steps.begin()));
      attempts.push_back(steps);
      attempts.back().insert(attempts.back().begin() + place, steps[index - 1]);
    }
  }
  return attempts;
}

// Keeps what fails in the same way and is shorter, until nothing is.
void ShrinkByReplay(Execution& execution, Failure& best, std::uint64_t executions_left) {
  bool has_shrunk = true;
  while (has_shrunk) {
    has_shrunk = false;
    for (const std::vector<Step>& attempt : Simplifications(best.schedule.steps)) {
      if (executions_left-- == 0) {
        return;
      }
      ReplayLoosely(execution, attempt);
      if (!execution.finding() || execution.finding()->verdict != best.finding.verdict) {
        continue;
      }
      Failure found = FailureOf(execution);
      if (found.IsShorterThan(best)) {
        best = std::move(found);
        has_shrunk = true;
        break;
      }
    }
  }
}

// From its first finding on the search looks for a shorter one with the same verdict.
void SearchAll(Machine& machine, const Program& program, const ExploreOptions& options, Deadline& deadline,
               Exploration& result) {
  const SearchBounds bounds{.executions_max = options.executions_max, .faults_max = UINT64_MAX, .should_stop = [&] {
                              result.is_out_of_time = !result.failure && deadline.HasPassed();
                              return result.is_out_of_time;
                            }};
  std::uint64_t after_finding = 0;
  const Exhaustive::Visit visit = [&](Execution& execution) {
    if (execution.finding()) {
      KeepTheShorter(result.failure, FailureOf(execution));
    }
    if (result.failure) {
      return ++after_finding < options.shrinking_executions_max && IsFault(result.failure->finding.verdict);
    }
    return true;
  };
  result.certificate =
      options.preemptions_max == UINT64_MAX
          ? Exhaustive(machine, program, options.limits).Run(bounds, visit)
          : BoundedSearch(machine, program, options.limits, options.preemptions_max).Run(bounds, visit);
}

void SearchAtRandom(Machine& machine, const Program& program, const ExploreOptions& options, Deadline& deadline,
                    Exploration& result) {
  RandomSearch search(machine, program, options.limits, *options.strategy, options.seed, options.preemptions_max);
  std::uint64_t after_finding = 0;
  for (std::uint64_t number = 0; number < options.executions_max; ++number) {
    search.Draw(number);
    ++result.certificate.executions;
    if (search.execution().finding()) {
      ++result.certificate.faults;
      KeepTheShorter(result.failure, FailureOf(search.execution()));
    }
    if (result.failure &&
        (++after_finding >= options.shrinking_executions_max / 10 || !IsFault(result.failure->finding.verdict))) {
      return;
    }
    if (!result.failure && deadline.HasPassed()) {
      return;
    }
  }
}

}  // namespace

Exploration Explore(const Program& program, const ExploreOptions& options) {
  Machine machine;
  Deadline deadline(options.time_max);
  Exploration result;
  if (options.strategy) {
    SearchAtRandom(machine, program, options, deadline, result);
  } else {
    SearchAll(machine, program, options, deadline, result);
  }
  if (result.failure) {
    Execution execution(machine, program, options.limits);
    ShrinkByReplay(execution, *result.failure, options.shrinking_executions_max);
    Replay(execution, result.failure->schedule);
    result.table = TableOf(execution.graph(), result.failure->order, machine);
  }
  result.duration = deadline.Elapsed();
  return result;
}

Exploration Replay(const Program& program, const Limits& limits, const Schedule& schedule) {
  Machine machine;
  Deadline deadline(std::chrono::milliseconds(0));
  Exploration result;
  Execution execution(machine, program, limits);
  Replay(execution, schedule);
  result.certificate.executions = 1;
  std::vector<EventId> order;
  std::array<std::uint16_t, kThreadsMax> executed{};
  for (const Step& step : schedule.steps) {
    order.push_back({static_cast<std::uint16_t>(step.thread), ++executed[step.thread]});
  }
  if (order.size() != execution.graph().SizeOfAll()) {
    order = OrderWithFewestSwitches(execution.graph());
  }
  if (execution.finding()) {
    result.certificate.faults = 1;
    Failure failure;
    failure.finding = *execution.finding();
    failure.schedule = schedule;
    failure.graph = execution.graph();
    failure.switches = SwitchesOf(order);
    failure.faults = FaultsOf(failure.graph);
    failure.order = order;
    result.failure = std::move(failure);
  }
  result.table = TableOf(execution.graph(), order, machine);
  result.duration = deadline.Elapsed();
  return result;
}

}  // namespace holdfast::explore
