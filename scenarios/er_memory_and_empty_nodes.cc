// ER-02, ER-03, ER-05: what the driver says to odd allocations, and to nodes that do nothing, is what the caller gets.
//
// Intent: an allocation of no bytes and the free of a null address are refused by the driver, and the graph is as
// before. An allocation that nothing frees is allowed, in a definition and in an executable. A graph of empty nodes,
// one of them joining a single predecessor, runs.
//
// Interleaving: one thread.
//
// Expected verdict: passed.
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/refusals.h"

namespace holdfast::scenarios {
namespace {

void CheckRefusedMemoryNodes(harness::Context& context) {
  GraphDefinition graph;
  context.Check(
      IsRefusedByDriver("cuGraphAddMemAllocNode", CUDA_ERROR_INVALID_VALUE, [&] { graph.AddMemoryAllocationNode(0); }),
      "an allocation of no bytes is refused by the driver");
  context.Check(
      IsRefusedByDriver("cuGraphAddMemFreeNode", CUDA_ERROR_INVALID_VALUE, [&] { graph.AddMemoryFreeNode(0); }),
      "the free of a null address is refused by the driver");
  context.Check(graph.Nodes().empty(), "refused nodes are not added");
}

void CheckUnmatchedAllocation(harness::Context& context) {
  constexpr std::size_t kSizeBytes = 4096;
  GraphDefinition graph;
  const GraphNode allocation = graph.AddMemoryAllocationNode(kSizeBytes);
  context.Check(allocation.IsValid() && allocation.AllocatedAddress() != 0 && allocation.Owners().empty(),
                "an allocation that nothing frees is allowed, and has an address");
  const GraphExec executable(graph);
  context.Check(executable.raw() != nullptr, "it can be instantiated");
}

void CheckEmptyNodes(harness::Context& context, const DeviceSession& session) {
  GraphDefinition graph;
  const GraphNode first = graph.AddEmptyNode();
  const GraphNode join = graph.AddEmptyNode({{first}});
  context.Check(first.type() == CU_GRAPH_NODE_TYPE_EMPTY && join.Predecessors() == std::vector<GraphNode>{first},
                "a node that joins a single predecessor is allowed");
  const GraphExec executable(graph);
  executable.Launch(session.stream());
  session.stream()->Synchronize();
  context.Check(graph.Nodes().size() == 2 && graph.attachment_count() == 0, "empty nodes keep nothing");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckRefusedMemoryNodes(context);
  CheckUnmatchedAllocation(context);
  CheckEmptyNodes(context, session);
  SettleIdle(context);
  context.Oracle("what the driver allows and refuses");
}

const harness::Registration registration({
    .name = "ER.memory-and-empty-nodes",
    .summary =
        "Allocations of nothing and frees of null are refused; unmatched allocations and empty nodes are allowed",
    .covers = {"ER-02", "ER-03", "ER-05"},
    .catches = {},
    .variants = harness::SingleVariant(),
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
