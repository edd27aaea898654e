// D-30: what is documented to last long does, and no longer.
//
// Intent: an owner that itself has a handle of the graph keeps the graph alive, and the graph keeps it: nobody collects
// such a circle. It is there until somebody breaks it, by destroying the node; then everything goes. And ten updates of
// one node in an executable keep ten owners, until the executable goes, or is updated whole.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/exec_node.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

void CheckCircle(harness::Context& context) {
  int runs = 0;
  std::weak_ptr<GraphDefinition> seen;
  CUgraph raw = nullptr;
  {
    const auto owner = std::make_shared<GraphDefinition>();
    seen = owner;
    raw = owner->raw();
    owner->AddHostNode(CountingCallback(runs, owner));
  }
  Settle(context);
  context.Check(!seen.expired() && GraphDefinition::Find(raw).has_value(),
                "a graph that owns a handle of itself is kept alive by nobody else");
  GraphDefinition::Find(raw)->Nodes().front().Destroy();
  Settle(context);
  context.Check(seen.expired() && !GraphDefinition::Find(raw), "a circle that is broken goes");
}

// `give_up` ends the need for the owners that the updates brought, by and by.
template <typename GiveUp>
void CheckTenUpdates(harness::Context& context, const DeviceSession& session, const std::string& how, GiveUp give_up) {
  constexpr int kUpdates = 10;
  std::deque<OwnerProbe> owners;
  int runs = 0;
  GraphDefinition graph;
  const GraphNode node = graph.AddHostNode(CountingCallback(runs));
  std::optional<GraphExec> executable(graph);
  for (int update = 0; update < kUpdates; ++update) {
    executable->Node(node).UpdateHost(CountingCallback(runs, owners.emplace_back().Take()));
  }
  executable->Launch(session.stream());
  session.stream()->Synchronize();
  SettleIdle(context);
  for (const OwnerProbe& owner : owners) {
    CheckAlive(context, owner, "each update of the executable adds one: " + how);
  }
  give_up(graph, executable);
  for (const OwnerProbe& owner : owners) {
    CheckReleasedLate(context, owner, how);
  }
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckCircle(context);
  CheckTenUpdates(context, session, "the executable is gone",
                  [](GraphDefinition&, std::optional<GraphExec>& executable) { executable.reset(); });
  CheckTenUpdates(context, session, "the executable is updated whole",
                  [](GraphDefinition& graph, std::optional<GraphExec>& executable) { executable->Update(graph); });
  context.Oracle("what lasts, and until when");
}

const harness::Registration registration({
    .name = "HZ.owner-cycle-and-long-lists",
    .summary = "A circle of graph and owner lasts until it is broken, the owners of updates until the executable goes",
    .covers = {"D-30", "DC-11", "EA-02"},
    .catches = {},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
