// Executables, and their nodes.

#include "lib/graph/exec_node.h"
#include "lib/graph/graph_builder.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "lib/python/core/bindings.h"
#include "lib/python/core/resource_objects.h"

namespace py = pybind11;

namespace holdfast::python {
namespace {

void UpdateExecMemset(ExecNode& node, const MemoryOperand& destination, unsigned value, unsigned element_size_bytes,
                      std::size_t width, std::size_t height, std::size_t pitch_bytes) {
  node.UpdateMemset(destination, {value, element_size_bytes, width, height, pitch_bytes});
}

void BindExecutable(py::module_& module) {
  auto executable = py::reinterpret_borrow<Class<GraphExec>>(module.attr("GraphExec"));
  executable
      .def_property_readonly("raw", [](const GraphExec& self) { return reinterpret_cast<std::uintptr_t>(self.raw()); })
      .def(
          "launch", [](const GraphExec& self, const StreamObject& stream) { self.Launch(stream.handle); },
          py::arg("stream"), WithoutGil())
      .def(
          "upload", [](const GraphExec& self, const StreamObject& stream) { self.Upload(stream.handle); },
          py::arg("stream"), WithoutGil())
      .def(
          "update", [](GraphExec& self, const GraphDefinition& source) { self.Update(source); }, py::arg("source"),
          WithoutGil())
      .def(
          "update_from_builder", [](GraphExec& self, const GraphBuilder& source) { self.Update(source); },
          py::arg("source"), WithoutGil())
      .def("node", &GraphExec::Node, py::arg("node"), WithoutGil())
      .def("close", &GraphExec::Close, WithoutGil());
  BindIdentity(executable);
}

void BindExecutableNode(py::module_& module) {
  Class<ExecNode>(module, "ExecNode")
      .def(
          "update_kernel",
          [](ExecNode& self, const KernelObject& kernel, const LaunchConfiguration& configuration,
             const KernelArguments& arguments) { self.UpdateKernel(kernel.handle, configuration, arguments); },
          py::arg("kernel"), py::arg("configuration"), py::arg("arguments"), WithoutGil())
      .def(
          "update_memcpy",
          [](ExecNode& self, const MemoryOperand& destination, const MemoryOperand& source, std::size_t size_bytes) {
            self.UpdateMemcpy(destination, source, size_bytes);
          },
          py::arg("destination"), py::arg("source"), py::arg("size_bytes"), WithoutGil())
      .def("update_memset", &UpdateExecMemset, py::arg("destination"), py::arg("value"), py::arg("element_size_bytes"),
           py::arg("width"), py::arg("height"), py::arg("pitch_bytes"), WithoutGil())
      .def("update_host", &ExecNode::UpdateHost, py::arg("callback"), WithoutGil())
      .def(
          "update_event_record", [](ExecNode& self, const EventObject& event) { self.UpdateEventRecord(event.handle); },
          py::arg("event"), WithoutGil())
      .def(
          "update_event_wait", [](ExecNode& self, const EventObject& event) { self.UpdateEventWait(event.handle); },
          py::arg("event"), WithoutGil())
      .def("update_child", &ExecNode::UpdateChildGraph, py::arg("source"), WithoutGil())
      .def_property_readonly("is_enabled", py::cpp_function(&ExecNode::IsEnabled, WithoutGil()))
      .def("set_enabled", &ExecNode::SetEnabled, py::arg("enabled"), WithoutGil());
}

}  // namespace

void BindExecutables(py::module_& module) {
  // It is an argument of the executable's.
  const Class<GraphBuilder> builder(module, "GraphBuilder");
  BindExecutable(module);
  BindExecutableNode(module);
}

}  // namespace holdfast::python
