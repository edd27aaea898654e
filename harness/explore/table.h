// An execution as a table for people: a column for each thread, a line for each event, in the order in which they ran.
#ifndef HOLDFAST_HARNESS_EXPLORE_TABLE_H_
#define HOLDFAST_HARNESS_EXPLORE_TABLE_H_

#include <string>
#include <vector>

#include "harness/explore/graph.h"
#include "harness/explore/machine.h"

namespace holdfast::explore {

// REQUIRES: `machine` has run the execution, and no other since: names are taken from it.
std::string TableOf(const Graph& graph, const std::vector<EventId>& order, const Machine& machine);

}  // namespace holdfast::explore

#endif  // HOLDFAST_HARNESS_EXPLORE_TABLE_H_
