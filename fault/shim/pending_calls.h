// The calls of Py_AddPendingCall that came through the door: what the plan does to each, and what became of it.
//
//   arrival    counted; a thread that the shim does not know is only recorded if a rule of the plan concerns the site
//   plan       refuses, drops, waits, fills the queue first, or accepts now and hands over later
//   host       gets a record of ours in the place of the call, so that it is known when the call runs
//
// Handing over later is done by a thread of ours (delivery.h), and only while the interpreter cannot end meanwhile
// (host.h). Whatever is not handed over by then is lost, as are the calls that the interpreter has queued.
//
// Thread safety: every function may be called from any thread. Where no rule concerns the site, a call takes no lock of
// ours and allocates nothing.
#ifndef HOLDFAST_FAULT_SHIM_PENDING_CALLS_H_
#define HOLDFAST_FAULT_SHIM_PENDING_CALLS_H_

#include <cstdint>

#include "fault/shim/control.h"

namespace holdfast::fault {

using PendingFunction = int (*)(void*);
using AddPendingCall = int (*)(PendingFunction, void*);

// REQUIRES: called once, before the others.
void OpenPendingCalls(AddPendingCall real);

// What every import of Py_AddPendingCall leads to.
int PendingCallArrived(PendingFunction function, void* argument);

PendingCalls CountPendingCalls();

// Visits of the site by threads that the shim does not know.
std::uint64_t PendingCallsOfStrangers();

// See control.h.
std::uint32_t SaturateHost(std::uint32_t count);
void ReleaseSaturation();

// A step was announced, or a rule has fired.
void WakePendingCalls();

// The counters of the report, if there was any call. In a child of fork they would be the parent's, so it writes none.
void WritePendingCallCounters();

void LockPendingCallsForFork();
void UnlockPendingCallsAfterFork(bool child);

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_PENDING_CALLS_H_
