// CB-07, CB-08: kernels of the graph decide while it runs.
//
// Intent: a while loop whose body counts runs as often as the limit says, and not at all when its condition begins
// false; a kernel before an if-else overrules the default, which is back at the next launch; a condition without a
// default has the value that a kernel gave it. The graph alone keeps kernels, memory and their library.
//
// Interleaving: one thread.
//
// Expected verdict: passed.
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/condition_kernels.h"
#include "scenarios/support/device_bytes.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/live_objects.h"

namespace holdfast::scenarios {
namespace {

std::uint32_t ReadNumber(const DeviceMemoryHandle& memory) {
  std::uint32_t number = 0;
  std::memcpy(&number, DeviceSession::Read(memory).data(), sizeof number);
  return number;
}

void LaunchOnce(const DeviceSession& session, const GraphExec& executable) {
  executable.Launch(session.stream());
  session.stream()->Synchronize();
}

void CheckLoop(harness::Context& context, const DeviceSession& session, unsigned default_value, std::uint32_t limit,
               std::uint32_t expected) {
  const DeviceMemoryHandle counter = AllocateZeroed(4);
  std::optional<GraphDefinition> graph(std::in_place);
  {
    const Condition condition = graph->MakeCondition(default_value);
    GraphDefinition body = graph->AddWhileNode(condition).Bodies().front();
    body.AddKernelNode(LoadConditionKernels(context).count_up_to, {}, CountUpToArguments(condition, counter, limit));
  }
  const GraphExec executable(*graph);
  graph.reset();
  LaunchOnce(session, executable);
  context.Check(ReadNumber(counter) == expected,
                "the loop runs " + std::to_string(expected) + " times, not " + std::to_string(ReadNumber(counter)));
}

// Which body of an if-else wrote; `before` runs first and may set the condition.
class Decision {
 public:
  explicit Decision(std::optional<unsigned> default_value) : condition_(graph_.MakeCondition(default_value)) {}

  void SetBefore(const harness::Context& context, std::uint32_t value) {
    first_.push_back(graph_.AddKernelNode(LoadConditionKernels(context).set_condition, {},
                                          SetConditionArguments(condition_, value)));
  }

  std::uint8_t Launch(const DeviceSession& session) {
    if (!executable_.has_value()) {
      std::uint8_t value = 0;
      for (GraphDefinition& body : graph_.AddIfElseNode(condition_, first_).Bodies()) {
        body.AddMemsetNode(MemoryOperand::Device(mark_), {.value = ++value, .width_elements = 1});
      }
      executable_.emplace(graph_);
    }
    LaunchOnce(session, *executable_);
    return DeviceSession::Read(mark_).front();
  }

 private:
  const DeviceMemoryHandle mark_ = AllocateZeroed(1);
  GraphDefinition graph_;
  const Condition condition_;
  std::vector<GraphNode> first_;
  std::optional<GraphExec> executable_;
};

void CheckDecisions(harness::Context& context, const DeviceSession& session) {
  Decision by_default(1);
  context.Check(by_default.Launch(session) == 1, "without a kernel the default decides");
  Decision overruled(1);
  overruled.SetBefore(context, 0);
  context.Check(overruled.Launch(session) == 2, "a kernel before the node overrules the default");
  context.Check(overruled.Launch(session) == 2, "at each launch anew");
  Decision without(std::nullopt);
  without.SetBefore(context, 7);
  context.Check(without.Launch(session) == 1, "a condition without a default is what a kernel made it");
}

// The default comes back at each launch: a kernel behind the node changes nothing for the next one.
void CheckDefaultComesBack(harness::Context& context, const DeviceSession& session) {
  const DeviceMemoryHandle counter = AllocateZeroed(4);
  GraphDefinition graph;
  const Condition condition = graph.MakeCondition(1);
  const ConditionKernels kernels = LoadConditionKernels(context);
  const GraphNode node = graph.AddIfNode(condition);
  node.Bodies().front().AddKernelNode(kernels.count_up_to, {}, CountUpToArguments(condition, counter, 100));
  graph.AddKernelNode(kernels.set_condition, {}, SetConditionArguments(condition, 0), {{node}});
  const GraphExec executable(graph);
  LaunchOnce(session, executable);
  LaunchOnce(session, executable);
  context.Check(ReadNumber(counter) == 2, "the default is back at the second launch");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  const fault::LiveObjects before = context.shim().live();
  CheckLoop(context, session, 1, 5, 5);
  CheckLoop(context, session, 1, 1, 1);
  CheckLoop(context, session, 0, 5, 0);
  CheckDecisions(context, session);
  CheckDefaultComesBack(context, session);
  CheckSameLive(context, before, "all graphs are gone");
  context.Oracle("loops and decisions, in numbers");
}

const harness::Registration registration({
    .name = "CB.kernels-set-conditions",
    .summary =
        "While loops and decisions follow the conditions that kernels set, and defaults come back at each launch",
    .covers = {"CB-07", "CB-08"},
    .catches = {},
    .variants = harness::SingleVariant(),
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
