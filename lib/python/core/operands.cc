// What nodes work on: operands, launch configurations, kernel arguments, callbacks.
#include "lib/graph/operands.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lib/graph/condition.h"
#include "lib/python/core/bindings.h"
#include "lib/python/core/life.h"
#include "lib/python/core/pybind.h"
#include "lib/python/core/python_owner.h"

namespace py = pybind11;

namespace holdfast::python {
namespace {

using Dimensions = std::array<unsigned, 3>;

MemoryOperand MakeOperand(std::uintptr_t address, bool is_device, const py::object& owner) {
  return is_device ? MemoryOperand::Device(address, OwnerOf(owner))
                   : MemoryOperand::Host(reinterpret_cast<void*>(address), OwnerOf(owner));
}

template <unsigned (LaunchConfiguration::*member)[3]>
void BindDimensions(Class<LaunchConfiguration>& configuration, const char* name) {
  configuration.def_property(
      name,
      [](const LaunchConfiguration& self) {
        return py::make_tuple((self.*member)[0], (self.*member)[1], (self.*member)[2]);
      },
      [](LaunchConfiguration& self, const Dimensions& values) {
        std::copy(values.begin(), values.end(), self.*member);
      });
}

LaunchConfiguration MakeConfiguration(const Dimensions& grid, const Dimensions& block, unsigned shared_memory_bytes,
                                      const Dimensions& cluster, bool cooperative) {
  LaunchConfiguration configuration;
  std::copy(grid.begin(), grid.end(), configuration.grid);
  std::copy(block.begin(), block.end(), configuration.block);
  configuration.shared_memory_bytes = shared_memory_bytes;
  std::copy(cluster.begin(), cluster.end(), configuration.cluster);
  configuration.cooperative = cooperative;
  return configuration;
}

// A callable with the life that it belongs to. The callable itself is kept beside it.
struct BoundCallable {
  Life* life;
  PyObject* callable;
};

// On a thread of the driver's. It does not wait for Python once that goes away: the driver would wait with it.
void CUDA_CB RunCallable(void* data) {
  const auto* const bound = static_cast<const BoundCallable*>(data);
  if (!bound->life->Enter()) {
    bound->life->CountSkippedCallback();
    return;
  }
  {
    const GilHeld held;
    if (PyObject* result = PyObject_CallNoArgs(bound->callable)) {
      Py_DECREF(result);
    } else {
      PyErr_WriteUnraisable(bound->callable);
    }
  }
  bound->life->Leave();
}

HostCallback FromCallable(const py::object& callable) {
  if (PyCallable_Check(callable.ptr()) == 0) {
    throw py::type_error("a callback is called at each launch: this object cannot be");
  }
  const auto bound = std::make_shared<BoundCallable>(BoundCallable{&Life::Present(), callable.ptr()});
  return {&RunCallable, bound.get(), KeepObject(callable), bound};
}

HostCallback FromAddress(std::uintptr_t function, std::uintptr_t user_data, const py::object& function_owner,
                         const py::object& data_owner) {
  if (function == 0) {
    throw std::invalid_argument("a callback has the address of a function, not 0");
  }
  return {reinterpret_cast<CUhostFn>(function), reinterpret_cast<void*>(user_data), OwnerOf(function_owner),
          OwnerOf(data_owner)};
}

HostCallback FromAddressAndBytes(std::uintptr_t function, const py::bytes& data, const py::object& function_owner) {
  const auto copy = std::make_shared<std::string>(data);
  HostCallback callback = FromAddress(function, 0, function_owner, py::none());
  if (!copy->empty()) {
    callback.user_data = copy->data();
    callback.user_data_owner = copy;
  }
  return callback;
}

void AddBytes(KernelArguments& arguments, const py::bytes& value) {
  const auto bytes = static_cast<std::string_view>(value);
  if (bytes.empty()) {
    throw std::invalid_argument("an argument of a kernel has at least one byte");
  }
  arguments.AddBytes(bytes.data(), bytes.size());
}

void BindConfiguration(py::module_& module) {
  Class<LaunchConfiguration> configuration(module, "Configuration");
  configuration.def(py::init(&MakeConfiguration), py::arg("grid"), py::arg("block"), py::arg("shared_memory_bytes") = 0,
                    py::arg("cluster") = Dimensions{0, 0, 0}, py::arg("cooperative") = false);
  BindDimensions<&LaunchConfiguration::grid>(configuration, "grid");
  BindDimensions<&LaunchConfiguration::block>(configuration, "block");
  BindDimensions<&LaunchConfiguration::cluster>(configuration, "cluster");
  configuration.def_readwrite("shared_memory_bytes", &LaunchConfiguration::shared_memory_bytes)
      .def_readwrite("cooperative", &LaunchConfiguration::cooperative);
}

}  // namespace

void BindOperands(py::module_& module) {
  Class<MemoryOperand>(module, "Operand")
      .def(py::init(&MakeOperand), py::arg("address"), py::arg("is_device"), py::arg("owner"));
  BindConfiguration(module);
  Class<KernelArguments>(module, "Arguments")
      .def(py::init<>())
      .def("add", &AddBytes, py::arg("value"))
      .def(
          "add_owner", [](KernelArguments& arguments, const py::object& owner) { arguments.AddOwner(OwnerOf(owner)); },
          py::arg("owner"));
  Class<HostCallback>(module, "Callback")
      .def_static("from_callable", &FromCallable, py::arg("function"))
      .def_static("from_address", &FromAddress, py::arg("function"), py::arg("user_data"), py::arg("function_owner"),
                  py::arg("data_owner"))
      .def_static("from_address_and_bytes", &FromAddressAndBytes, py::arg("function"), py::arg("data"),
                  py::arg("function_owner"));
  Class<Condition> condition(module, "Condition");
  condition.def_property_readonly("raw", &Condition::raw);
  BindIdentity(condition);
}

}  // namespace holdfast::python
