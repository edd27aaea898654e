// The normalised form of a plan: one line of JSON, members always in the same order, defaults left out. Loading it
// gives the same plan again. Comments, spelling and the place where a rule was written do not survive.
#ifndef HOLDFAST_FAULT_PLAN_PRINT_H_
#define HOLDFAST_FAULT_PLAN_PRINT_H_

#include <string>
#include <string_view>

#include "fault/plan/plan.h"

namespace holdfast::fault {

std::string NormalisedPlan(const Plan& plan);

// 16 hexadecimal digits over the normalised rules. The seed is no part of it: runs of one plan under many seeds share
// a digest.
std::string PlanDigest(const Plan& plan);

// `text` as a JSON string with its quotes.
std::string JsonString(std::string_view text);

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_PLAN_PRINT_H_
