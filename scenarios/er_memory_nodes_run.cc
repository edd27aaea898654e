// ER-03, beyond the reference: memory that a graph allocates and frees itself.
//
// Intent: a graph allocates, fills, copies out and frees, launch after launch. What allocates without freeing is freed
// by another graph, or by the caller, before the next launch. Such graphs let nothing be taken out of them: clones,
// deletions and updates of memory nodes are refused by the driver, and everything is as it was. The owners of the other
// nodes behave as ever.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/expected_errors.h"
#include "scenarios/support/operation_state.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

constexpr std::size_t kSizeBytes = 64;
using Bytes = std::vector<std::uint8_t>;

void LaunchOnce(const DeviceSession& session, const GraphExec& executable) {
  executable.Launch(session.stream());
  session.stream()->Synchronize();
}

// allocate -> fill -> copy to the host [-> free]
GraphNode AddChain(GraphDefinition& graph, Bytes& result, OwnerProbe& owner) {
  GraphNode allocation = graph.AddMemoryAllocationNode(kSizeBytes);
  const MemoryOperand allocated = MemoryOperand::Device(allocation.AllocatedAddress(), nullptr);
  const GraphNode fill = graph.AddMemsetNode(allocated, {.value = 0x5a, .width_elements = kSizeBytes}, {{allocation}});
  return graph.AddMemcpyNode(MemoryOperand::Host(result.data(), owner.Take()), allocated, kSizeBytes, {{fill}});
}

void CheckBytes(harness::Context& context, Bytes& result, const char* when) {
  context.Check(std::count(result.begin(), result.end(), 0x5a) == kSizeBytes, when);
  std::fill(result.begin(), result.end(), 0);
}

CUdeviceptr AddressIn(const GraphDefinition& graph) {
  const std::vector<GraphNode> nodes = graph.Nodes();
  return std::find_if(nodes.begin(), nodes.end(),
                      [](const GraphNode& node) { return node.type() == CU_GRAPH_NODE_TYPE_MEM_ALLOC; })
      ->AllocatedAddress();
}

void CheckFreedInTheGraph(harness::Context& context, const DeviceSession& session) {
  OwnerProbe owner;
  Bytes result(kSizeBytes);
  std::optional<GraphDefinition> graph(std::in_place);
  GraphNode copy = AddChain(*graph, result, owner);
  GraphNode free = graph->AddMemoryFreeNode(AddressIn(*graph), {{copy}});
  context.Check(free.FreedAddress() == AddressIn(*graph), "a free node tells what it frees");
  std::optional<GraphExec> executable(*graph);
  for (int launch = 0; launch < 3; ++launch) {
    LaunchOnce(session, *executable);
    CheckBytes(context, result, "each launch allocates, uses and frees");
  }
  copy = GraphNode();
  free = GraphNode();
  graph.reset();
  SettleIdle(context);
  CheckAlive(context, owner, "the executable has it");
  executable.reset();
  CheckReleasedLate(context, owner, "nothing needs it any more");
}

void CheckFreedElsewhere(harness::Context& context, const DeviceSession& session) {
  OwnerProbe owner;
  Bytes result(kSizeBytes);
  GraphDefinition graph, freeing;
  AddChain(graph, result, owner);
  freeing.AddMemoryFreeNode(AddressIn(graph));
  const GraphExec allocate(graph);
  const GraphExec free(freeing);
  LaunchOnce(session, allocate);
  CheckBytes(context, result, "what another graph frees is there until then");
  CheckRefused(context, "a launch that would allocate twice", [&] { LaunchOnce(session, allocate); });
  LaunchOnce(session, free);
  LaunchOnce(session, allocate);
  CheckBytes(context, result, "after the free it is allocated again");
  driver::Check("cuMemFree", driver::GetDriver().cuMemFree(AddressIn(graph)), "freeing what a graph allocated");
  LaunchOnce(session, allocate);
  CheckBytes(context, result, "so it is after the caller's free");
  LaunchOnce(session, free);
}

void CheckRefusals(harness::Context& context) {
  OwnerProbe owner;
  Bytes result(kSizeBytes);
  GraphDefinition graph;
  GraphNode copy = AddChain(graph, result, owner);
  GraphNode free = graph.AddMemoryFreeNode(AddressIn(graph), {{copy}});
  const GraphNode handles[] = {copy, free};
  const OperationState before = OperationState::Of(context, graph, handles);
  GraphDefinition parent;
  CheckRefused(context, "cloning a graph with memory nodes", [&] { (void)graph.Clone(); });
  CheckRefused(context, "embedding one", [&] { parent.AddChildGraphNode(graph); });
  CheckRefused(context, "destroying a memory node", [&] { free.Destroy(); });
  CheckRefused(context, "destroying another node of the graph", [&] { copy.Destroy(); });
  CheckRefused(context, "freeing the same memory twice", [&] { graph.AddMemoryFreeNode(AddressIn(graph), {{free}}); });
  CheckRefused(context, "taking an edge out", [&] { graph.RemoveEdge(copy, free); });
  Settle(context);
  CheckAlive(context, owner, "nothing was taken out of the graph");
  CheckUnchanged(context, before, OperationState::Of(context, graph, handles), "everything was refused");
  context.Check(parent.Nodes().empty(), "nothing was embedded");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckFreedInTheGraph(context, session);
  CheckFreedElsewhere(context, session);
  CheckRefusals(context);
  context.Oracle("memory of graphs that allocate, and what such graphs refuse");
}

const harness::Registration registration({
    .name = "ER.memory-nodes-run",
    .summary = "Graphs that allocate and free memory run again and again, and refuse what the driver cannot undo",
    .covers = {"ER-03", "DL-02"},
    .catches = {},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
