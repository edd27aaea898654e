// IH-01 to IH-03: a live graph has one record, found again by any route.
//
// Intent: look a root up by its raw handle, before and after it was adopted; look a child graph up through its node and
// by its raw handle, also after all handles to it were dropped, and also one that was embedded behind the library's
// back. Each time it must be the same graph with the same metadata, and a handle that means nothing must find nothing.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <optional>
#include <stdexcept>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/nested_graphs.h"
#include "scenarios/support/owner_probe.h"
#include "scenarios/support/refusals.h"

namespace holdfast::scenarios {
namespace {

using driver::Check;
using driver::GetDriver;

void CUDA_CB Nothing(void*) {}

CUgraph MakeRawGraph() {
  CUgraph raw = nullptr;
  Check("cuGraphCreate", GetDriver().cuGraphCreate(&raw, 0u), "making a graph by other means");
  return raw;
}

void CheckAdoptedRoot(harness::Context& context) {
  const CUgraph raw = MakeRawGraph();
  context.Check(!GraphDefinition::Find(raw), "a graph that was made by other means is not known");
  const std::uint64_t before = context.shim().live().graphs;
  {
    const GraphDefinition adopted = GraphDefinition::Adopt(raw);
    context.Check(adopted.raw() == raw && GraphDefinition::Find(raw) == adopted, "an adopted graph is found");
    context.Check(Throws<std::invalid_argument>([&] { GraphDefinition::Adopt(raw); }), "a graph is adopted once");
  }
  context.Check(context.shim().live().graphs == before - 1, "an adopted graph is destroyed with its last handle");
  context.Check(!GraphDefinition::Find(raw), "a graph that is gone is not found");
  context.Check(Throws<std::invalid_argument>([] { GraphDefinition::Adopt(nullptr); }), "null is not adopted");
  context.Check(!GraphDefinition::Find(nullptr), "null finds no graph");
}

void CheckChildOfTheLibrary(harness::Context& context) {
  OwnerProbe owner;
  GraphDefinition root;
  GraphNode owning_node;
  {
    GraphDefinition source;
    source.AddHostNode({&Nothing, nullptr, owner.Take(), nullptr});
    owning_node = root.AddChildGraphNode(source);
  }
  {
    const GraphDefinition child = owning_node.ChildGraph();
    context.Check(child == owning_node.ChildGraph() && GraphDefinition::Find(child.raw()) == child,
                  "a child graph is the same through its node and by its raw handle");
    context.Check(!(child == root), "a child graph is not its parent");
  }
  // Nobody has a handle of the child or of its node now.
  const GraphDefinition again = owning_node.ChildGraph();
  GraphNode inner = NodeOfType(again, CU_GRAPH_NODE_TYPE_HOST);
  context.Check(again.attachment_count() == 1 && inner.Owners().size() == 1,
                "a child graph that is found again has the metadata that it had");
  inner.Destroy();
  CheckReleasedLate(context, owner, "its node in the child graph that was found again is destroyed");
  context.Check(Throws<std::logic_error>([&] { root.AddEmptyNode().ChildGraph(); }),
                "a node of another kind has no child graph");
}

void CheckChildOfOthers(harness::Context& context) {
  const CUgraph raw = MakeRawGraph();
  GraphDefinition source;
  source.AddEmptyNode();
  CUgraphNode raw_node = nullptr;
  Check("cuGraphAddChildGraphNode", GetDriver().cuGraphAddChildGraphNode(&raw_node, raw, nullptr, 0, source.raw()),
        "embedding by other means");
  std::optional<GraphDefinition> root = GraphDefinition::Adopt(raw);
  GraphNode owning_node = NodeOfType(*root, CU_GRAPH_NODE_TYPE_GRAPH);
  const GraphDefinition child = owning_node.ChildGraph();
  context.Check(owning_node.raw() == raw_node && child == owning_node.ChildGraph(),
                "a child graph that the library did not embed has one record, too");
  context.Check(GraphDefinition::Find(child.raw()) == child && child.Nodes().size() == 1,
                "a child graph that the library did not embed is found by its raw handle");
  root.reset();
  owning_node = GraphNode();
  context.Check(GraphDefinition::Find(raw).has_value(), "it belongs to its parent's hierarchy and keeps that alive");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckAdoptedRoot(context);
  CheckChildOfTheLibrary(context);
  CheckChildOfOthers(context);
  context.Check(context.shim().live().graphs == 0, "no root is left");
  context.Oracle("what is found by each route");
}

const harness::Registration registration({
    .name = "IH.views-find-the-same-graph",
    .summary = "A live graph has one record with its metadata, whichever way it is found",
    .covers = {"IH-01", "IH-02", "IH-03"},
    .catches = {"child-handle-keeps-the-child-alone"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
