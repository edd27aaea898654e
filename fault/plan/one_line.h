// The one-line form of a rule, for --fault: SITE[:key=value,...]
//
//   cuGraphNodeSetParams:nth=2,return=CUDA_ERROR_OUT_OF_MEMORY
//   Py_AddPendingCall:first=40,return=-1
//   Py_AddPendingCall:nth=1,saturate=64,until=step:room
//   destructor:deliver=thread,delay=200us,order=lifo
//   alloc:nth=3,fail
//   cuGraphAddHostNode:nth=1,step=operation,count=step,return=CUDA_ERROR_OUT_OF_MEMORY
//
// Keys are those of `when` and `do`; both have an `after`: with a count it is the one of `when`, alone (or
// `after=true`) the one of `do`. A flag stands alone. `hold=step:NAME` and `hold=rule:N` say what releases the call;
// `until` has the same two forms.
#ifndef HOLDFAST_FAULT_PLAN_ONE_LINE_H_
#define HOLDFAST_FAULT_PLAN_ONE_LINE_H_

#include <string>
#include <string_view>

#include "fault/plan/plan.h"

namespace holdfast::fault {

// Throws PlanError, whose place starts with `place` (e.g. "--fault[0]").
Rule ParseOneLineRule(std::string_view text, const std::string& place);

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_PLAN_ONE_LINE_H_
