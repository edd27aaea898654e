// Plans of the RAPIDS Spark fault injector (its cudaDriverFaults section), read as they are.
//
// What is the same: names with any version suffix, "*", percent, the return code. What differs is said here and in
// docs/fault-model.md: the call fails before it took effect (their tool replaces the code of a call that was made);
// interceptionCount bounds the faults of each thread; types 0 and 1 answer the error that a trap or an assertion on the
// device leaves behind, since the shim launches no kernel; logLevel and dynamic change no decision.
#ifndef HOLDFAST_FAULT_PLAN_RAPIDS_H_
#define HOLDFAST_FAULT_PLAN_RAPIDS_H_

#include "fault/plan/document.h"
#include "fault/plan/plan.h"

namespace holdfast::fault {

bool LooksLikeRapids(const Value& document);

// Throws PlanError.
Plan InterpretRapids(const Value& document);

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_PLAN_RAPIDS_H_
