// Points at which another thread may go on, where the process is run in an order (fault/schedule). Elsewhere: nothing.
#ifndef HOLDFAST_FAULT_SHIM_ORDER_H_
#define HOLDFAST_FAULT_SHIM_ORDER_H_

namespace holdfast::fault {

// Looks for the order. Called once, before everything else.
void FindOrder();

// `kind` says what happens here, `name` to what: they have static storage. REQUIRES: no lock of the shim is held, so
// that a schedule is about the subject and not about the shim.
void PassPoint(const char* kind, const char* name);

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_ORDER_H_
