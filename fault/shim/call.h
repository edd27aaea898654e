// One driver call of the subject, from its arrival to its answer.
//
// Intercept (intercept.h) is the frame; what does not depend on the call's type is here.
#ifndef HOLDFAST_FAULT_SHIM_CALL_H_
#define HOLDFAST_FAULT_SHIM_CALL_H_

#include <cstdint>

#include "fault/ledger/user_objects.h"
#include "fault/plan/plan.h"
#include "fault/shim/entries.h"
#include "fault/shim/threads.h"
#include "fault/shim/timeline.h"

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
  CUresult Answer();

  // The subject is told this.
  CUresult Tell(CUresult result) { return told_ = result; }

  // How often the call is made.
  std::uint32_t rounds() const;

  // What the subject is told, given what the driver said.
  CUresult Finish(CUresult result);

  // Whether the timeline wants to know more of the call.
  bool is_recorded() const { return moment_.process != 0; }

  // The user object that the call is about; kNoObject for none. Its references are counted when the call is over.
  void Concerns(ObjectId object) {
    if (object != kNoObject) object_ = object;
  }

  Thread& thread() const { return *thread_; }

 private:
  // Of the call's moment in the timeline.
  MomentFacts Facts() const;

  const Entry entry_;
  Thread* thread_;                  // null: nested
  const Action* action_ = nullptr;  // of the rule, or the armed fault, that fired
  ObjectId object_ = kNoObject;
  CUresult told_ = CUDA_SUCCESS;
  OpenMoment moment_;
};

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_CALL_H_
