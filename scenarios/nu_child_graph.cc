// NU-G: an update of a child-graph node puts a copy of another graph in its place.
//
// Intent: replace an embedded graph, twice. The old copy is gone with its owners, the new one has those of its source,
// which can go; the node stays, at its place. Executables from before run what they ran. A source from the node's own
// hierarchy (the old child, the parent) and one that is gone are refused before anything has changed; a refusal of the
// driver leaves all as it was. A node of another kind refuses.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with one fault fired.
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/expected_errors.h"
#include "scenarios/support/operation_state.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

struct Callback {
  OwnerProbe owner;
  int runs = 0;

  HostCallback Take() { return CountingCallback(runs, owner.Take()); }
};

GraphDefinition SourceOf(Callback& callback) {
  GraphDefinition source;
  source.AddHostNode(callback.Take());
  return source;
}

void LaunchOnce(const DeviceSession& session, const GraphExec& executable) {
  executable.Launch(session.stream());
  session.stream()->Synchronize();
}

void CheckReplacement(harness::Context& context, const DeviceSession& session) {
  Callback around, first, second, third;
  std::optional<GraphDefinition> graph(std::in_place);
  GraphNode before = graph->AddHostNode(around.Take());
  GraphNode node = graph->AddChildGraphNode(SourceOf(first), {{before}});
  std::optional<GraphExec> executable(*graph);
  std::optional<GraphDefinition> old_child(node.ChildGraph());
  GraphNode old_node = old_child->Nodes().front();

  node.UpdateChildGraph(SourceOf(second));
  context.Check(!old_child->IsValid() && !old_node.IsValid(), "handles to the old copy say that it is gone");
  context.Check(node.IsValid() && node.Predecessors() == std::vector<GraphNode>{before}, "the node stays at its place");
  context.Check(!(node.ChildGraph() == *old_child) && node.ChildGraph().Nodes().front().Owners().size() == 1,
                "the new copy is found, with its owners by node");
  Settle(context);
  CheckAlive(context, first.owner, "an executable from before has it");
  CheckAlive(context, second.owner, "the new copy has it, though its source is gone");
  LaunchOnce(session, *executable);
  context.Check(first.runs == 1 && second.runs == 0, "an executable from before runs the old child");
  executable.emplace(*graph);
  CheckReleasedLate(context, first.owner, "copy and executable are gone");
  LaunchOnce(session, *executable);
  context.Check(first.runs == 1 && second.runs == 1 && around.runs == 2, "a new one runs the new child");
  executable.reset();
  SettleIdle(context);

  node.UpdateChildGraph(SourceOf(third));
  CheckReleasedLate(context, second.owner, "the child was replaced again");
  node.Destroy();
  CheckReleasedLate(context, third.owner, "the node is destroyed");
  CheckAlive(context, around.owner, "its node is beside");
  // Handles to what is gone keep the hierarchy as well.
  old_child.reset();
  old_node = before = node = GraphNode();
  graph.reset();
  CheckReleasedLate(context, around.owner, "the graph is gone");
}

void CheckRefusals(harness::Context& context) {
  Callback kept, refused;
  int runs = 0;
  GraphDefinition graph;
  GraphNode node = graph.AddChildGraphNode(SourceOf(kept));
  GraphNode other = graph.AddHostNode(CountingCallback(runs));
  const GraphNode handles[] = {node, node.ChildGraph().Nodes().front(), other};
  const OperationState before = OperationState::Of(context, graph, handles);
  GraphDefinition parent;
  GraphNode owning = parent.AddChildGraphNode(GraphDefinition());
  const GraphDefinition gone = owning.ChildGraph();
  owning.Destroy();
  const std::uint64_t calls_before = context.shim().calls("cuGraphNodeSetParams");
  CheckMisuse<std::invalid_argument>(context, "the old child as its own replacement", "child",
                                     [&] { node.UpdateChildGraph(node.ChildGraph()); });
  CheckMisuse<std::invalid_argument>(context, "the parent as replacement", "child",
                                     [&] { node.UpdateChildGraph(graph); });
  CheckMisuse(context, "a replacement that is gone", "UpdateChildGraph", [&] { node.UpdateChildGraph(gone); });
  CheckMisuse(context, "updating another kind", "UpdateChildGraph", [&] { other.UpdateChildGraph(parent); });
  context.Check(context.shim().calls("cuGraphNodeSetParams") == calls_before, "the driver was not asked");

  {
    const GraphDefinition source = SourceOf(refused);
    context.shim().announce_step("refused");
    CheckRefused(context, "an update that the driver refuses", [&] { node.UpdateChildGraph(source); });
    context.shim().announce_step("after");
    context.RequireFaults("cuGraphNodeSetParams");
  }
  Settle(context);
  CheckReleasedOnce(context, refused.owner, "its source is gone, and nothing else had it");
  CheckAlive(context, kept.owner, "the node is as it was");
  CheckUnchanged(context, before, OperationState::Of(context, graph, handles), "every update was refused");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckReplacement(context, session);
  CheckRefusals(context);
  context.Oracle("child graphs and their owners after each update");
}

const harness::Registration registration({
    .name = "NU.child-graph",
    .summary = "An update of a child-graph node replaces the embedded graph with its owners, or changes nothing",
    .covers = {"NU-G", "CU-02", "CU-05", "CU-06", "CU-07"},
    .catches = {},
    .plan = {"cuGraphNodeSetParams:nth=1,step=refused,count=step,return=CUDA_ERROR_OUT_OF_MEMORY"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
