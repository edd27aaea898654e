// Explores a program by one kind of search, and shortens what it finds.
#ifndef HOLDFAST_HARNESS_EXPLORE_EXPLORER_H_
#define HOLDFAST_HARNESS_EXPLORE_EXPLORER_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "harness/explore/exhaustive.h"
#include "harness/explore/program.h"
#include "harness/explore/random_search.h"
#include "harness/explore/replay.h"

namespace holdfast::explore {

struct ExploreOptions {
  Limits limits;
  std::optional<Strategy> strategy;  // none: exhaustive
  std::uint64_t seed = 1;
  // How often a thread that could go on may have to wait for another. With a bound an exhaustive search is a
  // BoundedSearch.
  std::uint64_t preemptions_max = UINT64_MAX;
  std::uint64_t executions_max = UINT64_MAX;
  std::chrono::milliseconds time_max{60'000};
  // How many further executions are looked at for a shorter form of what was found. Counted, not timed: the result is
  // the same on every machine.
  std::uint64_t shrinking_executions_max = 20'000;
};

struct Exploration {
  // Of a random search: executions and faults alone, and never complete.
  Certificate certificate;
  std::optional<Failure> failure;  // the shortest one that was found
  std::string table;               // of the failure
  std::chrono::nanoseconds duration{0};
  bool is_out_of_time = false;
};

// Throws std::logic_error if a program is explored already.
Exploration Explore(const Program& program, const ExploreOptions& options);

// One execution again. Throws std::invalid_argument if the schedule is not one of this program's. The failure is empty
// if nothing is wrong with it.
Exploration Replay(const Program& program, const Limits& limits, const Schedule& schedule);

}  // namespace holdfast::explore

#endif  // HOLDFAST_HARNESS_EXPLORE_EXPLORER_H_
