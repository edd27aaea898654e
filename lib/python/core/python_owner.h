// Python objects as owners: kept for as long as CUDA needs what they go with, released wherever that ends.
#ifndef HOLDFAST_LIB_PYTHON_CORE_PYTHON_OWNER_H_
#define HOLDFAST_LIB_PYTHON_CORE_PYTHON_OWNER_H_

#include "lib/handles/opaque_handle.h"
#include "lib/python/core/pybind.h"

namespace holdfast::python {

// Keeps `object`. The last reference takes the GIL for itself, on whichever thread it goes, so no lock may be held
// there; once Python goes away it leaks the object, and counts it. REQUIRES: with the GIL. Throws std::bad_alloc.
OpaqueHandle KeepObject(pybind11::handle object);

// What `owner` stands for: null for None; the resource itself for one of our resources, so that closing or dropping the
// Python object changes nothing; else the object. REQUIRES, throws: as KeepObject.
OpaqueHandle OwnerOf(pybind11::handle owner);

// The object that KeepObject keeps; None for another owner. REQUIRES: with the GIL.
pybind11::object ObjectOf(const OpaqueHandle& owner);

}  // namespace holdfast::python

#endif  // HOLDFAST_LIB_PYTHON_CORE_PYTHON_OWNER_H_
