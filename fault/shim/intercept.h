// The frame of every wrapped driver call; wrappers.cc, generated, is one line a call on top of it.
//
//   arrival    a call made by the driver or by the shim itself is forwarded, and that is all
//   handles    a graph or executable known to be destroyed is a finding, before the driver crashes on it
//   plan       counts the call; waits, ends the process, or answers in the driver's place, and the ledger is told what
//              the subject has given up and the driver keeps
//   forward    with the ledger told before (what is destroyed) and after (what was made)
//   answer     what the driver said, unless the plan says otherwise
//
// No lock is held across the driver call, since it can run destructors of the subject on this thread (facts U1, U2).
#ifndef HOLDFAST_FAULT_SHIM_INTERCEPT_H_
#define HOLDFAST_FAULT_SHIM_INTERCEPT_H_

#include "fault/shim/call.h"
#include "fault/shim/driver.h"
#include "fault/shim/entries.h"
#include "fault/shim/hooks.h"

#define HOLDFAST_EXPORTED __attribute__((visibility("default")))

namespace holdfast::fault {

template <Entry kEntry, typename... Arguments>
CUresult Intercept(Arguments... arguments) {
  using Function = CUresult(CUDAAPI*)(Arguments...);
  Call call(kEntry);
  const auto function = reinterpret_cast<Function>(DriverFunction(kEntry));
  if (call.nested()) return function == nullptr ? CUDA_ERROR_NOT_FOUND : function(arguments...);
  if (call.is_recorded()) (call.Concerns(ObjectOf(arguments)), ...);
  (CheckHandle<kEntry>(arguments), ...);
  if (call.IsAnswered()) {
    NoteKept<kEntry>(arguments...);
    return call.Answer();
  }
  if (function == nullptr) {
    NoteMissing();
    return call.Tell(CUDA_ERROR_NOT_FOUND);
  }
  Hook<kEntry> hook(arguments...);
  CUresult result = CUDA_SUCCESS;
  for (std::uint32_t round = call.rounds(); round > 0; --round) result = function(arguments...);
  hook.Done(result);
  call.Concerns(ObjectMadeBy(hook));
  return call.Finish(result);
}

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_INTERCEPT_H_
