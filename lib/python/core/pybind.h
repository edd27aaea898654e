// pybind11, for all files of the module; they include this in place of it.
//
// Without the GIL, pybind11 has locks around its tables: every object of ours passes one when it is made and when it
// goes. They are CPython's PyMutex, whose wait may end in that the lock is handed to the waiting thread, before that
// one is let back to Python. When the interpreter ends at that moment, CPython 3.13 keeps the thread out for ever: the
// lock has an owner that never runs again, and the main thread, which lets objects go when the modules go, waits for
// it. Here a thread waits outside the lock, and takes it itself when it is back.
#ifndef HOLDFAST_LIB_PYTHON_CORE_PYBIND_H_
#define HOLDFAST_LIB_PYTHON_CORE_PYBIND_H_

#include <Python.h>

#ifdef Py_GIL_DISABLED

#include <sched.h>

#include <cstdint>

#include "lib/python/core/gil.h"

namespace holdfast::python {

// The states of a PyMutex are described in CPython's own header.
inline bool TryLock(PyMutex* mutex) noexcept {
  std::uint8_t bits = _Py_atomic_load_uint8_relaxed(&mutex->_bits);
  return (bits & _Py_LOCKED) == 0 && _Py_atomic_compare_exchange_uint8(&mutex->_bits, &bits, bits | _Py_LOCKED) != 0;
}

// The locks are held for a look into a table, so nearly always a few attempts are enough. Who holds one may be kept out
// of Python meanwhile, if it waits for a second one; then those who wait may not stay in either, or a thread that stops
// all others (the garbage collection) would wait for them for ever.
inline void LockWithoutHandover(PyMutex* mutex) noexcept {
  constexpr int kAttemptsInside = 1000;
  for (int attempt = 0; !TryLock(mutex); ++attempt) {
    if (attempt < kAttemptsInside) {
      sched_yield();
    } else {
      const GilReleased outside;
      sched_yield();
    }
  }
}

}  // namespace holdfast::python

// In CPython's header it is a macro as well, of this value.
#undef PyMutex_Lock
#define PyMutex_Lock ::holdfast::python::LockWithoutHandover
#include <pybind11/pybind11.h>
#undef PyMutex_Lock
#define PyMutex_Lock _PyMutex_Lock

#endif  // Py_GIL_DISABLED

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#endif  // HOLDFAST_LIB_PYTHON_CORE_PYBIND_H_
