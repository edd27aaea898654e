// The interpreter's lock, let go of and taken.
//
// A thread that asks for the lock while the interpreter goes away never gets it. CPython before 3.14 ends such a thread
// by unwinding its stack, through frames of ours that own Python references and through destructors, which may not
// throw: the process would die. Here the thread stays where it is instead, as 3.14 has it, until the process ends.
#ifndef HOLDFAST_LIB_PYTHON_CORE_GIL_H_
#define HOLDFAST_LIB_PYTHON_CORE_GIL_H_

#include <Python.h>

namespace holdfast::python {

// Lets go of the lock for as long as it lives. REQUIRES: the calling thread has it. Nothing of ours may be locked when
// it goes: to take the lock back may take any time.
class GilReleased {
 public:
  GilReleased() noexcept : state_(PyEval_SaveThread()) {}
  ~GilReleased();
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* const state_;
};

// Has the lock for as long as it lives, on any thread, whether the thread has it already or not. REQUIRES: inside the
// gate of the interpreter's life.
class GilHeld {
 public:
  GilHeld() noexcept;
  ~GilHeld() { PyGILState_Release(state_); }
  GilHeld(const GilHeld&) = delete;
  GilHeld& operator=(const GilHeld&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace holdfast::python

#endif  // HOLDFAST_LIB_PYTHON_CORE_GIL_H_
