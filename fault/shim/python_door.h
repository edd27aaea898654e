// The shim's second door: Py_AddPendingCall, wherever the interpreter keeps it.
//
// An interpreter whose executable exports the symbol (Debian's python3) cannot be preloaded over, since the executable
// comes first in the search order. So the imports of the loaded objects are rewritten instead (imports.h), which works
// as well for a shared libpython and for a program that embeds either. Where it was chosen over the two other ways:
//
//   an auditing library  is a second library in a namespace of its own, which cannot share the plan with this one, and
//                        slows every call between objects
//   wrapping dlopen      puts the wrapper in the caller's place, and dlopen goes by its caller's search path: libraries
//                        that load their parts by name alone no longer find them
//
// What is loaded at the start is done when the shim starts. What is loaded later is noticed at the next dlsym, before
// the caller gets anything out of the new object: the imports of dlsym are rewritten too, and lead on to the real one
// with a jump, so that it still sees its caller (dlsym.S). A symbol looked up by name (ctypes does it) is caught there.
// Missed are calls that an object makes from its own constructors, those through dlvsym, and those of code that is
// part of the interpreter.
//
// The process of a program without Python is left as it is. One that loads Python itself is noticed at its next cuInit,
// cuGetProcAddress or cuUserObjectCreate.
#ifndef HOLDFAST_FAULT_SHIM_PYTHON_DOOR_H_
#define HOLDFAST_FAULT_SHIM_PYTHON_DOOR_H_

namespace holdfast::fault {

// Rewrites the imports of what was loaded since the last time, if there is an interpreter by now. Called where a
// subject is about to need it. Not from a callback of the driver: it takes the dynamic loader's lock. Thread safety:
// from any thread.
void GuardPythonDoor();

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_PYTHON_DOOR_H_
