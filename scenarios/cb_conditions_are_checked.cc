// CB-06, CB-08: which conditions a conditional node takes.
//
// Intent: a condition of another graph, be it a child graph or the parent of one, one that serves a node already, and a
// switch without bodies are refused, and the graph is as it was; a condition of the root serves a node in a body; one
// without a default is a condition like any other. The driver takes a condition of another graph for an own one of the
// same number, so the library has to see it.
//
// Interleaving: one thread.
//
// Expected verdict: passed.
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/expected_errors.h"
#include "scenarios/support/operation_state.h"

namespace holdfast::scenarios {
namespace {

// The driver must refuse `add`, and the graph be as it was.
void CheckRefusedByDriver(harness::Context& context, GraphDefinition& graph, const std::string& what,
                          const std::function<void()>& add) {
  const OperationState before = OperationState::Of(context, graph, {});
  const CUresult result = CheckRefused(context, what, add);
  context.Check(result == CUDA_ERROR_INVALID_VALUE, "the driver's answer is passed on: " + what);
  CheckUnchanged(context, before, OperationState::Of(context, graph, {}), what);
}

void CheckForeignCondition(harness::Context& context) {
  GraphDefinition graph, other;
  const Condition foreign = other.MakeCondition(1);
  // The driver knows conditions by a number of their graph alone.
  const Condition own = graph.MakeCondition(0);
  context.Check(own.raw() == foreign.raw(), "the driver would take the foreign condition for the graph's own");
  const std::pair<const char*, std::function<void()>> additions[] = {
      {"AddIfNode", [&] { graph.AddIfNode(foreign); }},
      {"AddIfElseNode", [&] { graph.AddIfElseNode(foreign); }},
      {"AddWhileNode", [&] { graph.AddWhileNode(foreign); }},
      {"AddSwitchNode", [&] { graph.AddSwitchNode(foreign, 2); }},
  };
  const std::uint64_t calls_before = context.shim().calls("cuGraphAddNode");
  for (const auto& [name, add] : additions) {
    CheckMisuse<std::invalid_argument>(context, std::string(name) + " with a condition of another graph", name, add);
  }
  context.Check(context.shim().calls("cuGraphAddNode") == calls_before && graph.Nodes().empty(),
                "the driver, which would take it, is not asked");
  other.AddIfNode(foreign);
  const GraphExec executable(other);
  context.Check(executable.raw() != nullptr, "the condition goes on serving its own graph");
}

// A real driver crashes when it instantiates a graph whose node has the condition of a child graph that was moved in.
void CheckConditionOfChild(harness::Context& context) {
  GraphDefinition graph, source;
  GraphDefinition child = source;
  graph.AddChildGraphNodeByMove(source);
  const Condition of_child = child.MakeCondition(0);
  const Condition of_parent = graph.MakeCondition(0);
  CheckMisuse<std::invalid_argument>(context, "the condition of a child graph, in its parent", "AddIfNode",
                                     [&] { graph.AddIfNode(of_child); });
  CheckMisuse<std::invalid_argument>(context, "the condition of the parent, in a child graph", "AddIfNode",
                                     [&] { child.AddIfNode(of_parent); });
  child.AddIfNode(of_child);
  graph.AddIfNode(of_parent).Bodies().front().AddEmptyNode();
  const GraphExec executable(graph);
  context.Check(executable.raw() != nullptr, "each serves its own graph");
}

void CheckUsedCondition(harness::Context& context) {
  GraphDefinition graph;
  const Condition condition = graph.MakeCondition(0);
  graph.AddIfNode(condition);
  CheckRefusedByDriver(context, graph, "a second node of one condition", [&] { graph.AddIfNode(condition); });
  const Condition unused = graph.MakeCondition(0);
  CheckRefusedByDriver(context, graph, "a switch without bodies", [&] { graph.AddSwitchNode(unused, 0); });
  graph.AddSwitchNode(unused, 1);
  const GraphExec executable(graph);
  context.Check(executable.raw() != nullptr, "a condition whose node was refused serves another node");
}

void CheckAccepted(harness::Context& context) {
  GraphDefinition graph;
  GraphDefinition body = graph.AddIfNode(graph.MakeCondition()).Bodies().front();
  body.AddIfNode(graph.MakeCondition(1));
  const GraphExec executable(graph);
  context.Check(executable.raw() != nullptr, "a condition without a default, and one of the root in a body, are taken");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckForeignCondition(context);
  CheckConditionOfChild(context);
  CheckUsedCondition(context);
  CheckAccepted(context);
  context.Oracle("the graph after each refused condition");
}

const harness::Registration registration({
    .name = "CB.conditions-are-checked",
    .summary = "Conditions of another graph, used ones and switches without bodies are refused; the graph is as before",
    .covers = {"CB-06", "CB-08"},
    .catches = {},
    .variants = harness::SingleVariant(),
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
