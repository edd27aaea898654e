// holdfast._core: the C++ library for Python. _core.pyi beside the package says what is in it.
#include <pybind11/pybind11.h>

#include <stdexcept>

#include "lib/python/core/bindings.h"
#include "lib/python/core/life.h"

namespace py = pybind11;

namespace holdfast::python {
namespace {

void EndPresentLife() { Life::Present().End(); }

void BeginLife() {
  try {
    Life::Begin();
  } catch (const std::runtime_error& error) {
    throw py::import_error(error.what());
  }
  // Functions registered later run earlier: those of programs that import this module first and use it in theirs.
  py::module_::import("atexit").attr("register")(py::cpp_function(&EndPresentLife));
}

// Classes before what takes or returns them: docstrings name their types.
void BindAll(py::module_& module) {
  BindErrors(module);
  BindCleanup(module);
  BindDriver(module);
  BindResources(module);
  BindOperands(module);
  BindGraphs(module);
  BindNodes(module);
  BindExecutables(module);
  BindBuilders(module);
}

}  // namespace
}  // namespace holdfast::python

PYBIND11_MODULE(_core, module, py::mod_gil_not_used()) {
  holdfast::python::BeginLife();
  holdfast::python::BindAll(module);
}
