// D-17: CUDA may give the raw handle of a child graph to another hierarchy, on another thread, before the thread that
// destroyed the graph has taken its record out.
//
// Intent: one thread destroys a child graph, by destroying its node or by updating it, and stops inside the driver
// call, when the driver has let the graph go and the library does not know yet. Meanwhile the other thread embeds and
// gets the same raw handle. Its graph must be its own from then on, by every route, while and after the first thread
// takes its record out.
//
// Interleaving:
//
//   subject-1                                      subject-2
//   node.Destroy(): the driver frees handle X
//     destructor callback asks for a wakeup:
//     waits                                        AddChildGraphNode: the driver gives X
//                                                  ChildGraph, Find(X): its own graph
//   the library takes the old record out
//   done                                           ChildGraph, Find(X): its own graph
//
// On the model driver X comes up for certain. A real one may not have freed X by then, or may make the second thread
// wait: the first one then goes on after a while.
//
// Expected verdict: passed.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/cleanup/wakeup.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/nested_graphs.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

// Who is where in the interleaving.
struct Progress {
  std::atomic<bool> pausing{false};  // the next destructor callback stops
  std::atomic<bool> freed{false};    // subject-1 is inside the driver, the graph is gone
  std::atomic<bool> reused{false};   // subject-2 has looked at its graph
  std::atomic<bool> removed{false};  // subject-1 has taken its record out
};

// Asked for a drain by a destructor callback, on the thread of that, it holds it up. The drain is the scenario's to
// run.
class PausingWakeup : public cleanup::Wakeup {
 public:
  explicit PausingWakeup(const harness::Context& context) : context_(context) {}

  Progress& progress() noexcept { return progress_; }

  // Runs the drain that was asked for, so that the next callback asks again.
  void Drain() const noexcept { drain_(); }

  void Start(cleanup::DrainFunction drain) override { drain_ = drain; }
  bool Request() noexcept override {
    if (progress_.pausing.exchange(false)) {
      progress_.freed = true;
      context_.AwaitFor(kLongEnough, [this] { return progress_.reused.load(); });
    }
    return true;
  }
  void Stop() noexcept override {}

 private:
  static constexpr std::chrono::seconds kLongEnough{2};

  const harness::Context& context_;
  cleanup::DrainFunction drain_{nullptr, nullptr};
  Progress progress_;
};

// A root with one child graph that has one node with an owner.
struct Hierarchy {
  Hierarchy() {
    source.AddHostNode(CountingCallback(unused_runs, owner.Take()));
    source.AddEmptyNode();
  }

  int unused_runs = 0;
  OwnerProbe owner;
  GraphDefinition source;
  GraphDefinition root;
};

// The graph that `node` owns is the one that was made for it, by every route.
void CheckOwn(harness::Context& context, const Hierarchy& hierarchy, const GraphNode& node,
              const GraphDefinition& child, const std::string& when) {
  context.Check(child.IsValid() && node.ChildGraph() == child && GraphDefinition::Find(child.raw()) == child,
                "a graph is one graph by every route: " + when);
  context.Check(child.Nodes().size() == 2 && child.attachment_count() == 1 && hierarchy.root.Nodes().size() == 1,
                "a graph has its own nodes and metadata: " + when);
  const GraphNode inner = NodeOfType(child, CU_GRAPH_NODE_TYPE_HOST);
  context.Check(
      inner.Graph() == child && inner.Owners() == NodeOfType(hierarchy.source, CU_GRAPH_NODE_TYPE_HOST).Owners(),
      "a graph's node has its own owner: " + when);
}

using EndOldGraph = std::function<void(GraphNode&)>;

void CheckTakeover(harness::Context& context, const DeviceSession& session, PausingWakeup& wakeup,
                   const EndOldGraph& end_old_graph, const std::string& how) {
  Hierarchy first, second;
  GraphNode first_node = first.root.AddChildGraphNode(first.source);
  const GraphDefinition first_child = first_node.ChildGraph();
  const CUgraph raw = first_child.raw();
  // From here on the graph alone has its owner, so that its end is when the callback comes.
  NodeOfType(first.source, CU_GRAPH_NODE_TYPE_HOST).Destroy();
  SettleIdle(context);
  wakeup.Drain();
  Progress& progress = wakeup.progress();
  progress.freed = progress.reused = progress.removed = false;
  progress.pausing = true;
  std::optional<GraphDefinition> second_child;
  {
    const std::jthread second_thread = context.StartThread(2, [&] {
      session.MakeCurrent();
      context.CheckEventually([&] { return progress.freed.load(); },
                              "the first thread stops inside the driver: " + how);
      const GraphNode node = second.root.AddChildGraphNode(second.source);
      second_child = node.ChildGraph();
      context.Check(context.model() == nullptr || second_child->raw() == raw,
                    "the raw handle comes up again on the other thread: " + how);
      CheckOwn(context, second, node, *second_child, "before the old record is taken out, " + how);
      progress.reused = true;
      context.CheckEventually([&] { return progress.removed.load(); }, "the first thread goes on: " + how);
      CheckOwn(context, second, node, *second_child, "after the old record was taken out, " + how);
    });
    const std::jthread first_thread = context.StartThread(1, [&] {
      session.MakeCurrent();
      end_old_graph(first_node);
      progress.removed = true;
    });
  }
  context.Check(!first_child.IsValid() && !(first_child == *second_child), "the old handle names what is gone: " + how);
  Settle(context);
  CheckReleasedOnce(context, first.owner, "its graph is gone: " + how);
  CheckAlive(context, second.owner, "the graph that has the handle now needs it: " + how);
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  auto owned_wakeup = std::make_unique<PausingWakeup>(context);
  // The cleanup keeps it for as long as the process lives.
  PausingWakeup& wakeup = *owned_wakeup;
  StartCleanup(context, std::move(owned_wakeup));
  CheckTakeover(
      context, session, wakeup, [](GraphNode& node) { node.Destroy(); }, "the node is destroyed");
  GraphDefinition next;
  next.AddEmptyNode();
  CheckTakeover(
      context, session, wakeup, [&](GraphNode& node) { node.UpdateChildGraph(next); }, "the node is updated");
  context.Oracle("both graphs, while and after the handle changes hands");
}

const harness::Registration registration({
    .name = "HZ.reused-graph-handle-finds-the-new-graph",
    .summary = "A child graph whose raw handle another hierarchy gets too early takes nothing of the new graph's along",
    .covers = {"D-17", "IH-02", "IH-08", "TS-01"},
    .catches = {"unregister-without-the-check"},
    .variants = harness::SingleVariant(),
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
