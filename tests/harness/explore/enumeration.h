// All executions of a small program found the plain way: each thread next in turn, each option. What the search of
// exhaustive.h finds is compared with it.
#ifndef HOLDFAST_TESTS_HARNESS_EXPLORE_ENUMERATION_H_
#define HOLDFAST_TESTS_HARNESS_EXPLORE_ENUMERATION_H_

#include <map>
#include <set>
#include <string>

#include "harness/explore/exhaustive.h"

namespace holdfast::explore {

// An execution, told from all others: the events of each thread with what they read from, and the orders of writes.
std::string Describe(const Graph& graph, std::size_t thread_count, std::size_t location_count);

enum class Judge {
  kExplorer,  // the options that the explorer gives, those of them that it calls consistent
  kAxioms,    // each write for each read, each place for each write; those that axioms.h calls consistent
};

std::set<std::string> Enumerate(const Program& program, const Limits& limits, Judge judge);

// What the search visits, and how often.
std::map<std::string, int> Search(const Program& program, const Limits& limits);

}  // namespace holdfast::explore

#endif  // HOLDFAST_TESTS_HARNESS_EXPLORE_ENUMERATION_H_
