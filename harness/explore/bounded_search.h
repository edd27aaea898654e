// Enumerates what a program can do with few preemptions: a thread that could go on has to wait for another at most so
// many times in an execution. Within the bound nothing is left out.
//
// Method: depth first over the choices of a run, which begins anew each time. Runs that differ in nothing but the order
// of independent steps are met more than once, and counted once. An exhaustive search without a bound never meets one
// twice, but cannot take a bound: it reaches executions within it through others that are not.
#ifndef HOLDFAST_HARNESS_EXPLORE_BOUNDED_SEARCH_H_
#define HOLDFAST_HARNESS_EXPLORE_BOUNDED_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_set>
#include <vector>

#include "harness/explore/exhaustive.h"
#include "harness/explore/forward_run.h"

namespace holdfast::explore {

class BoundedSearch {
 public:
  BoundedSearch(Machine& machine, const Program& program, const Limits& limits, std::uint64_t preemptions_max)
      : run_(machine, program, limits, preemptions_max) {}

  // `visit` is called with each distinct execution, and may run it again; it returns false to stop.
  Certificate Run(const SearchBounds& bounds, const Exhaustive::Visit& visit);

  // Runs, those that were met before included.
  std::uint64_t runs() const { return runs_; }

  // For ForwardRun.
  std::size_t PickThread(std::span<const std::size_t> runnable) { return runnable[Decide(runnable.size())]; }
  bool PrefersUsual() const { return false; }
  std::size_t PickOption(std::size_t count) { return Decide(count); }

 private:
  struct Decision {
    std::size_t count;
    std::size_t taken;
  };

  std::size_t Decide(std::size_t count);
  bool Advance();

  ForwardRun run_;
  std::vector<Decision> decisions_;
  std::size_t depth_ = 0;
  std::uint64_t runs_ = 0;
  // Their hashes: two that are equal by chance would be counted as one. With 64 bits that has not happened with a
  // likelihood of 0.9999999 for a million executions.
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace holdfast::explore

#endif  // HOLDFAST_HARNESS_EXPLORE_BOUNDED_SEARCH_H_
