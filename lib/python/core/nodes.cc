// Nodes of definitions: what they are, and how their parameters are replaced.
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_node.h"
#include "lib/graph/kernel_attributes.h"
#include "lib/graph/node_updates.h"
#include "lib/python/core/bindings.h"
#include "lib/python/core/pybind.h"
#include "lib/python/core/python_owner.h"
#include "lib/python/core/resource_objects.h"

namespace py = pybind11;

namespace holdfast::python {
namespace {

py::list Owners(const GraphNode& node) {
  std::vector<OpaqueHandle> owners;
  {
    const GilReleased released;
    owners = node.Owners();
  }
  py::list objects;
  for (const OpaqueHandle& owner : owners) {
    objects.append(ObjectOf(owner));
  }
  return objects;
}

std::optional<KernelObject> KernelOf(const GraphNode& node) {
  KernelHandle kernel = node.Kernel();
  return kernel == nullptr ? std::nullopt : std::optional(KernelObject{std::move(kernel)});
}

std::uintptr_t RawKernelOf(const GraphNode& node) {
  if (!node.IsValid()) {
    throw std::logic_error("the node has been destroyed");
  }
  return reinterpret_cast<std::uintptr_t>(graph::ReadKernel(node.raw()).kern);
}

std::optional<EventObject> EventOf(const GraphNode& node) {
  EventHandle event = node.Event();
  return event == nullptr ? std::nullopt : std::optional(EventObject{std::move(event)});
}

// Of an event that the library never had, too.
std::uintptr_t RawEventOf(const GraphNode& node) {
  if (!node.IsValid()) {
    throw std::logic_error("the node has been destroyed");
  }
  const driver::Driver& driver = driver::GetDriver();
  CUevent event = nullptr;
  const CUresult result = node.type() == CU_GRAPH_NODE_TYPE_EVENT_RECORD
                              ? driver.cuGraphEventRecordNodeGetEvent(node.raw(), &event)
                              : driver.cuGraphEventWaitNodeGetEvent(node.raw(), &event);
  driver::Check("cuGraphEventRecordNodeGetEvent", result, "asking for the event of a node");
  return reinterpret_cast<std::uintptr_t>(event);
}

std::tuple<std::uintptr_t, std::uintptr_t, std::size_t> Copied(const GraphNode& node) {
  const CopyParameters copy = node.Copy();
  const auto is_plain = [](const CopySide& side) {
    return side.memory.kind != MemoryOperand::Kind::kArray && side.x_bytes == 0 && side.y == 0 && side.z == 0;
  };
  if (!is_plain(copy.destination) || !is_plain(copy.source) || copy.height != 1 || copy.depth != 1) {
    throw std::logic_error("the node copies rows, slices or arrays, not one piece of memory");
  }
  return {copy.destination.memory.address, copy.source.memory.address, copy.width_bytes};
}

std::tuple<std::uintptr_t, unsigned, unsigned, std::size_t, std::size_t, std::size_t> Filled(const GraphNode& node) {
  const FillParameters fill = node.Fill();
  return {fill.destination.address,    fill.pattern.value,  fill.pattern.element_size_bytes,
          fill.pattern.width_elements, fill.pattern.height, fill.pattern.pitch_bytes};
}

std::tuple<CUdeviceptr, std::size_t, int, int, int, std::vector<int>> Allocated(const GraphNode& node) {
  const AllocationParameters allocation = node.Allocation();
  return {node.AllocatedAddress(),           allocation.size_bytes,  static_cast<int>(allocation.location.type),
          static_cast<int>(allocation.type), allocation.location.id, allocation.peers};
}

void UpdateKernel(GraphNode& node, const std::optional<KernelObject>& kernel,
                  const std::optional<LaunchConfiguration>& configuration,
                  const std::optional<KernelArguments>& arguments) {
  KernelUpdate update;
  if (kernel) {
    update.kernel = kernel->handle;
  }
  update.configuration = configuration;
  update.arguments = arguments;
  node.UpdateKernel(update);
}

void UpdateMemcpy(GraphNode& node, const std::optional<MemoryOperand>& destination,
                  const std::optional<MemoryOperand>& source, std::optional<std::size_t> size_bytes) {
  MemcpyUpdate update;
  update.destination = destination;
  update.source = source;
  update.size_bytes = size_bytes;
  node.UpdateMemcpy(update);
}

void UpdateMemset(GraphNode& node, const std::optional<MemoryOperand>& destination, std::optional<unsigned> value,
                  std::optional<unsigned> element_size_bytes, std::optional<std::size_t> width,
                  std::optional<std::size_t> height, std::optional<std::size_t> pitch_bytes) {
  MemsetUpdate update;
  update.destination = destination;
  update.value = value;
  update.element_size_bytes = element_size_bytes;
  update.width_elements = width;
  update.height = height;
  update.pitch_bytes = pitch_bytes;
  node.UpdateMemset(update);
}

void BindQuestions(Class<GraphNode>& node) {
  node.def_property_readonly("raw", [](const GraphNode& self) { return reinterpret_cast<std::uintptr_t>(self.raw()); })
      .def_property_readonly("is_valid", &GraphNode::IsValid)
      .def_property_readonly("type", [](const GraphNode& self) { return static_cast<int>(self.type()); })
      .def_property_readonly("graph", &GraphNode::Graph)
      .def("owners", &Owners)
      .def("predecessors", &GraphNode::Predecessors, WithoutGil())
      .def("successors", &GraphNode::Successors, WithoutGil())
      .def("child_graph", &GraphNode::ChildGraph, WithoutGil())
      .def("bodies", &GraphNode::Bodies, WithoutGil())
      .def("kernel", &KernelOf, WithoutGil())
      .def("raw_kernel", &RawKernelOf, WithoutGil())
      .def("configuration", &GraphNode::KernelConfiguration, WithoutGil())
      .def("copied", &Copied, WithoutGil())
      .def("filled", &Filled, WithoutGil())
      .def("event", &EventOf, WithoutGil())
      .def("raw_event", &RawEventOf, WithoutGil())
      .def("allocated", &Allocated, WithoutGil())
      .def("freed_address", &GraphNode::FreedAddress, WithoutGil());
}

void BindUpdates(Class<GraphNode>& node) {
  node.def("destroy", &GraphNode::Destroy, WithoutGil())
      .def("update_kernel", &UpdateKernel, py::arg("kernel"), py::arg("configuration"), py::arg("arguments"),
           WithoutGil())
      .def("update_memcpy", &UpdateMemcpy, py::arg("destination"), py::arg("source"), py::arg("size_bytes"),
           WithoutGil())
      .def("update_memset", &UpdateMemset, py::arg("destination"), py::arg("value"), py::arg("element_size_bytes"),
           py::arg("width"), py::arg("height"), py::arg("pitch_bytes"), WithoutGil())
      .def("update_host", &GraphNode::UpdateHost, py::arg("callback"), WithoutGil())
      .def(
          "update_event_record",
          [](GraphNode& self, const EventObject& event) { self.UpdateEventRecord(event.handle); }, py::arg("event"),
          WithoutGil())
      .def(
          "update_event_wait", [](GraphNode& self, const EventObject& event) { self.UpdateEventWait(event.handle); },
          py::arg("event"), WithoutGil())
      .def("update_child", &GraphNode::UpdateChildGraph, py::arg("source"), WithoutGil());
}

}  // namespace

void BindNodes(py::module_& module) {
  auto node = py::reinterpret_borrow<Class<GraphNode>>(module.attr("GraphNode"));
  BindIdentity(node);
  BindQuestions(node);
  BindUpdates(node);
}

}  // namespace holdfast::python
