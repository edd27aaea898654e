// The resources as Python objects: each holds one handle of the library.
#ifndef HOLDFAST_LIB_PYTHON_CORE_RESOURCE_OBJECTS_H_
#define HOLDFAST_LIB_PYTHON_CORE_RESOURCE_OBJECTS_H_

#include <cstddef>
#include <cstdint>

#include "lib/handles/opaque_handle.h"
#include "lib/handles/resources.h"

namespace holdfast::python {

struct StreamObject {
  StreamHandle handle;
};

struct EventObject {
  EventHandle handle;
};

// Device memory or pinned host memory.
struct MemoryObject {
  OpaqueHandle handle;
  std::uintptr_t address;
  std::size_t size_bytes;
};

struct LibraryObject {
  LibraryHandle handle;
};

struct KernelObject {
  KernelHandle handle;
};

}  // namespace holdfast::python

#endif  // HOLDFAST_LIB_PYTHON_CORE_RESOURCE_OBJECTS_H_
