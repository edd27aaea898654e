// CL-04, CL-05: a clone that fails anywhere leaves nothing: no graph, no metadata, no reference.
//
// Intent: the driver refuses the clone itself, then, the clone being made, the look-up of a node, of a child-graph node
// and of a child graph. Each time the half-made clone is destroyed again and its references with it: the source's
// owners have the source alone, as one sees when that goes. A graph that is gone cannot be cloned. Once nothing fails
// the clone is complete.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with four faults fired.
#include <optional>
#include <stdexcept>
#include <string>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/nested_graphs.h"
#include "scenarios/support/operation_state.h"
#include "scenarios/support/owner_probe.h"
#include "scenarios/support/refusals.h"

namespace holdfast::scenarios {
namespace {

void CheckFailedClone(harness::Context& context, const GraphDefinition& source, const std::string& step,
                      const std::string& call) {
  const OperationState before = OperationState::Of(context, source, {});
  const std::uint64_t graphs_before = context.shim().live().graphs;
  const std::uint64_t faults_before = context.shim().faults(call.c_str());
  context.shim().announce_step(step.c_str());
  const bool refused = IsRefusedByDriver(call, CUDA_ERROR_UNKNOWN, [&] { source.Clone(); });
  context.shim().announce_step("between");
  context.RequireFaults(call.c_str(), faults_before + 1);
  Settle(context);
  context.Check(refused, "a clone that fails says which call did: " + call + ", " + step);
  context.Check(context.shim().live().graphs == graphs_before, "no half-made clone is left: " + call + ", " + step);
  CheckUnchanged(context, before, OperationState::Of(context, source, {}), "its clone failed at " + call);
}

void CheckDeadSource(harness::Context& context, const GraphDefinition& source) {
  const GraphDefinition child = GraphInside(source, 1);
  NodeOfType(source, CU_GRAPH_NODE_TYPE_GRAPH).Destroy();
  const std::uint64_t calls_before = context.shim().calls("cuGraphClone");
  context.Check(Throws<std::logic_error>([&] { child.Clone(); }), "a graph that is gone cannot be cloned");
  context.Check(context.shim().calls("cuGraphClone") == calls_before, "the driver is not asked to clone what is gone");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  NestedGraphs nested;
  CheckFailedClone(context, *nested.definition, "no-clone", "cuGraphClone");
  CheckFailedClone(context, *nested.definition, "no-first-node", "cuGraphNodeFindInClone");
  CheckFailedClone(context, *nested.definition, "no-child-node", "cuGraphNodeFindInClone");
  CheckFailedClone(context, *nested.definition, "no-inner-child", "cuGraphChildGraphNodeGetGraph");
  CheckAllAlive(context, nested, "the source has it");

  std::optional<GraphDefinition> clone = nested.definition->Clone();
  CheckDeadSource(context, *nested.definition);
  nested.definition.reset();
  Settle(context);
  CheckAllAlive(context, nested, "the clone that did not fail has it");
  context.Check(GraphInside(*clone, 2).attachment_count() == 1, "the clone that did not fail is complete");
  clone.reset();
  CheckAllReleasedLate(context, nested, "source and clone are gone, and the clones that failed left no reference");
  context.Oracle("source and owners after each failed clone");
}

const harness::Registration registration({
    .name = "CL.failed-clone-leaves-nothing",
    .summary = "A clone that fails before or after the driver made it leaves no graph, no metadata and no reference",
    .covers = {"CL-04", "CL-05"},
    .catches = {"root-owned-at-the-end"},
    .plan = {"cuGraphClone:nth=1,step=no-clone,count=step,return=CUDA_ERROR_UNKNOWN",
             "cuGraphNodeFindInClone:nth=1,step=no-first-node,count=step,return=CUDA_ERROR_UNKNOWN",
             "cuGraphNodeFindInClone:nth=2,step=no-child-node,count=step,return=CUDA_ERROR_UNKNOWN",
             "cuGraphChildGraphNodeGetGraph:nth=2,step=no-inner-child,count=step,return=CUDA_ERROR_UNKNOWN"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
