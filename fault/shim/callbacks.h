// Callbacks that the driver makes into the subject, with the shim between the two: the destructors of user objects, and
// the functions given to cuLaunchHostFunc.
//
// The record is allocated when the callback is handed to the driver; when the driver calls, nothing is.
#ifndef HOLDFAST_FAULT_SHIM_CALLBACKS_H_
#define HOLDFAST_FAULT_SHIM_CALLBACKS_H_

#include "fault/ledger/ledger.h"
#include "fault/shim/entries.h"

namespace holdfast::fault {

// A destructor between its creation and its end.
struct DestructorRecord;

DestructorRecord* NewDestructor(CUhostFn destroy, void* payload, ObjectId object);
void DropDestructor(DestructorRecord* record);  // the driver did not take it

// What the driver is given, with the record as its argument.
void CUDA_CB DestructorArrived(void* record);

struct HostFunctionRecord;

HostFunctionRecord* NewHostFunction(CUhostFn function, void* argument);
void DropHostFunction(HostFunctionRecord* record);
void CUDA_CB HostFunctionArrived(void* record);

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_CALLBACKS_H_
