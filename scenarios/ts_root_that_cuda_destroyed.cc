// TS-05: when CUDA itself destroys a root, in a capture that ends in error, everything that was known of its hierarchy
// is gone at once, and nothing destroys it a second time.
//
// Intent: capture a callback and an embedded graph, take handles of the root, of the graph in it and of nodes of both,
// and spoil the capture. While it is spoilt the handles go on; when it has ended all are gone, by handle and by raw
// value, and the owners with them. New graphs that get the raw handles are not touched when the old handles go.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_builder.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/captured_work.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/nested_graphs.h"
#include "scenarios/support/owner_probe.h"
#include "scenarios/support/refusals.h"

namespace holdfast::scenarios {
namespace {

CUgraph CapturedGraph(const StreamHandle& stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUgraph graph = nullptr;
  driver::Check(
      "cuStreamGetCaptureInfo",
      driver::GetDriver().cuStreamGetCaptureInfo(stream->raw(), &status, nullptr, &graph, nullptr, nullptr, nullptr),
      "asking for the graph of a capture");
  return graph;
}

// Handles of the root and of what was embedded in it.
struct Views {
  explicit Views(const GraphDefinition& root) : graphs{root, GraphInside(root, 1), GraphInside(root, 2)} {
    for (const GraphDefinition& graph : graphs) {
      raw_graphs.push_back(graph.raw());
      nodes.push_back(NodeOfType(graph, CU_GRAPH_NODE_TYPE_HOST));
    }
  }

  std::vector<GraphDefinition> graphs;
  std::vector<CUgraph> raw_graphs;
  std::vector<GraphNode> nodes;
};

void CheckViews(harness::Context& context, const Views& views, bool alive, const std::string& when) {
  for (std::size_t i = 0; i < views.graphs.size(); ++i) {
    const std::string where = when + ", level " + std::to_string(i);
    context.Check(views.graphs[i].IsValid() == alive && views.nodes[i].IsValid() == alive, "alive or not: " + where);
    context.Check(GraphDefinition::Find(views.raw_graphs[i]).has_value() == alive, "found or not: " + where);
    context.Check(views.nodes[i].Owners().size() == (alive ? 1 : 0), "known with owners or not: " + where);
  }
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  NestedGraphs nested;
  OwnerProbe owner;
  int runs = 0;
  std::optional<GraphBuilder> builder(Stream::Create());
  const StreamHandle stream = builder->stream();
  builder->Begin();
  builder->AddCallback(CountingCallback(runs, owner.Take()));
  builder->Embed(*nested.definition);
  nested.definition.reset();
  std::optional<Views> views(*GraphDefinition::Find(CapturedGraph(stream)));
  CheckViews(context, *views, true, "while the capture goes on");

  InvalidateCapture(stream);
  context.Check(IsRefusedByDriver("cuStreamEndCapture", CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, [&] { builder->End(); }),
                "the end of a spoilt capture says so");
  CheckViews(context, *views, false, "after the capture has ended");
  for (const GraphDefinition& graph : views->graphs) {
    context.Check(Throws<std::logic_error>([&] { graph.Clone(); }), "a graph that CUDA destroyed is refused");
  }
  CheckReleasedLate(context, owner, "CUDA has destroyed its graph");
  CheckAllReleasedLate(context, nested, "CUDA has destroyed its graph");

  const std::vector<GraphDefinition> next(4);
  views.reset();
  builder.reset();
  for (const GraphDefinition& graph : next) {
    context.Check(graph.IsValid() && GraphDefinition::Find(graph.raw()) == graph && graph.Nodes().empty(),
                  "graphs that came later are not touched when the old handles go");
  }
  context.Check(context.shim().findings() == 0, "nothing was destroyed twice");
  context.Oracle("handles of a root that CUDA destroyed");
}

const harness::Registration registration({
    .name = "TS.root-that-cuda-destroyed",
    .summary = "When CUDA destroys a root itself all handles into it are gone, and nothing destroys it again",
    .covers = {"TS-05", "TS-01", "GB-11"},
    .catches = {"dead-graphs-nodes-live-on"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
