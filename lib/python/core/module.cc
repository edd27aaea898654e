// holdfast._core: the C++ library for Python. _core.pyi beside the package says what is in it.
#include "lib/python/core/bindings.h"
#include "lib/python/core/life.h"
#include "lib/python/core/pybind.h"

namespace py = pybind11;

namespace holdfast::python {
namespace {

constexpr const char* kSubinterpreter = "holdfast works in the main interpreter only: this is a subinterpreter";

// The cleanup runs on the main interpreter's main thread, and would release another one's objects there.
bool IsInMainInterpreter() { return PyInterpreterState_Get() == PyInterpreterState_Main(); }

void EndPresentLife() { Life::Present().End(); }

void BeginLife() {
  Life::Begin();
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

PYBIND11_MODULE(_core_of_main_interpreter, module, py::mod_gil_not_used()) {
  // CPython 3.13 has come here by way of the main interpreter.
  if (!holdfast::python::IsInMainInterpreter()) {
    throw py::import_error(holdfast::python::kSubinterpreter);
  }
  holdfast::python::BeginLife();
  holdfast::python::BindAll(module);
}

// Looks before pybind11 begins, which in a subinterpreter of CPython 3.10 or 3.11 asks for the GIL and never gets it.
extern "C" PYBIND11_EXPORT PyObject* PyInit__core() {
  if (!holdfast::python::IsInMainInterpreter()) {
    PyErr_SetString(PyExc_ImportError, holdfast::python::kSubinterpreter);
    return nullptr;
  }
  return PyInit__core_of_main_interpreter();
}
