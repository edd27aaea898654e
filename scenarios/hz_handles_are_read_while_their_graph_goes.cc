// D-30, TS-03: any thread may ask a handle whether what it names is alive, also while another thread destroys it.
//
// Intent: two threads ask handles of graphs and nodes, over and over, while the main thread destroys what they name,
// and hands the raw handles to new graphs. They must see the handles alive, then gone, and never alive again. A
// sanitizer sees unsynchronised accesses.
//
// Interleaving: real threads; the main one goes on to the next round when both have seen the end.
//
// Expected verdict: passed.
#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/nested_graphs.h"

namespace holdfast::scenarios {
namespace {

constexpr std::uint32_t kReaders = 2;
constexpr int kRounds = 50;

// Copies of the handles that one reader asks.
struct Handles {
  explicit Handles(const GraphNode& owning_node) : owner(owning_node) {
    for (int level = 0; level < NestedGraphs::kLevels; ++level) {
      graphs.push_back(GraphInside(owning_node.ChildGraph(), level));
      nodes.push_back(NodeOfType(graphs.back(), CU_GRAPH_NODE_TYPE_HOST));
    }
  }

  // Everything that may be asked from any thread.
  bool SomeAreAlive() const {
    bool some = owner.IsValid() && owner.raw() != nullptr;
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      some |= graphs[i].IsValid() || graphs[i].raw() != nullptr || nodes[i].IsValid() || nodes[i].raw() != nullptr;
    }
    return some;
  }

  GraphNode owner;
  std::vector<GraphDefinition> graphs;
  std::vector<GraphNode> nodes;
};

void Read(harness::Context& context, const Handles& handles, std::atomic<std::uint32_t>& started) {
  constexpr int kLooksAfterTheEnd = 100;
  context.Check(handles.SomeAreAlive(), "handles are alive before their graph goes");
  ++started;
  context.CheckEventually([&] { return !handles.SomeAreAlive(); }, "a reader sees that the graph is gone");
  for (int look = 0; look < kLooksAfterTheEnd; ++look) {
    context.Check(!handles.SomeAreAlive(), "what is gone does not come back");
  }
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  NestedGraphs nested;
  for (int round = 0; round < kRounds; ++round) {
    GraphDefinition root;
    GraphNode node = root.AddChildGraphNode(*nested.definition);
    const Handles handles(node);
    std::atomic<std::uint32_t> started{0};
    std::vector<std::jthread> readers;
    for (std::uint32_t ordinal = 1; ordinal <= kReaders; ++ordinal) {
      readers.push_back(context.StartThread(ordinal, [&] { Read(context, handles, started); }));
    }
    context.CheckEventually([&] { return started == kReaders; }, "the readers read");
    node.Destroy();
    // Raw handles that were just freed come up again here.
    node = root.AddChildGraphNode(*nested.definition);
    context.Check(node.ChildGraph().IsValid(), "the next graph is alive");
  }
  Settle(context);
  CheckAllAlive(context, nested, "its own graph has it");
  context.Oracle("what readers see while a graph goes");
}

const harness::Registration registration({
    .name = "HZ.handles-are-read-while-their-graph-goes",
    .summary = "Threads that only ask handles see them alive, then gone, and never a race",
    .covers = {"D-30", "TS-03", "IH-06"},
    .catches = {"dead-graphs-nodes-live-on"},
    .variants = harness::SingleVariant(),
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
