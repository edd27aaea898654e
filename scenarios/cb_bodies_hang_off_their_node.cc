// CB-01 to CB-04: the bodies of a conditional node are graphs of its hierarchy, usable at once, and go with the node.
//
// Intent: for each kind of conditional node, take its bodies, drop the handle of the parent graph, fill the bodies, and
// find node and bodies again through the parent. Then destroy the conditional node: what the bodies kept is released,
// every handle into them says that it is gone, and the rest of the graph is as it was. The bodies of a node that was
// made elsewhere are not known.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/expected_errors.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

struct Kind {
  const char* name;
  std::size_t body_count;
  GraphNode (*add)(GraphDefinition&, const Condition&);
};

constexpr Kind kKinds[] = {
    {"if", 1, [](GraphDefinition& graph, const Condition& condition) { return graph.AddIfNode(condition); }},
    {"if-else", 2, [](GraphDefinition& graph, const Condition& condition) { return graph.AddIfElseNode(condition); }},
    {"while", 1, [](GraphDefinition& graph, const Condition& condition) { return graph.AddWhileNode(condition); }},
    {"switch", 3, [](GraphDefinition& graph, const Condition& condition) { return graph.AddSwitchNode(condition, 3); }},
};

GraphNode FindConditional(const GraphDefinition& graph) {
  const std::vector<GraphNode> nodes = graph.Nodes();
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [](const GraphNode& node) { return node.type() == CU_GRAPH_NODE_TYPE_CONDITIONAL; });
  return found != nodes.end() ? *found : GraphNode();
}

// One callback in each body, and what keeps it.
struct Filling {
  explicit Filling(std::size_t body_count) : owners(body_count), runs(body_count) {}

  void Fill(std::vector<GraphDefinition>& bodies) {
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      nodes.push_back(bodies[i].AddHostNode(CountingCallback(runs[i], owners[i].Take())));
    }
  }

  std::vector<OwnerProbe> owners;
  std::vector<int> runs;
  std::vector<GraphNode> nodes;
};

void CheckUsableWithoutParent(harness::Context& context, const Kind& kind, std::vector<GraphDefinition>& bodies,
                              Filling& filling) {
  context.Check(bodies.size() == kind.body_count, "the node has its bodies: " + std::string(kind.name));
  for (const GraphDefinition& body : bodies) {
    context.Check(body.IsValid() && body.Nodes().empty(), "a body is there and empty: " + std::string(kind.name));
    context.Check(std::count(bodies.begin(), bodies.end(), body) == 1, "no two bodies are one graph");
  }
  filling.Fill(bodies);
  Settle(context);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    context.Check(bodies[i].Nodes().size() == 1 && bodies[i].attachment_count() == 1, "a body takes nodes and owners");
    CheckAlive(context, filling.owners[i], "its node is in a body");
  }
}

void CheckGone(harness::Context& context, std::vector<GraphDefinition>& bodies, const Filling& filling) {
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    CheckReleasedOnce(context, filling.owners[i], "the conditional node is destroyed");
    context.Check(!bodies[i].IsValid() && bodies[i].raw() == nullptr,
                  "a body of a destroyed node says that it is gone");
    context.Check(!filling.nodes[i].IsValid() && filling.nodes[i].Owners().empty(), "so does a node in it");
    CheckMisuse(context, "adding to a body that is gone", "GraphDefinition", [&] { bodies[i].AddEmptyNode(); });
  }
}

void CheckKind(harness::Context& context, const Kind& kind) {
  OwnerProbe neighbour;
  int runs = 0;
  Filling filling(kind.body_count);
  std::optional<GraphDefinition> graph(std::in_place);
  GraphNode other = graph->AddHostNode(CountingCallback(runs, neighbour.Take()));
  std::vector<GraphDefinition> bodies = kind.add(*graph, graph->MakeCondition()).Bodies();
  graph.reset();
  CheckUsableWithoutParent(context, kind, bodies, filling);

  graph.emplace(other.Graph());
  GraphNode node = FindConditional(*graph);
  context.Check(node.IsValid() && node.Bodies() == bodies, "the node found again has the same bodies");
  std::vector<CUgraph> raw;
  raw.reserve(bodies.size());
  for (const GraphDefinition& body : bodies) {
    raw.push_back(body.raw());
  }
  bodies.clear();
  bodies = node.Bodies();
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    context.Check(bodies[i].raw() == raw[i] && bodies[i].attachment_count() == 1,
                  "a body that nobody had a handle of is found with its owners");
  }

  node.Destroy();
  Settle(context);
  CheckGone(context, bodies, filling);
  context.Check(graph->Nodes().size() == 1 && other.IsValid(), "the rest of the graph is as it was");
  CheckAlive(context, neighbour, "its node is outside of the bodies");
  CheckMisuse(context, "asking a destroyed node for its bodies", "Bodies", [&] { (void)node.Bodies(); });

  graph.reset();
  bodies.clear();
  filling.nodes.clear();
  node = GraphNode();
  other = GraphNode();
  Settle(context);
  CheckReleasedOnce(context, neighbour, "the graph is gone");
}

void CheckMadeElsewhere(harness::Context& context) {
  GraphDefinition graph;
  const Condition condition = graph.MakeCondition();
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  parameters.conditional.handle = condition.raw();
  parameters.conditional.type = CU_GRAPH_COND_TYPE_IF;
  parameters.conditional.size = 1;
  driver::Check("cuCtxGetCurrent", driver::GetDriver().cuCtxGetCurrent(&parameters.conditional.ctx),
                "asking for the context");
  CUgraphNode raw = nullptr;
  driver::Check("cuGraphAddNode",
                driver::GetDriver().cuGraphAddNode(&raw, graph.raw(), nullptr, nullptr, 0u, &parameters),
                "adding a conditional node behind the library's back");
  const GraphNode node = FindConditional(graph);
  context.Check(node.IsValid() && node.Bodies().empty(), "the bodies of a node that was made elsewhere are not known");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  for (const Kind& kind : kKinds) {
    CheckKind(context, kind);
  }
  CheckMadeElsewhere(context);
  context.Oracle("bodies, their handles and owners, for four kinds of conditional node");
}

const harness::Registration registration({
    .name = "CB.bodies-hang-off-their-node",
    .summary = "Bodies of conditional nodes are usable without their parent's handle and go with their node",
    .covers = {"CB-01", "CB-02", "CB-03", "CB-04"},
    .catches = {},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
