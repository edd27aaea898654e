// A4: a node handle that CUDA gives out again cannot invalidate an older executable, nor confuse the definition.
//
// Intent: instantiate, destroy the node, add another: CUDA gives it the old handle's value (fact N1). The old
// executable must run the old callback, a new one the new; each owner dies with its own executable. Then destroy and
// add again and again, so that an index entry that stayed behind would be taken for the new node's.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed. A driver that does not reuse the handle at once makes it weaker, which the counter shows.
#include <memory>
#include <optional>
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

void CUDA_CB Increment(void* data) { ++*static_cast<int*>(data); }

void CheckRepeatedReuse(harness::Context& context, GraphDefinition& graph) {
  constexpr int kRounds = 50;
  for (int round = 0; round < kRounds; ++round) {
    OwnerProbe owner;
    int unused = 0;
    GraphNode node = graph.AddHostNode({&Increment, &unused, owner.Take(), nullptr});
    Settle(context);
    CheckAlive(context, owner, "its node is there, with a handle used before");
    node.Destroy();
    Settle(context);
    CheckReleasedOnce(context, owner, "its node is destroyed");
  }
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  OwnerProbe old_owner, new_owner;
  int old_runs = 0;
  int new_runs = 0;
  std::optional<GraphDefinition> graph(std::in_place);
  GraphNode old_node = graph->AddHostNode({&Increment, &old_runs, old_owner.Take(), nullptr});
  const CUgraphNode old_raw = old_node.raw();
  std::optional<GraphExec> old_executable(*graph);

  old_node.Destroy();
  const GraphNode new_node = graph->AddHostNode({&Increment, &new_runs, new_owner.Take(), nullptr});
  context.Count("handle_reused", new_node.raw() == old_raw ? 1 : 0);
  context.Check(!old_node.IsValid() && !(old_node == new_node), "the old handle does not come to mean the new node");
  std::optional<GraphExec> new_executable(*graph);
  Settle(context);
  CheckAlive(context, old_owner, "the old executable needs it");

  old_executable->Launch(session.stream());
  new_executable->Launch(session.stream());
  session.stream()->Synchronize();
  context.Check(old_runs == 1 && new_runs == 1, "each executable runs its own callback");

  old_executable.reset();
  CheckReleasedLate(context, old_owner, "the old executable is gone");
  CheckAlive(context, new_owner, "the new node and the new executable need it");
  CheckRepeatedReuse(context, *graph);
  CheckAlive(context, new_owner, "other nodes came and went");
  new_executable.reset();
  SettleIdle(context);
  graph.reset();
  context.Oracle("which owner dies with which executable");
}

const harness::Registration registration({
    .name = "A4.reused-node-handle",
    .summary = "A node handle that CUDA gives out again neither invalidates an older executable nor mixes up owners",
    .covers = {"A4", "DL-05", "EX-06", "BR-02"},
    .catches = {"stale-index-entry", "one-table-for-the-whole-graph"},
    .variants = harness::MixedDeliveryVariants(),
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
