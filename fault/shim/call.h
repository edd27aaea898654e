// One driver call of the subject, from its arrival to its answer.
//
// Intercept (intercept.h) is the frame; what does not depend on the call's type is here.
#ifndef HOLDFAST_FAULT_SHIM_CALL_H_
#define HOLDFAST_FAULT_SHIM_CALL_H_

#include <cstdint>

#include "fault/plan/plan.h"
#include "fault/shim/entries.h"
#include "fault/shim/threads.h"

namespace holdfast::fault {

class Call {
 public:
  explicit Call(Entry entry);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // The driver or the shim itself calls: forward, and nothing else.
  bool nested() const { return thread_ == nullptr; }

  // Counts the call and lets the plan act before it. True: the call is not to be made, and Answer says what it returns.
  bool IsAnswered();
  CUresult Answer() const;

  // How often the call is made.
  std::uint32_t rounds() const;

  // What the subject is told, given what the driver said.
  CUresult Finish(CUresult result) const;

  Thread& thread() const { return *thread_; }

 private:
  const Entry entry_;
  Thread* thread_;                  // null: nested
  const Action* action_ = nullptr;  // of the rule, or the armed fault, that fired
};

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_CALL_H_
