// CB-07: which body runs.
//
// Intent: for each kind of conditional node and each default of its condition, launch a graph whose bodies fill the
// same byte with a value of their own, and read which one was there. A false if, a while that begins false and a switch
// value without a body run nothing. The bodies alone keep the memory: nothing else has a reference when the launch
// runs.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed; the memory is freed after the last launch.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"

namespace holdfast::scenarios {
namespace {

constexpr std::uint8_t kUntouched = 0;

struct Case {
  const char* name;
  unsigned default_value;
  GraphNode (*add)(GraphDefinition&, const Condition&);
  std::uint8_t expected;  // the number of the body that runs, from 1
};

GraphNode If(GraphDefinition& graph, const Condition& condition) { return graph.AddIfNode(condition); }
GraphNode IfElse(GraphDefinition& graph, const Condition& condition) { return graph.AddIfElseNode(condition); }
GraphNode While(GraphDefinition& graph, const Condition& condition) { return graph.AddWhileNode(condition); }
GraphNode Switch(GraphDefinition& graph, const Condition& condition) { return graph.AddSwitchNode(condition, 3); }

constexpr Case kCases[] = {
    {"if 0", 0, &If, kUntouched},         {"if 1", 1, &If, 1},          {"if 5", 5, &If, 1},
    {"if-else 0", 0, &IfElse, 2},         {"if-else 1", 1, &IfElse, 1}, {"while 0", 0, &While, kUntouched},
    {"switch 0", 0, &Switch, 1},          {"switch 2", 2, &Switch, 3},  {"switch 3", 3, &Switch, kUntouched},
    {"switch 9", 9, &Switch, kUntouched},
};

std::uint8_t ReadByte(CUdeviceptr address) {
  std::uint8_t value = 0;
  driver::Check("cuMemcpyDtoH", driver::GetDriver().cuMemcpyDtoH(&value, address, 1u), "reading a byte back");
  return value;
}

void CheckCase(harness::Context& context, const DeviceSession& session, const Case& test) {
  DeviceMemoryHandle memory = DeviceMemory::Allocate(1);
  const CUdeviceptr address = memory->address();
  std::optional<GraphDefinition> graph(std::in_place);
  const GraphNode clear =
      graph->AddMemsetNode(MemoryOperand::Device(address, nullptr), {.value = kUntouched, .width_elements = 1});
  {
    const GraphNode node = test.add(*graph, graph->MakeCondition(test.default_value));
    graph->AddEdge(clear, node);
    unsigned value = 0;
    for (GraphDefinition& body : node.Bodies()) {
      body.AddMemsetNode(MemoryOperand::Device(memory), {.value = ++value, .width_elements = 1});
    }
  }
  memory = nullptr;
  std::optional<GraphExec> executable(*graph);
  for (int launch = 0; launch < 2; ++launch) {
    executable->Launch(session.stream());
    session.stream()->Synchronize();
    context.Check(context.shim().live().allocations == 1, "the bodies keep what they work on");
    const std::uint8_t ran = ReadByte(address);
    context.Check(ran == test.expected, std::string(test.name) + ": body " + std::to_string(test.expected) +
                                            " runs at each launch, not " + std::to_string(ran));
  }
  executable.reset();
  graph.reset();
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  for (const Case& test : kCases) {
    CheckCase(context, session, test);
    context.CheckEventually(
        [&] {
          Settle(context);
          return context.shim().live().allocations == 0;
        },
        "what the bodies kept is freed when nothing needs it");
  }
  context.Oracle("the body that ran, for each kind and value");
}

const harness::Registration registration({
    .name = "CB.conditions-decide-what-runs",
    .summary =
        "The default of a condition decides which body runs, and false, zero iterations or no such body run none",
    .covers = {"CB-07"},
    .catches = {},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
