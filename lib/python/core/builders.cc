// Builders: graphs made by capture.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/graph/graph_builder.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "lib/python/core/bindings.h"
#include "lib/python/core/life.h"
#include "lib/python/core/pybind.h"
#include "lib/python/core/resource_objects.h"

namespace py = pybind11;

namespace holdfast::python {
namespace {

GraphBuilder Make(const StreamObject& stream) {
  Life::Present().StartCleanup();
  return GraphBuilder(stream.handle);
}

std::string KindOf(const GraphBuilder& builder) {
  switch (builder.kind()) {
    case GraphBuilder::Kind::kPrimary:
      return "primary";
    case GraphBuilder::Kind::kForked:
      return "forked";
    case GraphBuilder::Kind::kBody:
      break;
  }
  return "body";
}

std::string StateOf(const GraphBuilder& builder) {
  switch (builder.state()) {
    case GraphBuilder::State::kNotStarted:
      return "not started";
    case GraphBuilder::State::kCapturing:
      return "capturing";
    case GraphBuilder::State::kEnded:
      return "ended";
    case GraphBuilder::State::kInvalidated:
      return "invalidated";
    case GraphBuilder::State::kClosed:
      break;
  }
  return "closed";
}

void BindCapture(Class<GraphBuilder>& builder) {
  builder
      .def(
          "begin", [](GraphBuilder& self, int mode) { self.Begin(static_cast<CUstreamCaptureMode>(mode)); },
          py::arg("mode"), WithoutGil())
      .def("is_building", &GraphBuilder::IsBuilding, WithoutGil())
      .def("end", &GraphBuilder::End, WithoutGil())
      .def("complete", &GraphBuilder::Complete, py::arg("flags"), WithoutGil())
      .def("definition", &GraphBuilder::Definition, WithoutGil())
      .def("write_dot", &GraphBuilder::WriteDot, py::arg("path"), py::arg("flags"), WithoutGil())
      .def("split", &GraphBuilder::Split, py::arg("count"), WithoutGil())
      .def_static(
          "join", [](const std::vector<GraphBuilder>& builders) { return GraphBuilder::Join(builders); },
          py::arg("builders"), WithoutGil())
      .def("close", &GraphBuilder::Close, WithoutGil());
}

void BindAdditions(Class<GraphBuilder>& builder) {
  builder.def("add_callback", &GraphBuilder::AddCallback, py::arg("callback"), WithoutGil())
      .def(
          "embed", [](GraphBuilder& self, const GraphDefinition& source) { self.Embed(source); }, py::arg("source"),
          WithoutGil())
      .def(
          "embed_builder", [](GraphBuilder& self, const GraphBuilder& source) { self.Embed(source); },
          py::arg("source"), WithoutGil())
      .def("make_condition", &GraphBuilder::MakeCondition, py::arg("default_value"), WithoutGil())
      .def("add_if", &GraphBuilder::If, py::arg("condition"), WithoutGil())
      .def("add_if_else", &GraphBuilder::IfElse, py::arg("condition"), WithoutGil())
      .def("add_while", &GraphBuilder::While, py::arg("condition"), WithoutGil())
      .def("add_switch", &GraphBuilder::Switch, py::arg("condition"), py::arg("body_count"), WithoutGil());
}

}  // namespace

void BindBuilders(py::module_& module) {
  auto builder = py::reinterpret_borrow<Class<GraphBuilder>>(module.attr("GraphBuilder"));
  builder.def(py::init(&Make), py::arg("stream"), WithoutGil())
      .def_property_readonly("kind", &KindOf)
      .def_property_readonly("state", &StateOf)
      .def_property_readonly("stream", [](const GraphBuilder& self) { return StreamObject{self.stream()}; });
  BindIdentity(builder);
  BindCapture(builder);
  BindAdditions(builder);
}

}  // namespace holdfast::python
