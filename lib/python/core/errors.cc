// DriverError as a Python exception that carries what the C++ one does. The standard exceptions of the library become
// ValueError, RuntimeError and MemoryError by themselves.
#include <exception>
#include <utility>

#include "lib/driver/status.h"
#include "lib/python/core/bindings.h"

namespace py = pybind11;

namespace holdfast::python {
namespace {

constexpr const char* kModule = "holdfast._core";
constexpr const char* kDriverError = "DriverError";

void Raise(const driver::DriverError& error) {
  // Looked up each time: a second interpreter in this process has a module of its own.
  const py::object type = py::module_::import(kModule).attr(kDriverError);
  py::object instance = type(error.what());
  instance.attr("call") = error.call();
  instance.attr("result") = static_cast<int>(error.result());
  instance.attr("name") = driver::ResultName(error.result());
  PyErr_SetObject(type.ptr(), instance.ptr());
}

}  // namespace

void BindErrors(py::module_& module) {
  py::object type = py::reinterpret_steal<py::object>(PyErr_NewExceptionWithDoc(
      "holdfast.DriverError",
      "The driver refused a call.\n\ncall: its name; result: the CUresult as a number; name: the same as in cuda.h.",
      PyExc_RuntimeError, nullptr));
  if (!type) {
    throw py::error_already_set();
  }
  module.attr(kDriverError) = type;
  py::register_local_exception_translator([](std::exception_ptr pointer) {
    try {
      std::rethrow_exception(std::move(pointer));
    } catch (const driver::DriverError& error) {
      Raise(error);
    }
  });
}

}  // namespace holdfast::python
