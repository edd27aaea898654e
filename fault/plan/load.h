// Loading a plan: from a file, from text, from one-line rules, or from all of them together.
//
// A plan that loads can act: whatever could not is refused with a PlanError, whose place says where.
#ifndef HOLDFAST_FAULT_PLAN_LOAD_H_
#define HOLDFAST_FAULT_PLAN_LOAD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fault/plan/plan.h"

namespace holdfast::fault {

// A document in our format or in that of the RAPIDS Spark fault injector.
Plan LoadPlanText(std::string_view text);

// As LoadPlanText; a file that cannot be read is a PlanError without a place.
Plan LoadPlanFile(const std::string& path);

// `plan` with the one-line rules before its own, so that the command line has the first word, and with `seed`, if
// given, in place of its seed. `hold` in a one-line rule counts rules of the result.
Plan WithCommandLine(Plan plan, const std::vector<std::string>& one_line_rules, std::optional<std::uint64_t> seed);

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_PLAN_LOAD_H_
