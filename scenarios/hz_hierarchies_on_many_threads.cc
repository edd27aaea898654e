// D-17: hierarchies on different threads have nothing to do with each other, however often CUDA hands raw handles from
// one to the other.
//
// Intent: four threads, each with graphs of its own, embed, look up, clone, update and destroy child graphs of three
// levels as fast as they can, so that raw handles of graphs and nodes wander between the threads. After each step each
// graph is found as itself by every route, with the owners that its own thread gave, and what was destroyed is gone. In
// the end every owner has been released once.
//
// Interleaving: real threads, with no order between them, over a driver that gives handles out again at once; a worker
// drains meanwhile. The variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/nested_graphs.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

constexpr std::uint32_t kThreads = 4;
constexpr int kRounds = 50;
constexpr int kLevels = 3;

// One host node a level, each with an owner that is told by its address.
struct Source {
  GraphDefinition graph;
  std::array<const void*, kLevels> owners;
};

// What a child-graph node owns, outermost first, with the host node of each level.
struct Views {
  Views(const GraphNode& node, const Source& source) : owners(source.owners) {
    for (int level = 0; level < kLevels; ++level) {
      graphs.push_back(GraphInside(node.ChildGraph(), level));
      nodes.push_back(NodeOfType(graphs.back(), CU_GRAPH_NODE_TYPE_HOST));
    }
  }

  std::array<const void*, kLevels> owners;
  std::vector<GraphDefinition> graphs;
  std::vector<GraphNode> nodes;
};

// One thread with its own graphs.
class Subject {
 public:
  Subject(harness::Context& context, std::uint32_t ordinal) : context_(context), ordinal_(ordinal) {}

  void DoRound() {
    GraphDefinition root;
    const Source first_source = MakeSource(), second_source = MakeSource(), next_source = MakeSource();
    GraphNode first = root.AddChildGraphNode(first_source.graph);
    GraphNode second = root.AddChildGraphNode(second_source.graph);
    const Views first_views(first, first_source), second_views(second, second_source);
    CheckLive(first, first_views, "embedded");
    CheckLive(second, second_views, "embedded");
    const GraphDefinition clone = root.Clone();

    first.UpdateChildGraph(next_source.graph);
    CheckGone(first_views, "updated");
    const Views next_views(first, next_source);
    CheckLive(first, next_views, "updated");
    CheckLive(second, second_views, "beside an updated one");

    first.Destroy();
    CheckGone(next_views, "destroyed");
    CheckLive(second, second_views, "beside a destroyed one");
    second.Destroy();
    CheckGone(second_views, "destroyed");
    Check(root.Nodes().empty() && clone.Nodes().size() == 2, "root and clone have their own nodes", "in the end");
  }

  const std::deque<OwnerProbe>& owners() const { return owners_; }

 private:
  Source MakeSource() {
    std::optional<GraphDefinition> inner;
    std::array<const void*, kLevels> owners{};
    for (int level = kLevels - 1; level >= 0; --level) {
      OpaqueHandle owner = owners_.emplace_back().Take();
      owners.at(level) = owner.get();
      GraphDefinition graph;
      graph.AddHostNode(CountingCallback(unused_runs_, std::move(owner)));
      if (inner) {
        graph.AddChildGraphNode(*inner);
      }
      inner = graph;
    }
    return {*inner, owners};
  }

  void CheckLive(const GraphNode& node, const Views& views, const char* when) {
    Check(node.ChildGraph() == views.graphs.front(), "a node owns its own graph", when);
    for (int level = 0; level < kLevels; ++level) {
      const GraphDefinition& graph = views.graphs[level];
      const std::vector<OpaqueHandle> owners = views.nodes[level].Owners();
      Check(graph.IsValid() && GraphDefinition::Find(graph.raw()) == graph, "a graph is found as itself", when);
      Check(views.nodes[level].Graph() == graph, "a node is of its own graph", when);
      Check(graph.attachment_count() == 1 && owners.size() == 1 && owners.front().get() == views.owners.at(level),
            "a node has the owner that its own thread gave", when);
    }
  }

  void CheckGone(const Views& views, const char* when) {
    for (int level = 0; level < kLevels; ++level) {
      Check(!views.graphs[level].IsValid() && !views.nodes[level].IsValid(), "a graph that is gone says so", when);
    }
  }

  void Check(bool holds, const char* contract, const char* when) {
    context_.Check(holds, std::string(contract) + ": " + when + ", subject-" + std::to_string(ordinal_));
  }

  harness::Context& context_;
  const std::uint32_t ordinal_;
  int unused_runs_ = 0;
  // Each stays where it is, so that its owner's address is told from all others.
  std::deque<OwnerProbe> owners_;
};

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartWorkerCleanup(context);
  std::deque<Subject> subjects;
  for (std::uint32_t ordinal = 0; ordinal < kThreads; ++ordinal) {
    subjects.emplace_back(context, ordinal);
  }
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t ordinal = 0; ordinal < kThreads; ++ordinal) {
      threads.push_back(context.StartThread(ordinal, [&session, &subject = subjects[ordinal]] {
        session.MakeCurrent();
        for (int round = 0; round < kRounds; ++round) {
          subject.DoRound();
        }
      }));
    }
  }
  SettleAll(context);
  for (const Subject& subject : subjects) {
    for (const OwnerProbe& owner : subject.owners()) {
      CheckReleasedOnce(context, owner, "all graphs are gone");
    }
  }
  context.Check(context.shim().live().graphs == 0, "no root is left");
  context.Oracle("every graph of every thread, by every route");
}

const harness::Registration registration({
    .name = "HZ.hierarchies-on-many-threads",
    .summary = "Hierarchies on different threads stay apart while CUDA hands raw handles from one to the other",
    .covers = {"D-17", "IH-02", "IH-08", "TS-01", "CL-03", "CU-04"},
    .catches = {"child-update-forgets-the-tombstones", "clone-forgets-grandchildren", "dead-graphs-nodes-live-on"},
    .variants = harness::MixedDeliveryVariants(),
    .timeout_s = 60,
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
