// How a visit of a site becomes a decision.
//
// A decision depends on the seed, the rule's index, the site, the calling thread's name, the ordinal of the call of
// that site on that thread (from the start and from the last step), the contexts that thread is in and the step last
// announced; and, for `times`, on how often the rule has fired on that thread. Nothing that other threads did at the
// same time enters, so timing moves no decision.
//
// Thread safety: a DecisionTable never changes after construction. The memory of one thread (ThreadMemory) belongs to
// that thread. No lock is taken and nothing is allocated by Decide.
#ifndef HOLDFAST_FAULT_PLAN_DECIDE_H_
#define HOLDFAST_FAULT_PLAN_DECIDE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "fault/plan/plan.h"

namespace holdfast::fault {

// An index of the steps that the plan names; a step that it does not name is kNoStep.
using StepId = std::int32_t;
inline constexpr StepId kNoStep = -1;

struct Visit {
  SiteId site = kNoSite;
  ThreadName thread;
  std::uint64_t ordinal = 0;          // of this call of the site on this thread, from 1
  std::uint64_t ordinal_in_step = 0;  // the same, counted from the announcement of the present step
  std::uint8_t contexts = 0;          // bits of Context
  StepId step = kNoStep;              // last announced
};

// How often each rule fired on one thread.
using ThreadMemory = std::vector<std::uint64_t>;

class DecisionTable {
 public:
  DecisionTable() : DecisionTable(Plan{}) {}
  explicit DecisionTable(Plan plan);

  // The index of the first rule that fires, or -1. ENSURES: `memory` counts it.
  // REQUIRES: `memory` came from NewMemory, and `visit.site` is a site.
  int Decide(const Visit& visit, ThreadMemory& memory) const;

  ThreadMemory NewMemory() const { return ThreadMemory(plan_.rules.size(), 0); }

  const Rule& rule(std::size_t index) const { return plan_.rules[index]; }
  std::size_t rule_count() const { return plan_.rules.size(); }
  bool Concerns(SiteId site) const { return !rules_of_site_[site].empty(); }

  StepId FindStep(std::string_view name) const;
  std::size_t step_count() const { return steps_.size(); }

  // The step that the rule's hold waits for, and the one that its `when` names; kNoStep if none.
  StepId HoldStep(std::size_t rule) const { return hold_steps_[rule]; }

  // The step that ends what the rule's `until` keeps up; kNoStep if none.
  StepId UntilStep(std::size_t rule) const { return until_steps_[rule]; }

 private:
  bool Matches(std::size_t index, const Visit& visit) const;
  bool Draws(std::size_t index, const Visit& visit) const;
  StepId Intern(const std::string& name);

  Plan plan_;
  std::vector<std::vector<std::uint32_t>> rules_of_site_;  // in plan order
  std::vector<std::string> steps_;
  std::vector<StepId> when_steps_;
  std::vector<StepId> hold_steps_;
  std::vector<StepId> until_steps_;
};

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_PLAN_DECIDE_H_
