// DL-06, DL-07: edges can be added and removed at any time, seen from both ends, and the work follows them.
//
// Intent: a line of three host nodes that write down their names. Destroy the middle one: its edges go, and nothing
// else. Connect the ends, put a new node between them, turn the line into a fan-in, and reverse the line. After each
// change the edges are those from either end, and an executable made then runs in their order. Changes of edges leave
// the owners of the nodes alone.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

using Edges = std::vector<std::pair<GraphNode, GraphNode>>;

// A host node that appends its letter. Nodes that no edge orders may run at once: such a graph is not launched.
struct Writer {
  Writer(std::string& written, char own_letter) : text(&written), letter(own_letter) {}

  void AddTo(GraphDefinition& graph, GraphDefinition::Dependencies dependencies) {
    node = graph.AddHostNode({&Write, this, owner.Take(), nullptr}, dependencies);
  }

  static void CUDA_CB Write(void* writer) {
    const auto* self = static_cast<const Writer*>(writer);
    self->text->push_back(self->letter);
  }

  OwnerProbe owner;
  std::string* const text;
  const char letter;
  GraphNode node;
};

bool Contains(const std::vector<GraphNode>& nodes, const GraphNode& node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

// The graph has these edges and no others, by the list and from both ends.
void CheckEdges(harness::Context& context, const GraphDefinition& graph, const Edges& edges, const std::string& when) {
  const std::vector<GraphEdge> listed = graph.Edges();
  context.Check(listed.size() == edges.size(), "the graph has the edges that it was given and no more: " + when);
  std::size_t neighbours = 0;
  for (const GraphNode& node : graph.Nodes()) {
    neighbours += node.Predecessors().size() + node.Successors().size();
  }
  context.Check(neighbours == 2 * edges.size(), "each edge is seen from both ends, and no other is: " + when);
  for (const auto& [from, to] : edges) {
    const bool is_listed = std::any_of(listed.begin(), listed.end(), [&from = from, &to = to](const GraphEdge& edge) {
      return edge.from == from && edge.to == to;
    });
    context.Check(is_listed && Contains(from.Successors(), to) && Contains(to.Predecessors(), from),
                  "an edge that was added is there: " + when);
  }
}

void CheckRun(harness::Context& context, const DeviceSession& session, const GraphDefinition& graph, std::string& text,
              const std::string& expected) {
  text.clear();
  const GraphExec executable(graph);
  executable.Launch(session.stream());
  session.stream()->Synchronize();
  context.Check(text == expected, "the nodes run in the order of their edges: " + expected + ", not " + text);
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  std::string text;
  Writer a(text, 'a'), b(text, 'b'), c(text, 'c'), d(text, 'd');
  std::optional<GraphDefinition> graph(std::in_place);
  a.AddTo(*graph, {});
  b.AddTo(*graph, {{a.node}});
  c.AddTo(*graph, {{b.node}});
  CheckEdges(context, *graph, {{a.node, b.node}, {b.node, c.node}}, "a line");
  CheckRun(context, session, *graph, text, "abc");

  b.node.Destroy();
  CheckEdges(context, *graph, {}, "the middle of the line is destroyed");
  context.Check(a.node.IsValid() && c.node.IsValid() && graph->Nodes().size() == 2, "its neighbours are still there");
  CheckReleasedLate(context, b.owner, "its node is destroyed");

  graph->AddEdge(a.node, c.node);
  CheckEdges(context, *graph, {{a.node, c.node}}, "the ends are connected");
  CheckRun(context, session, *graph, text, "ac");

  d.AddTo(*graph, {{a.node}});
  graph->AddEdge(d.node, c.node);
  graph->RemoveEdge(a.node, c.node);
  CheckEdges(context, *graph, {{a.node, d.node}, {d.node, c.node}}, "a node is put in between");
  CheckRun(context, session, *graph, text, "adc");

  graph->RemoveEdge(a.node, d.node);
  graph->AddEdge(a.node, c.node);
  CheckEdges(context, *graph, {{a.node, c.node}, {d.node, c.node}}, "the line is a fan-in");

  graph->RemoveEdge(a.node, c.node);
  graph->RemoveEdge(d.node, c.node);
  graph->AddEdge(c.node, d.node);
  graph->AddEdge(d.node, a.node);
  CheckEdges(context, *graph, {{c.node, d.node}, {d.node, a.node}}, "the line is reversed");
  CheckRun(context, session, *graph, text, "cda");

  context.Check(graph->attachment_count() == 3, "changes of edges leave the owners alone");
  for (const Writer* writer : {&a, &c, &d}) {
    CheckAlive(context, writer->owner, "only edges were changed");
  }
  graph.reset();
  a.node = b.node = c.node = d.node = GraphNode();
  for (const Writer* writer : {&a, &c, &d}) {
    CheckReleasedLate(context, writer->owner, "the graph is gone");
  }
  context.Oracle("edges from both ends, and the order of the work");
}

const harness::Registration registration({
    .name = "DL.edges-come-and-go",
    .summary = "Edges are added, removed and re-added, seen from both ends, and the work follows them",
    .covers = {"DL-06", "DL-07"},
    .catches = {"each-look-makes-a-new-node"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
