// A2: an executable stays valid after its source node is deleted and the source's owners are dropped.
//
// Intent: instantiate a graph with one host node; destroy the node; later destroy the graph. The executable must still
// run the callback with its data, and the owner must die with the executable.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <optional>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  OwnerProbe owner;
  int runs = 0;
  std::optional<GraphDefinition> graph(std::in_place);
  GraphNode node = graph->AddHostNode({[](void* data) { ++*static_cast<int*>(data); }, &runs, owner.Take(), nullptr});
  std::optional<GraphExec> executable(*graph);

  node.Destroy();
  Settle(context);
  context.Check(!node.IsValid() && node.Owners().empty(), "the destroyed node says so");
  context.Check(graph->attachment_count() == 0, "the definition lets go of a destroyed node's owner");
  CheckAlive(context, owner, "the executable needs it, its node is gone");
  node.Destroy();

  executable->Launch(session.stream());
  session.stream()->Synchronize();
  context.Check(runs == 1, "the executable runs the callback of the destroyed node");

  graph.reset();
  node = GraphNode();
  Settle(context);
  CheckAlive(context, owner, "the executable needs it, its graph is gone");
  executable->Launch(session.stream());
  session.stream()->Synchronize();
  context.Check(runs == 2, "the executable runs although its graph is gone");

  executable.reset();
  CheckReleasedLate(context, owner, "the executable is gone");
  context.Oracle("the owner's life against the executable's");
}

const harness::Registration registration({
    .name = "A2.executable-outlives-its-node",
    .summary = "An executable runs with its owners after the source node and the source graph are gone",
    .covers = {"A2", "DL-01", "DL-03", "DL-04", "EX-07", "BR-02"},
    .catches = {"one-table-for-the-whole-graph", "executable-trusts-the-definition"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
