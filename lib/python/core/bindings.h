// What the module is made of: one function a file, each of which adds its part.
#ifndef HOLDFAST_LIB_PYTHON_CORE_BINDINGS_H_
#define HOLDFAST_LIB_PYTHON_CORE_BINDINGS_H_

#include <memory>

#include "lib/python/core/gil.h"
#include "lib/python/core/pybind.h"

namespace holdfast::python {

void BindErrors(pybind11::module_& module);
void BindCleanup(pybind11::module_& module);
void BindDriver(pybind11::module_& module);
void BindResources(pybind11::module_& module);
void BindOperands(pybind11::module_& module);
void BindGraphs(pybind11::module_& module);
void BindNodes(pybind11::module_& module);
void BindExecutables(pybind11::module_& module);
void BindBuilders(pybind11::module_& module);

// For calls that may reach the driver: their arguments are C++ values by then.
using WithoutGil = pybind11::call_guard<GilReleased>;

// The last handle of a graph or a resource calls the driver, which may take its time or wait for a callback in Python:
// that happens without the GIL.
struct DeleteWithoutGil {
  template <typename Object>
  void operator()(Object* object) const noexcept {
    if (object == nullptr) {
      return;
    }
    const GilReleased released;
    delete object;
  }
};

// A class whose objects go that way.
template <typename Object>
using Class = pybind11::class_<Object, std::unique_ptr<Object, DeleteWithoutGil>>;

// By what they name, as in C++.
template <typename Object>
void BindIdentity(Class<Object>& type) {
  type.def(
          "__eq__", [](const Object& left, const Object& right) { return left == right; }, pybind11::is_operator())
      .def("__hash__", &Object::Hash);
}

}  // namespace holdfast::python

#endif  // HOLDFAST_LIB_PYTHON_CORE_BINDINGS_H_
