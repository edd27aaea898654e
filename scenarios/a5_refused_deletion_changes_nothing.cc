// A5: a failed node deletion leaves node and attachments valid.
//
// Intent: the driver refuses the first deletion. The node must still be valid, listed, owned, and run; the second
// deletion succeeds.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with one fault fired.
#include <optional>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

std::size_t NodeCount(const GraphDefinition& graph) {
  std::size_t count = 0;
  driver::Check("cuGraphGetNodes", driver::GetDriver().cuGraphGetNodes(graph.raw(), nullptr, &count), "counting nodes");
  return count;
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  OwnerProbe owner;
  int runs = 0;
  std::optional<GraphDefinition> graph(std::in_place);
  GraphNode node = graph->AddHostNode({[](void* data) { ++*static_cast<int*>(data); }, &runs, owner.Take(), nullptr});

  bool threw = false;
  try {
    node.Destroy();
  } catch (const driver::DriverError& error) {
    threw = error.result() == CUDA_ERROR_NOT_SUPPORTED && error.call() == "cuGraphDestroyNode";
  }
  context.RequireFaults("cuGraphDestroyNode");
  Settle(context);
  context.Check(threw, "a refused deletion throws what the driver answered");
  context.Check(node.IsValid() && node.Owners().size() == 1, "a refused deletion leaves the node and its owners");
  context.Check(NodeCount(*graph) == 1, "a refused deletion leaves the node in the graph");
  CheckAlive(context, owner, "the deletion was refused");
  std::optional<GraphExec> executable(*graph);
  executable->Launch(session.stream());
  session.stream()->Synchronize();
  context.Check(runs == 1, "the node that was not deleted runs");
  executable.reset();
  SettleIdle(context);

  node.Destroy();
  context.Check(!node.IsValid() && NodeCount(*graph) == 0, "the second deletion succeeds");
  CheckReleasedLate(context, owner, "node and executable are gone");
  node = GraphNode();
  graph.reset();
  context.Oracle("node and owner after a refused deletion");
}

const harness::Registration registration({
    .name = "A5.refused-deletion-changes-nothing",
    .summary = "After a refused deletion the node is valid, owned and runs",
    .covers = {"A5", "DL-01", "DL-02"},
    .catches = {"removal-before-the-driver-agreed"},
    .plan = {"cuGraphDestroyNode:nth=1,return=CUDA_ERROR_NOT_SUPPORTED"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
