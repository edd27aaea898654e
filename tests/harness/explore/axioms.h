// RC11 as the paper writes it down: relations as matrices, axioms as they stand. Slow, and independent of what the
// explorer computes: of a graph only the events, their reads-from and the order of the writes are used.
//
// Source: Lahav, Vafeiadis, Kang, Hur, Dreyer, "Repairing Sequential Consistency in C/C++11" (PLDI 2017), figure 1 and
// section 4; release sequences as in C++20; sb|!=loc as in herd's rc11.cat: a fence is on no location.
#ifndef HOLDFAST_TESTS_HARNESS_EXPLORE_AXIOMS_H_
#define HOLDFAST_TESTS_HARNESS_EXPLORE_AXIOMS_H_

#include "harness/explore/graph.h"

namespace holdfast::explore {

// REQUIRES: at most 32 events, on locations below `location_count`.
bool IsConsistent(const Graph& graph, std::size_t location_count);

}  // namespace holdfast::explore

#endif  // HOLDFAST_TESTS_HARNESS_EXPLORE_AXIOMS_H_
