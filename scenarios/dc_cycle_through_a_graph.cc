// DC-11, D-30: an owner that holds the graph that holds it.
//
// Intent: that is a cycle of references, which nothing collects: the documented leak. Nothing may crash or spin either;
// once the program breaks the cycle, by destroying the node, graph and owner go. The same through an executable.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <functional>
#include <memory>
#include <optional>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"

namespace holdfast::scenarios {
namespace {

void CUDA_CB Nothing(void*) {}

// What a node keeps, and what keeps it in turn.
struct Holder {
  std::optional<GraphDefinition> graph;
  std::optional<GraphExec> executable;
};

void CheckCycle(harness::Context& context, bool through_executable) {
  auto holder = std::make_shared<Holder>();
  const std::weak_ptr<Holder> watched = holder;
  holder->graph.emplace();
  holder->graph->AddHostNode({&Nothing, nullptr, holder, nullptr});
  if (through_executable) {
    holder->executable.emplace(*holder->graph);
    holder->graph.reset();
  }
  holder = nullptr;
  for (int round = 0; round < 3; ++round) {
    SettleIdle(context);
  }
  const fault::LiveObjects live = context.shim().live();
  context.Check(!watched.expired() && live.graphs == (through_executable ? 0 : 1) &&
                    live.executables == (through_executable ? 1 : 0),
                "nothing collects a cycle through a graph");

  holder = watched.lock();
  if (through_executable) {
    holder->executable.reset();
  } else {
    holder->graph->Nodes().front().Destroy();
    holder->graph.reset();
  }
  holder = nullptr;
  context.CheckEventually(
      [&] {
        Settle(context);
        return watched.expired();
      },
      "a cycle that the program breaks goes");
  context.Check(context.shim().live().graphs == 0 && context.shim().live().executables == 0, "and the graph with it");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckCycle(context, /*through_executable=*/false);
  CheckCycle(context, /*through_executable=*/true);
  context.Oracle("owners that hold what holds them");
}

const harness::Registration registration({
    .name = "DC.cycle-through-a-graph",
    .summary = "A cycle of references through a graph or an executable stays until the program breaks it",
    .covers = {"DC-11", "D-30"},
    .catches = {},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
