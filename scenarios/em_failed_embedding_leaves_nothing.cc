// EM-05, D-18: an embedding that fails after the driver made the node takes the node away again; where the driver
// refuses even that, the node stays, known and usable.
//
// Intent: fail the driver's own addition, then, the node being there, the look-up of the embedded graph and of its
// nodes. Each time the graph is as before and the caller gets the first error. Then the driver refuses to destroy the
// node as well: the caller gets the first error still, the failure is reported, and the node is found and can be
// destroyed later. A source of the graph's own hierarchy and one that belongs to a node are refused, too. The owners of
// the source go exactly once.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with seven faults fired.
#include <array>
#include <optional>
#include <stdexcept>
#include <string>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/nested_graphs.h"
#include "scenarios/support/operation_state.h"
#include "scenarios/support/owner_probe.h"
#include "scenarios/support/refusals.h"

namespace holdfast::scenarios {
namespace {

void CUDA_CB Nothing(void*) {}

// A graph with one node and its owner.
struct Target {
  Target() { present[0] = graph.AddHostNode({&Nothing, nullptr, owner.Take(), nullptr}); }

  OwnerProbe owner;
  GraphDefinition graph;
  std::array<GraphNode, 1> present;
};

// Embeds while the plan's rules for `step` are in force; whether `call` was what the caller was told.
bool FailsAt(const harness::Context& context, Target& target, const GraphDefinition& source, const std::string& step,
             const std::string& call) {
  context.shim().announce_step(step.c_str());
  const bool fails =
      IsRefusedByDriver(call, CUDA_ERROR_UNKNOWN, [&] { target.graph.AddChildGraphNode(source, target.present); });
  context.shim().announce_step("between");
  return fails;
}

void CheckUndone(harness::Context& context, Target& target, const GraphDefinition& source, const std::string& step,
                 const std::string& call) {
  const std::uint64_t faults_before = context.shim().faults(call.c_str());
  const std::uint64_t objects_before = context.shim().live().user_objects;
  const OperationState before = OperationState::Of(context, target.graph, target.present);
  const bool fails = FailsAt(context, target, source, step, call);
  context.RequireFaults(call.c_str(), faults_before + 1);
  Settle(context);
  context.Check(fails, "an embedding that fails says which call did: " + call + ", " + step);
  CheckUnchanged(context, before, OperationState::Of(context, target.graph, target.present), step);
  context.Check(context.shim().live().user_objects == objects_before, "no reference is left: " + step);
}

// The driver refuses to destroy the node again.
void CheckRefusedRollback(harness::Context& context, Target& target, const GraphDefinition& source) {
  const std::uint64_t failures_before = driver::CleanupFailureCount();
  const bool fails = FailsAt(context, target, source, "no-way-back", "cuGraphChildGraphNodeGetGraph");
  context.RequireFaults("cuGraphDestroyNode");
  context.Check(fails, "the caller is told the first error, not that of the rollback");
  context.Check(driver::CleanupFailureCount() == failures_before + 1, "the refused rollback is reported");
  GraphNode left = NodeOfType(target.graph, CU_GRAPH_NODE_TYPE_GRAPH);
  context.Check(left.ChildGraph().Nodes().size() == 2, "the node that stayed is known, with its graph");
  left.Destroy();
  context.Check(target.graph.Nodes().size() == 1, "the node that stayed can be destroyed later");
}

void CheckRefusedSources(harness::Context& context, Target& target, const GraphDefinition& source) {
  GraphDefinition child = target.graph.AddChildGraphNode(source).ChildGraph();
  const OperationState before = OperationState::Of(context, target.graph, target.present);
  context.Check(Throws<std::invalid_argument>([&] { target.graph.AddChildGraphNode(target.graph); }),
                "a graph is not embedded in itself");
  context.Check(Throws<std::invalid_argument>([&] { child.AddChildGraphNode(target.graph); }),
                "a graph is not embedded in a graph below it");
  context.Check(Throws<std::invalid_argument>([&] { target.graph.AddChildGraphNode(child); }),
                "a graph is not embedded in the graph above it");
  GraphDefinition other;
  context.Check(
      IsRefusedByDriver("cuGraphAddChildGraphNode", CUDA_ERROR_NOT_SUPPORTED, [&] { other.AddChildGraphNode(child); }),
      "that a graph belongs to a node is the driver's to refuse");
  CheckUnchanged(context, before, OperationState::Of(context, target.graph, target.present), "sources were refused");
  NodeOfType(target.graph, CU_GRAPH_NODE_TYPE_GRAPH).Destroy();
  context.Check(Throws<std::logic_error>([&] { target.graph.AddChildGraphNode(child); }),
                "a graph that is gone is no source");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  NestedGraphs nested;
  std::optional<Target> target(std::in_place);
  CheckUndone(context, *target, *nested.definition, "no-node", "cuGraphAddChildGraphNode");
  CheckUndone(context, *target, *nested.definition, "no-graph", "cuGraphChildGraphNodeGetGraph");
  CheckUndone(context, *target, *nested.definition, "no-first-node", "cuGraphNodeFindInClone");
  CheckUndone(context, *target, *nested.definition, "no-inner-graph", "cuGraphChildGraphNodeGetGraph");
  CheckUndone(context, *target, *nested.definition, "no-inner-node", "cuGraphNodeFindInClone");
  CheckRefusedRollback(context, *target, *nested.definition);
  CheckRefusedSources(context, *target, *nested.definition);
  Settle(context);
  CheckAllAlive(context, nested, "the source has it");
  CheckAlive(context, target->owner, "its node was not touched");
  nested.definition.reset();
  CheckAllReleasedLate(context, nested, "the source is gone and no embedding left a reference");
  context.Oracle("the graph after each failed embedding");
}

const harness::Registration registration({
    .name = "EM.failed-embedding-leaves-nothing",
    .summary = "An embedding that fails leaves the graph as it was, or, if the driver insists, a node that is known",
    .covers = {"EM-05", "EM-08", "D-18"},
    .catches = {"embedding-not-undone"},
    .plan = {"cuGraphAddChildGraphNode:nth=1,step=no-node,count=step,return=CUDA_ERROR_UNKNOWN",
             "cuGraphChildGraphNodeGetGraph:nth=1,step=no-graph,count=step,return=CUDA_ERROR_UNKNOWN",
             "cuGraphNodeFindInClone:nth=1,step=no-first-node,count=step,return=CUDA_ERROR_UNKNOWN",
             "cuGraphChildGraphNodeGetGraph:nth=2,step=no-inner-graph,count=step,return=CUDA_ERROR_UNKNOWN",
             "cuGraphNodeFindInClone:nth=4,step=no-inner-node,count=step,return=CUDA_ERROR_UNKNOWN",
             "cuGraphChildGraphNodeGetGraph:nth=1,step=no-way-back,count=step,return=CUDA_ERROR_UNKNOWN",
             "cuGraphDestroyNode:nth=1,step=no-way-back,count=step,return=CUDA_ERROR_NOT_SUPPORTED"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
