// Sweep of GraphDefinition::AddHostNode: whichever of its driver calls or allocations fails, the graph is as it was.
//
// Method: a graph with one node and its owner. The operation adds a second node, with an owner and an edge. If it
// threw, the graph, the index and the first node's owner are as before and the new owner is released exactly once; if
// not, the node, its edge and its owner are there, whatever faults it met. Then the same addition without a fault
// succeeds, and in the end everything is released, but for what a failed release kept.
//
// Expected verdict: passed, with and without a fault.
#include <array>
#include <exception>
#include <optional>
#include <string>

#include "harness/scenario/context.h"
#include "harness/scenario/operation_window.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/operation_state.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

void CUDA_CB Nothing(void*) {}

// What the one operation came to; an empty node and a reason if it threw.
struct Outcome {
  GraphNode node;
  std::string failure;
};

Outcome AddInWindow(const harness::Context& context, GraphDefinition& graph, const HostCallback& callback,
                    const std::array<GraphNode, 1>& dependencies) {
  Outcome outcome;
  try {
    const harness::OperationWindow window(context);
    outcome.node = graph.AddHostNode(callback, dependencies);
  } catch (const std::exception& error) {
    outcome.failure = error.what();
  }
  return outcome;
}

// An owner whose attachment a failed release kept is never released; there is one attachment an owner here.
void CheckAllReleased(harness::Context& context, std::initializer_list<const OwnerProbe*> owners) {
  std::uint64_t unreleased = 0;
  for (const OwnerProbe* owner : owners) {
    context.Check(owner->releases() <= 1, "an owner is released at most once");
    unreleased += owner->IsAlive() ? 1 : 0;
  }
  context.Check(unreleased == context.ObjectsKeptByFaults(),
                "every owner is released in the end, but for what a failed release kept (" +
                    std::to_string(unreleased) + " are not)");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  std::optional<GraphDefinition> graph(std::in_place);
  OwnerProbe first, second, third;
  std::array<GraphNode, 1> present = {graph->AddHostNode({&Nothing, &first, first.Take(), nullptr})};
  const OperationState before = OperationState::Of(context, *graph, present);

  HostCallback callback{&Nothing, &second, second.Take(), nullptr};
  Outcome outcome = AddInWindow(context, *graph, callback, present);
  callback.function_owner = nullptr;
  Settle(context);

  CheckAlive(context, first, "its node is there, whatever became of the second");
  if (outcome.node.IsValid()) {
    CheckAlive(context, second, "its node was added");
    context.Check(outcome.node.Owners().size() == 1 && graph->attachment_count() == 2, "the added node has its owner");
  } else {
    CheckUnchanged(context, before, OperationState::Of(context, *graph, present), outcome.failure);
    context.Check(second.releases() == 1 || context.ObjectsKeptByFaults() == 1,
                  "the owner of an addition that failed is released, unless a fault failed the release");
    present[0] = graph->AddHostNode({&Nothing, &third, third.Take(), nullptr}, present);
    Settle(context);
    CheckAlive(context, third, "the addition succeeds once nothing fails");
  }
  third.Take();

  outcome = {};
  present = {};
  graph.reset();
  Settle(context);
  CheckAllReleased(context, {&first, &second, &third});
  context.Oracle("the graph and its owners after the operation");
}

const harness::Registration registration({
    .name = "sweep.add-host-node",
    .summary = "GraphDefinition::AddHostNode leaves all as it was, or does all that it says, wherever it fails",
    .covers = {"A5", "AP-06", "AP-07", "AP-09"},
    .catches = {"rollback-forgotten", "creation-failure-leaks-the-owners"},
    .suites = {"sweep"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
