// Whether rules can act: what a site can do, which members of a rule contradict each other, which rule never gets a
// turn.
#ifndef HOLDFAST_FAULT_PLAN_CHECK_H_
#define HOLDFAST_FAULT_PLAN_CHECK_H_

#include <cstddef>
#include <span>

#include "fault/plan/plan.h"

namespace holdfast::fault {

// Comparing each rule with all before it stays short up to here.
inline constexpr std::size_t kMostRules = 10'000;

// Throws PlanError at the first rule that can never do what it says, or that is one too many.
void CheckRules(std::span<const Rule> rules);

// Whether a rule for `*` with this action acts at the site. REQUIRES: `site` is a site, not `*`.
bool EverySiteCovers(const Action& action, SiteId site);

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_PLAN_CHECK_H_
