// D-18, AP-14: what still fails after the driver has changed the graph does not undo the operation, and is not told as
// if nothing had happened.
//
// Intent, row by row: an update whose old reference the driver refuses to give up, with and without having done it; a
// deletion with the same; each addition without memory at each of its allocations, those after the driver's agreement
// included, of nodes that own graphs and of those that do not. An operation throws and has done nothing, or it does not
// throw and has done all; what could not be given up is reported and stays with the graph, at the longest until that is
// destroyed; nothing is released twice.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with four faults fired at releases, and others at allocations.
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/failing_allocations.h"
#include "scenarios/support/nested_graphs.h"
#include "scenarios/support/operation_state.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

constexpr const char* kRelease = "cuGraphReleaseUserObject";

// One operation during which the plan's rule for `step` fails one release.
void DoWithFailedRelease(harness::Context& context, const std::string& step, const std::function<void()>& operation) {
  const std::uint64_t faults_before = context.shim().faults(kRelease);
  const std::uint64_t failures_before = driver::CleanupFailureCount();
  context.shim().announce_step(step.c_str());
  operation();
  context.shim().announce_step("between");
  context.RequireFaults(kRelease, faults_before + 1);
  context.Check(driver::CleanupFailureCount() == failures_before + 1, "a release that failed is reported: " + step);
  Settle(context);
}

// `given_up` says whether the driver did what it reported as failed.
void CheckUpdate(harness::Context& context, const std::string& step, bool given_up) {
  OwnerProbe old_owner, new_owner;
  int old_runs = 0, new_runs = 0;
  std::optional<GraphDefinition> graph(std::in_place);
  GraphNode node = graph->AddHostNode(CountingCallback(old_runs, old_owner.Take()));
  DoWithFailedRelease(context, step, [&] { node.UpdateHost(CountingCallback(new_runs, new_owner.Take())); });
  context.Check(node.Owners().size() == 1 && graph->attachment_count() == 1, "the update is done: " + step);
  context.Check(old_owner.IsAlive() == !given_up, "an owner goes when the driver gives it up: " + step);
  CheckAlive(context, new_owner, "it is the node's present owner: " + step);
  node.Destroy();
  Settle(context);
  CheckReleasedOnce(context, new_owner, "its node is destroyed: " + step);
  context.Check(old_owner.IsAlive() == !given_up, "a failed release is not tried again: " + step);
  node = GraphNode();
  graph.reset();
  CheckReleasedLate(context, old_owner, "its graph is gone: " + step);
}

void CheckDeletion(harness::Context& context, const std::string& step, bool given_up) {
  OwnerProbe owner;
  int runs = 0;
  std::optional<GraphDefinition> graph(std::in_place);
  GraphNode node = graph->AddHostNode(CountingCallback(runs, owner.Take()));
  DoWithFailedRelease(context, step, [&] { node.Destroy(); });
  context.Check(!node.IsValid() && graph->Nodes().empty() && graph->attachment_count() == 0,
                "the deletion is done: " + step);
  context.Check(owner.IsAlive() == !given_up, "an owner goes when the driver gives it up: " + step);
  node.Destroy();
  node = GraphNode();
  graph.reset();
  CheckReleasedLate(context, owner, "its graph is gone: " + step);
}

// Adds a node with `add` to a graph that has one already, out of memory at each allocation.
void CheckAddition(harness::Context& context, const std::string& kind,
                   const std::function<GraphNode(GraphDefinition&, GraphDefinition::Dependencies)>& add) {
  OwnerProbe owner;
  int runs = 0;
  GraphDefinition graph;
  const std::array<GraphNode, 1> present = {graph.AddHostNode(CountingCallback(runs, owner.Take()))};
  Settle(context);
  const OperationState before = OperationState::Of(context, graph, present);
  const std::uint64_t objects_before = context.shim().live().user_objects;
  GraphNode added;
  const std::uint64_t failures = FailEachAllocation(
      context, [&] { added = add(graph, present); },
      [&](std::uint64_t granted) {
        Settle(context);
        const std::string why = kind + ", out of memory after " + std::to_string(granted);
        CheckUnchanged(context, before, OperationState::Of(context, graph, present), why);
        context.Check(context.shim().live().user_objects == objects_before, "no reference is left: " + why);
      });
  context.Check(failures > 0, "an addition needs memory: " + kind);
  context.Check(added.IsValid() && graph.Nodes().size() == 2 && added.Predecessors().front() == present.front(),
                "an addition with enough memory is whole: " + kind);
  CheckAlive(context, owner, "its node was not touched: " + kind);
  context.Count("failed_allocations_of_" + kind, failures);
}

void CheckAdditions(harness::Context& context) {
  NestedGraphs nested;
  OwnerProbe owner;
  int runs = 0;
  const HostCallback callback = CountingCallback(runs, owner.Take());
  using Dependencies = GraphDefinition::Dependencies;
  CheckAddition(context, "empty",
                [](GraphDefinition& graph, Dependencies dependencies) { return graph.AddEmptyNode(dependencies); });
  CheckAddition(context, "host", [&](GraphDefinition& graph, Dependencies dependencies) {
    return graph.AddHostNode(callback, dependencies);
  });
  CheckAddition(context, "child", [&](GraphDefinition& graph, Dependencies dependencies) {
    return graph.AddChildGraphNode(*nested.definition, dependencies);
  });
  // One for all attempts: a condition stays with its graph, used or not.
  std::optional<Condition> condition;
  CheckAddition(context, "conditional", [&](GraphDefinition& graph, Dependencies dependencies) {
    if (!condition) {
      condition = graph.MakeCondition();
    }
    return graph.AddIfElseNode(*condition, dependencies);
  });
  condition.reset();
  CheckAllAlive(context, nested, "the source has it");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckUpdate(context, "update-refused", false);
  CheckUpdate(context, "update-done", true);
  CheckDeletion(context, "deletion-refused", false);
  CheckDeletion(context, "deletion-done", true);
  CheckAdditions(context);
  context.Oracle("graph, index and owners after each late failure");
}

const harness::Registration registration({
    .name = "HZ.failures-after-the-driver-agreed",
    .summary = "What fails after the driver changed the graph leaves the operation whole, or undoes it whole",
    .covers = {"D-18", "AP-13", "AP-14", "AP-09", "DL-01"},
    .catches = {},
    .plan = {"cuGraphReleaseUserObject:nth=1,step=update-refused,count=step,return=CUDA_ERROR_UNKNOWN",
             "cuGraphReleaseUserObject:nth=1,step=update-done,count=step,return=CUDA_ERROR_UNKNOWN,after=true",
             "cuGraphReleaseUserObject:nth=1,step=deletion-refused,count=step,return=CUDA_ERROR_UNKNOWN",
             "cuGraphReleaseUserObject:nth=1,step=deletion-done,count=step,return=CUDA_ERROR_UNKNOWN,after=true"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
