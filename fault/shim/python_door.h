// The shim's second door: Py_AddPendingCall, for subjects that do not ask the control table.
//
// An interpreter whose executable exports the symbol (Debian's python3) cannot be preloaded over, since the executable
// comes first in the search order. So the imports of the loaded objects are rewritten instead: each slot of a global
// offset table that stands for Py_AddPendingCall is pointed here.
//
// Nothing is touched unless the plan has a rule for that site.
#ifndef HOLDFAST_FAULT_SHIM_PYTHON_DOOR_H_
#define HOLDFAST_FAULT_SHIM_PYTHON_DOOR_H_

namespace holdfast::fault {

// Rewrites the imports of what was loaded since the last time. Called where a subject is about to need it: cuInit,
// cuGetProcAddress, cuUserObjectCreate. Not from a callback: it takes the dynamic loader's lock.
// Thread safety: from any thread.
void GuardPythonDoor();

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_PYTHON_DOOR_H_
