// CU-01 to CU-03, CU-09, RP-01: a child update that cannot be, is refused, or runs out of memory changes nothing.
//
// Intent: update a child-graph node from its own graph, from graphs below and beside it, from its parent, from a graph
// that is gone; update a node of another kind and one that is gone: each is refused before the driver is asked. Then
// the driver refuses, and then each allocation fails in turn. Each time graph, owners and all handles are as before.
// In the end the update succeeds.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with faults fired at the driver's call and at allocations.
#include <array>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/failing_allocations.h"
#include "scenarios/support/nested_graphs.h"
#include "scenarios/support/operation_state.h"
#include "scenarios/support/refusals.h"

namespace holdfast::scenarios {
namespace {

// A root whose child-graph node owns the three levels of `nested`, and handles of all.
struct Scene {
  Scene() {
    node = root.AddChildGraphNode(*nested.definition);
    other = root.AddChildGraphNode(*nested.definition);
    nested.definition.reset();
    for (int level = 0; level < NestedGraphs::kLevels; ++level) {
      handles.at(level) = NodeOfType(GraphInside(node.ChildGraph(), level), CU_GRAPH_NODE_TYPE_HOST);
    }
  }

  NestedGraphs nested;
  GraphDefinition root;
  GraphNode node, other;
  std::array<GraphNode, NestedGraphs::kLevels> handles;
};

class Oracle {
 public:
  Oracle(harness::Context& context, const Scene& scene)
      : context_(context), scene_(scene), before_(OperationState::Of(context, scene.root, scene.handles)) {}

  void CheckUnchanged(const std::string& why) const {
    Settle(context_);
    scenarios::CheckUnchanged(context_, before_, OperationState::Of(context_, scene_.root, scene_.handles), why);
    CheckAllAlive(context_, scene_.nested, why);
  }

  // Refused without asking the driver.
  template <typename Error>
  void CheckMisuse(const std::string& what, const std::function<void()>& operation) const {
    const std::uint64_t calls_before = context_.shim().calls("cuGraphNodeSetParams");
    context_.Check(Throws<Error>(operation), "refused as documented: " + what);
    context_.Check(context_.shim().calls("cuGraphNodeSetParams") == calls_before, "the driver is not asked: " + what);
    CheckUnchanged(what);
  }

 private:
  harness::Context& context_;
  const Scene& scene_;
  const OperationState before_;
};

void CheckMisuses(const Oracle& oracle, Scene& scene, const GraphDefinition& source) {
  oracle.CheckMisuse<std::invalid_argument>("its own graph",
                                            [&] { scene.node.UpdateChildGraph(scene.node.ChildGraph()); });
  oracle.CheckMisuse<std::invalid_argument>(
      "a graph below its own", [&] { scene.node.UpdateChildGraph(GraphInside(scene.node.ChildGraph(), 1)); });
  oracle.CheckMisuse<std::invalid_argument>("a graph beside its own",
                                            [&] { scene.node.UpdateChildGraph(scene.other.ChildGraph()); });
  oracle.CheckMisuse<std::invalid_argument>("its parent", [&] { scene.node.UpdateChildGraph(scene.root); });

  GraphNode host = scene.handles.front();
  oracle.CheckMisuse<std::logic_error>("a node of another kind", [&] { host.UpdateChildGraph(source); });
  GraphNode never;
  oracle.CheckMisuse<std::logic_error>("a handle of no node", [&] { never.UpdateChildGraph(source); });

  GraphDefinition elsewhere;
  GraphNode gone = elsewhere.AddChildGraphNode(source);
  const GraphDefinition gone_graph = gone.ChildGraph();
  gone.Destroy();
  oracle.CheckMisuse<std::logic_error>("a node that is gone", [&] { gone.UpdateChildGraph(source); });
  oracle.CheckMisuse<std::logic_error>("a source that is gone", [&] { scene.node.UpdateChildGraph(gone_graph); });
}

void CheckFailedAllocations(harness::Context& context, const Oracle& oracle, Scene& scene,
                            const GraphDefinition& source) {
  const std::uint64_t failures = FailEachAllocation(
      context, [&] { scene.node.UpdateChildGraph(source); },
      [&](std::uint64_t granted) { oracle.CheckUnchanged("out of memory after " + std::to_string(granted)); });
  context.RequireFaults("alloc", 3);
  context.Count("failed_allocations", failures);
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  std::optional<Scene> scene(std::in_place);
  std::optional<Oracle> oracle(std::in_place, context, *scene);
  NestedGraphs next;
  CheckMisuses(*oracle, *scene, *next.definition);

  const bool refused = IsRefusedByDriver("cuGraphNodeSetParams", CUDA_ERROR_OUT_OF_MEMORY,
                                         [&] { scene->node.UpdateChildGraph(*next.definition); });
  context.RequireFaults("cuGraphNodeSetParams");
  context.Check(refused, "a refused update throws what the driver answered");
  oracle->CheckUnchanged("the driver refused the update");

  CheckFailedAllocations(context, *oracle, *scene, *next.definition);
  context.Check(!scene->handles.front().IsValid(), "the update succeeds once nothing fails");
  next.definition.reset();
  Settle(context);
  CheckAllAlive(context, next, "the updated node needs it");
  CheckAllAlive(context, scene->nested, "the other node needs it");
  scene->other.Destroy();
  CheckAllReleasedLate(context, scene->nested, "one node is updated, the other destroyed");
  scene->root = GraphDefinition();
  scene->node = scene->other = GraphNode();
  scene->handles = {};
  CheckAllReleasedLate(context, next, "the graph is gone");
  context.Oracle("graph, owners and handles after each refusal");
}

const harness::Registration registration({
    .name = "CU.refused-child-update-changes-nothing",
    .summary =
        "A child update that is misuse, is refused or lacks memory leaves graph, owners and handles as they were",
    .covers = {"CU-01", "CU-02", "CU-03", "CU-09", "NU-G", "D-18"},
    .catches = {"tombstones-before-the-driver-agreed"},
    .plan = {"cuGraphNodeSetParams:nth=1,return=CUDA_ERROR_OUT_OF_MEMORY"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
