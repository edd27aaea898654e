// From a document to rules: names, types and words. What a rule means as a whole is check.h's business.
#ifndef HOLDFAST_FAULT_PLAN_INTERPRET_H_
#define HOLDFAST_FAULT_PLAN_INTERPRET_H_

#include <string>

#include "fault/plan/document.h"
#include "fault/plan/plan.h"

namespace holdfast::fault {

// A plan in our own format. Throws PlanError.
Plan InterpretPlan(const Value& document);

// One rule, written at `place`. Throws PlanError.
Rule InterpretRule(const Value& value, const std::string& place);

// The site that `name` means, or PlanError with the nearest name.
SiteId RequireSite(std::string_view name, const std::string& place);

// Refuses members of `object` that are not among `known`, with the nearest name; refuses anything but an object.
void RequireMembers(const Value& object, const std::string& place, std::initializer_list<std::string_view> known);

// The integer at `place`, at least 1 unless `lowest` says otherwise; refuses fractions, signs and other types.
std::uint64_t RequireCount(const Value& value, const std::string& place, std::uint64_t lowest = 1,
                           std::uint64_t highest = std::uint64_t{1} << 53);

const std::string& RequireText(const Value& value, const std::string& place);

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_PLAN_INTERPRET_H_
