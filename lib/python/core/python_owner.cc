#include "lib/python/core/python_owner.h"

#include <memory>

#include "lib/python/core/gil.h"
#include "lib/python/core/life.h"
#include "lib/python/core/resource_objects.h"

namespace py = pybind11;

namespace holdfast::python {
namespace {

// The deleter, by which an owner that is a Python object is known again.
struct ReleaseObject {
  Life* life;

  void operator()(const void* object) const noexcept {
    if (!life->Enter()) {
      life->CountLeakedOwner();
      return;
    }
    {
      const GilHeld held;
      Py_DECREF(static_cast<PyObject*>(const_cast<void*>(object)));
    }
    life->Leave();
  }
};

template <typename Object>
bool TakeHandle(py::handle owner, OpaqueHandle* handle) {
  if (!py::isinstance<Object>(owner)) {
    return false;
  }
  *handle = owner.cast<const Object&>().handle;
  return true;
}

}  // namespace

OpaqueHandle KeepObject(py::handle object) {
  object.inc_ref();
  return OpaqueHandle(static_cast<const void*>(object.ptr()), ReleaseObject{&Life::Present()});
}

OpaqueHandle OwnerOf(py::handle owner) {
  OpaqueHandle handle;
  if (owner.is_none() || TakeHandle<StreamObject>(owner, &handle) || TakeHandle<EventObject>(owner, &handle) ||
      TakeHandle<MemoryObject>(owner, &handle) || TakeHandle<LibraryObject>(owner, &handle) ||
      TakeHandle<KernelObject>(owner, &handle)) {
    return handle;
  }
  return KeepObject(owner);
}

py::object ObjectOf(const OpaqueHandle& owner) {
  if (std::get_deleter<ReleaseObject>(owner) == nullptr) {
    return py::none();
  }
  return py::reinterpret_borrow<py::object>(static_cast<PyObject*>(const_cast<void*>(owner.get())));
}

}  // namespace holdfast::python
