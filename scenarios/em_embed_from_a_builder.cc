// EM-06, EM-08: a builder embeds what another has captured, with the owners at every level.
//
// Intent: capture a callback, embed the finished builder into another capture between two callbacks, and drop it. The
// copy has the owner: at its node, in the executable, until the node in the copy is destroyed. Place and order in the
// capture are kept. A source that has not ended, a builder that does not capture, and the capture's own graph are
// refused.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_builder.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/expected_errors.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

struct Callback {
  OwnerProbe owner;
  int runs = 0;

  HostCallback Take() { return CountingCallback(runs, owner.Take()); }
};

GraphNode FindChildGraphNode(const GraphDefinition& graph) {
  const std::vector<GraphNode> nodes = graph.Nodes();
  return *std::find_if(nodes.begin(), nodes.end(),
                       [](const GraphNode& node) { return node.type() == CU_GRAPH_NODE_TYPE_GRAPH; });
}

void CheckRefusals(harness::Context& context, GraphBuilder& source, GraphBuilder& parent) {
  CheckMisuse(context, "embedding a builder that has not begun", "Embed", [&] { parent.Embed(source); });
  source.Begin();
  CheckMisuse(context, "embedding a builder that captures", "Embed", [&] { parent.Embed(source); });
  CheckMisuse(context, "a builder embedding itself", "Embed", [&] { parent.Embed(parent); });
  GraphBuilder body = parent.If(parent.MakeCondition(0));
  CheckMisuse<std::invalid_argument>(context, "embedding a graph of the same hierarchy", "Embed",
                                     [&] { parent.Embed(body.Definition()); });
}

// `parent` gets: first callback, the embedded graph, last callback, one behind the other.
void Capture(GraphBuilder& parent, const GraphBuilder& source, Callback& first, Callback& last) {
  parent.AddCallback(first.Take());
  parent.Embed(source);
  parent.AddCallback(last.Take());
  parent.End();
}

void CheckPlace(harness::Context& context, const GraphNode& child) {
  context.Check(child.Predecessors().size() == 1 && child.Successors().size() == 1,
                "the embedded graph stands where it was embedded");
  const GraphDefinition copy = child.ChildGraph();
  context.Check(copy.Nodes().size() == 1 && copy.attachment_count() == 1 && copy.Nodes().front().Owners().size() == 1,
                "the copy has the owners of what it was copied from, by node");
}

void CheckEmbedding(harness::Context& context, const DeviceSession& session) {
  Callback embedded, first, last;
  std::optional<GraphBuilder> source(Stream::Create());
  std::optional<GraphBuilder> parent(Stream::Create());
  source->Begin();
  source->AddCallback(embedded.Take());
  source->End();
  parent->Begin();
  Capture(*parent, *source, first, last);
  source.reset();
  Settle(context);
  CheckAlive(context, embedded.owner, "the copy needs it");
  GraphNode child = FindChildGraphNode(parent->Definition());
  CheckPlace(context, child);
  CheckMisuse(context, "embedding into a builder that has ended", "Embed", [&] { parent->Embed(GraphDefinition()); });

  std::optional<GraphExec> executable(parent->Complete());
  parent.reset();
  child.ChildGraph().Nodes().front().Destroy();
  Settle(context);
  CheckAlive(context, embedded.owner, "the executable needs it");
  executable->Launch(session.stream());
  session.stream()->Synchronize();
  context.Check(first.runs == 1 && embedded.runs == 1 && last.runs == 1, "all that was captured runs, the copy too");
  executable.reset();
  CheckReleasedLate(context, embedded.owner, "its node in the copy is destroyed, and the executable gone");
  CheckAlive(context, first.owner, "its node is in the graph");
  child = GraphNode();
  CheckReleasedLate(context, first.owner, "the graph is gone");
  CheckReleasedLate(context, last.owner, "the graph is gone");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckEmbedding(context, session);
  {
    GraphBuilder source(Stream::Create());
    GraphBuilder parent(Stream::Create());
    CheckMisuse(context, "embedding into a builder that has not begun", "Embed",
                [&] { parent.Embed(GraphDefinition()); });
    parent.Begin();
    CheckRefusals(context, source, parent);
    parent.End();
    context.Check(parent.Definition().Nodes().size() == 1, "nothing was embedded by what was refused");
  }
  context.Oracle("the owners of a graph that was embedded into a capture");
}

const harness::Registration registration({
    .name = "EM.embed-from-a-builder",
    .summary = "A captured graph is embedded into a capture with its owners, at its place; what is unfinished is not",
    .covers = {"EM-06", "EM-08"},
    .catches = {},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
