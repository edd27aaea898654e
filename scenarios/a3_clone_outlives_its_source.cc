// A3: a clone keeps its attachments whatever happens to its source.
//
// Intent: clone a graph through the driver; update the source node, destroy it, destroy the source graph. The clone's
// own executable must run the old callback, and the old owner must live as long as the clone and that executable, no
// longer.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <optional>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

using driver::Check;
using driver::GetDriver;

// The clone and its executable, which the library does not know of.
struct RawClone {
  void DestroyGraph() {
    Check("cuGraphDestroy", GetDriver().cuGraphDestroy(graph), "destroying the clone");
    graph = nullptr;
  }

  void DestroyExecutable() {
    Check("cuGraphExecDestroy", GetDriver().cuGraphExecDestroy(executable), "destroying the executable");
    executable = nullptr;
  }

  // For a scenario that ends early.
  ~RawClone() {
    if (executable != nullptr) {
      (void)GetDriver().cuGraphExecDestroy(executable);
    }
    if (graph != nullptr) {
      (void)GetDriver().cuGraphDestroy(graph);
    }
  }

  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
};

void CUDA_CB Increment(void* data) { ++*static_cast<int*>(data); }

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  OwnerProbe old_owner, new_owner;
  int old_runs = 0;
  int new_runs = 0;
  std::optional<GraphDefinition> source(std::in_place);
  GraphNode node = source->AddHostNode({&Increment, &old_runs, old_owner.Take(), nullptr});
  RawClone copy;
  Check("cuGraphClone", GetDriver().cuGraphClone(&copy.graph, source->raw()), "cloning");

  node.UpdateHost({&Increment, &new_runs, new_owner.Take(), nullptr});
  Settle(context);
  CheckAlive(context, old_owner, "the clone needs it, the source was updated");
  node.Destroy();
  Settle(context);
  CheckReleasedOnce(context, new_owner, "its node is destroyed and the clone never had it");
  node = GraphNode();
  source.reset();
  Settle(context);
  CheckAlive(context, old_owner, "the clone needs it, the source is gone");

  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  Check("cuGraphInstantiateWithParams",
        GetDriver().cuGraphInstantiateWithParams(&copy.executable, copy.graph, &parameters), "instantiating the clone");
  copy.DestroyGraph();
  Settle(context);
  CheckAlive(context, old_owner, "the clone's executable needs it");
  Check("cuGraphLaunch", GetDriver().cuGraphLaunch(copy.executable, session.stream()->raw()), "launching");
  session.stream()->Synchronize();
  context.Check(old_runs == 1 && new_runs == 0, "the clone runs the callback that it was cloned with");

  copy.DestroyExecutable();
  CheckReleasedLate(context, old_owner, "clone and executable are gone");
  context.Oracle("the owner's life against the clone's");
}

const harness::Registration registration({
    .name = "A3.clone-outlives-its-source",
    .summary = "A clone runs with its owners whatever happens to its source",
    .covers = {"A3", "CL-01", "CL-02", "RP-01"},
    .catches = {"one-table-for-the-whole-graph", "executable-trusts-the-definition"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
