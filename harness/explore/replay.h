// Takes an execution again, from its graph or from its schedule.
#ifndef HOLDFAST_HARNESS_EXPLORE_REPLAY_H_
#define HOLDFAST_HARNESS_EXPLORE_REPLAY_H_

#include <string>
#include <vector>

#include "harness/explore/execution.h"
#include "harness/explore/schedule.h"

namespace holdfast::explore {

// An execution that something is wrong with, in its shortest form so far.
struct Failure {
  Finding finding;
  Schedule schedule;
  std::vector<EventId> order;
  Graph graph;
  std::size_t switches = 0;
  std::size_t faults = 0;  // choices that were not the usual one

  // Fewer switches first, then fewer faults, then fewer steps.
  bool IsShorterThan(const Failure& other) const;
};

// Runs `execution` along `schedule`, to the end. Throws std::invalid_argument if the program does not do the same as
// when the schedule was made.
void Replay(Execution& execution, const Schedule& schedule);

// The same, with leave to go on otherwise where a step cannot be taken, and after the last one.
void ReplayLoosely(Execution& execution, const std::vector<Step>& steps);

// What `execution`, which has come to its end, is as a failure. Runs it again to number its options.
// REQUIRES: it has a finding.
Failure FailureOf(Execution& execution);

}  // namespace holdfast::explore

#endif  // HOLDFAST_HARNESS_EXPLORE_REPLAY_H_
