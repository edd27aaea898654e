// One execution as a short text: which thread goes on at each step, and which of its options it takes.
//
// "x1:a3b2.1a#5f3a9c01" is three steps of the first thread, two of the second, of which the last takes its option 1,
// and one more of the first; then a hash of what happened, by which a replay knows that the program is still the same
// one. Options are numbered as Execution::OptionsOf lists them: 0 is the newest value, the newest place or the usual
// choice.
#ifndef HOLDFAST_HARNESS_EXPLORE_SCHEDULE_H_
#define HOLDFAST_HARNESS_EXPLORE_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/explore/graph.h"

namespace holdfast::explore {

struct Step {
  std::size_t thread = 0;
  std::size_t option = 0;

  friend bool operator==(const Step&, const Step&) = default;
};

struct Schedule {
  std::vector<Step> steps;
  std::uint32_t hash = 0;
};

std::string Format(const Schedule& schedule);

// Throws std::invalid_argument that says what is wrong and where.
Schedule ParseSchedule(std::string_view text);

// How often the next step is another thread's.
std::size_t SwitchesOf(const std::vector<EventId>& order);

// The events of an execution in an order in which they may have run, with as few changes from one thread to another as
// there can be. What waits comes last.
std::vector<EventId> OrderWithFewestSwitches(const Graph& graph);

// What happened, but for values: addresses differ from run to run.
std::uint32_t HashOf(const Graph& graph, const std::vector<EventId>& order);

// Choices that were not the usual one, and spurious failures.
std::size_t FaultsOf(const Graph& graph);

}  // namespace holdfast::explore

#endif  // HOLDFAST_HARNESS_EXPLORE_SCHEDULE_H_
