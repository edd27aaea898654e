// Enumerates all executions of a program that differ in what a read reads or in the order of the writes of a location,
// each once.
//
// Method: depth first over execution graphs that grow by one event at a time; a new write may also take the place of
// what an earlier read read, undoing whatever came after that read and does not lead to the write, if all that is
// undone was added in the one way that this search takes as the standard one.
// Source: Kokologiannakis, Marmanis, Gladstein, Vafeiadis, "Truly Stateless, Optimal Dynamic Partial Order Reduction"
// (POPL 2022).
#ifndef HOLDFAST_HARNESS_EXPLORE_EXHAUSTIVE_H_
#define HOLDFAST_HARNESS_EXPLORE_EXHAUSTIVE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "harness/explore/execution.h"

namespace holdfast::explore {

// What a search has to show for itself.
struct Certificate {
  bool is_complete = false;        // every execution within the limits was visited
  std::uint64_t executions = 0;    // distinct ones that came to an end
  std::uint64_t blocked = 0;       // in which a thread waits with a value that is not the last one; they say nothing
  std::uint64_t inconsistent = 0;  // steps that led to no execution of the memory model
  std::uint64_t faults = 0;        // executions that something is wrong with
};

struct SearchBounds {
  std::uint64_t executions_max = UINT64_MAX;
  std::uint64_t faults_max = 1;                 // stops when it has found so many
  std::function<bool()> should_stop = nullptr;  // asked for each execution, those that come to nothing included
};

class Exhaustive {
 public:
  // Called with each execution that came to an end, or with a finding; returns false to stop. It may run the execution
  // again.
  using Visit = std::function<bool(Execution&)>;

  Exhaustive(Machine& machine, const Program& program, const Limits& limits);

  Certificate Run(const SearchBounds& bounds, const Visit& visit);

 private:
  // A graph to go on from, and the first step to take there.
  struct Item {
    Graph graph;
    std::uint32_t next_stamp = 1;
    std::size_t thread = 0;
    Option option;
    std::uint32_t stamp = 0;  // 0: a new event; else that of the read that is done again
    bool looks_back = true;   // whether revisits are still to be looked for
  };

  bool Explore(const Item* item);
  bool Step(std::size_t thread);
  bool Take(std::size_t thread, const Option& option, std::uint32_t stamp, bool looks_back);
  void Postpone(std::size_t thread, const Option& option, bool looks_back);
  void LookBack(std::size_t thread);
  bool MayBeUndone(EventId event, const Clock& causes) const;
  void Revisit(EventId read, EventId write);
  void PostponeRevisit(EventId read, EventId write, const std::array<std::size_t, kThreadsMax>& kept);
  void PostponeSpuriousFailure(const Item& item);
  std::unique_ptr<Item> NewItem();

  Execution execution_;
  std::vector<std::unique_ptr<Item>> items_;
  std::vector<std::unique_ptr<Item>> spare_;
  Certificate certificate_;
};

}  // namespace holdfast::explore

#endif  // HOLDFAST_HARNESS_EXPLORE_EXHAUSTIVE_H_
