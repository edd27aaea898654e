// Definitions of graphs.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "lib/python/core/bindings.h"
#include "lib/python/core/life.h"
#include "lib/python/core/pybind.h"
#include "lib/python/core/resource_objects.h"

namespace py = pybind11;

namespace holdfast::python {
namespace {

using Nodes = std::vector<GraphNode>;

GraphDefinition MakeGraph() {
  Life::Present().StartCleanup();
  return GraphDefinition();
}

GraphDefinition Adopt(std::uintptr_t raw) {
  Life::Present().StartCleanup();
  return GraphDefinition::Adopt(reinterpret_cast<CUgraph>(raw));
}

std::vector<std::pair<GraphNode, GraphNode>> Edges(const GraphDefinition& graph) {
  std::vector<std::pair<GraphNode, GraphNode>> edges;
  for (GraphEdge& edge : graph.Edges()) {
    edges.emplace_back(std::move(edge.from), std::move(edge.to));
  }
  return edges;
}

GraphNode AddKernel(GraphDefinition& graph, const KernelObject& kernel, const LaunchConfiguration& configuration,
                    const KernelArguments& arguments, const Nodes& dependencies) {
  return graph.AddKernelNode(kernel.handle, configuration, arguments, dependencies);
}

GraphNode AddMemcpy(GraphDefinition& graph, const MemoryOperand& destination, const MemoryOperand& source,
                    std::size_t size_bytes, const Nodes& dependencies) {
  return graph.AddMemcpyNode(destination, source, size_bytes, dependencies);
}

GraphNode AddMemset(GraphDefinition& graph, const MemoryOperand& destination, unsigned value,
                    unsigned element_size_bytes, std::size_t width, std::size_t height, std::size_t pitch_bytes,
                    const Nodes& dependencies) {
  return graph.AddMemsetNode(destination, {value, element_size_bytes, width, height, pitch_bytes}, dependencies);
}

GraphNode AddAllocation(GraphDefinition& graph, std::size_t size_bytes, int location_type, int allocation_type,
                        int device, std::vector<int> peer_devices, const Nodes& dependencies) {
  AllocationParameters allocation;
  allocation.size_bytes = size_bytes;
  allocation.type = static_cast<CUmemAllocationType>(allocation_type);
  allocation.location.type = static_cast<CUmemLocationType>(location_type);
  allocation.location.id = device;
  allocation.peers = std::move(peer_devices);
  return graph.AddMemoryAllocationNode(allocation, dependencies);
}

void BindAdditions(Class<GraphDefinition>& graph) {
  const py::arg dependencies("dependencies");
  graph
      .def(
          "add_empty", [](GraphDefinition& self, const Nodes& nodes) { return self.AddEmptyNode(nodes); }, dependencies,
          WithoutGil())
      .def("add_kernel", &AddKernel, py::arg("kernel"), py::arg("configuration"), py::arg("arguments"), dependencies,
           WithoutGil())
      .def("add_memcpy", &AddMemcpy, py::arg("destination"), py::arg("source"), py::arg("size_bytes"), dependencies,
           WithoutGil())
      .def("add_memset", &AddMemset, py::arg("destination"), py::arg("value"), py::arg("element_size_bytes"),
           py::arg("width"), py::arg("height"), py::arg("pitch_bytes"), dependencies, WithoutGil())
      .def(
          "add_host",
          [](GraphDefinition& self, const HostCallback& callback, const Nodes& nodes) {
            return self.AddHostNode(callback, nodes);
          },
          py::arg("callback"), dependencies, WithoutGil())
      .def(
          "add_event_record",
          [](GraphDefinition& self, const EventObject& event, const Nodes& nodes) {
            return self.AddEventRecordNode(event.handle, nodes);
          },
          py::arg("event"), dependencies, WithoutGil())
      .def(
          "add_event_wait",
          [](GraphDefinition& self, const EventObject& event, const Nodes& nodes) {
            return self.AddEventWaitNode(event.handle, nodes);
          },
          py::arg("event"), dependencies, WithoutGil())
      .def("add_allocation", &AddAllocation, py::arg("size_bytes"), py::arg("location_type"),
           py::arg("allocation_type"), py::arg("device"), py::arg("peer_devices"), dependencies, WithoutGil())
      .def(
          "add_free",
          [](GraphDefinition& self, CUdeviceptr address, const Nodes& nodes) {
            return self.AddMemoryFreeNode(address, nodes);
          },
          py::arg("address"), dependencies, WithoutGil())
      .def(
          "add_child",
          [](GraphDefinition& self, const GraphDefinition& source, const Nodes& nodes) {
            return self.AddChildGraphNode(source, nodes);
          },
          py::arg("source"), dependencies, WithoutGil())
      .def(
          "add_child_by_move",
          [](GraphDefinition& self, const GraphDefinition& source, const Nodes& nodes) {
            return self.AddChildGraphNodeByMove(source, nodes);
          },
          py::arg("source"), dependencies, WithoutGil());
}

void BindConditions(Class<GraphDefinition>& graph) {
  const py::arg dependencies("dependencies");
  graph.def("make_condition", &GraphDefinition::MakeCondition, py::arg("default_value"), WithoutGil())
      .def(
          "add_if",
          [](GraphDefinition& self, const Condition& condition, const Nodes& nodes) {
            return self.AddIfNode(condition, nodes);
          },
          py::arg("condition"), dependencies, WithoutGil())
      .def(
          "add_if_else",
          [](GraphDefinition& self, const Condition& condition, const Nodes& nodes) {
            return self.AddIfElseNode(condition, nodes);
          },
          py::arg("condition"), dependencies, WithoutGil())
      .def(
          "add_while",
          [](GraphDefinition& self, const Condition& condition, const Nodes& nodes) {
            return self.AddWhileNode(condition, nodes);
          },
          py::arg("condition"), dependencies, WithoutGil())
      .def(
          "add_switch",
          [](GraphDefinition& self, const Condition& condition, unsigned body_count, const Nodes& nodes) {
            return self.AddSwitchNode(condition, body_count, nodes);
          },
          py::arg("condition"), py::arg("body_count"), dependencies, WithoutGil());
}

}  // namespace

void BindGraphs(py::module_& module) {
  // Both before the functions that take or return them: docstrings name their types.
  Class<GraphNode> node(module, "GraphNode");
  Class<GraphDefinition> graph(module, "GraphDefinition");
  Class<GraphExec> executable(module, "GraphExec");
  graph.def(py::init(&MakeGraph), WithoutGil())
      .def_static("adopt", &Adopt, py::arg("raw"), WithoutGil())
      .def_static(
          "find", [](std::uintptr_t raw) { return GraphDefinition::Find(reinterpret_cast<CUgraph>(raw)); },
          py::arg("raw"), WithoutGil())
      .def("clone", &GraphDefinition::Clone, WithoutGil())
      .def_property_readonly("raw",
                             [](const GraphDefinition& self) { return reinterpret_cast<std::uintptr_t>(self.raw()); })
      .def_property_readonly("is_valid", &GraphDefinition::IsValid)
      .def_property_readonly("attachment_count", &GraphDefinition::attachment_count)
      .def("nodes", &GraphDefinition::Nodes, WithoutGil())
      .def("edges", &Edges, WithoutGil())
      .def("add_edge", &GraphDefinition::AddEdge, py::arg("start"), py::arg("end"), WithoutGil())
      .def("remove_edge", &GraphDefinition::RemoveEdge, py::arg("start"), py::arg("end"), WithoutGil())
      .def("write_dot", &GraphDefinition::WriteDot, py::arg("path"), py::arg("flags"), WithoutGil())
      .def(
          "instantiate", [](const GraphDefinition& self, unsigned long long flags) { return GraphExec(self, flags); },
          py::arg("flags"), WithoutGil());
  BindIdentity(graph);
  BindAdditions(graph);
  BindConditions(graph);
}

}  // namespace holdfast::python
