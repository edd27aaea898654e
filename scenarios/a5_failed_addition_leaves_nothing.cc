// A5, D-18: a node that could not be added leaves nothing behind, wherever the addition failed.
//
// Intent: fail the making of the user object, its retention by the graph, the driver's own addition, and every
// allocation of the library, one after the other. After each the graph is empty and the owner released exactly once:
// directly when CUDA never knew of it, by the queue otherwise. Then an addition succeeds.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with faults fired at all four sites.
#include <functional>
#include <new>
#include <optional>
#include <string>

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

void CUDA_CB Nothing(void*) {}

std::size_t NodeCount(const GraphDefinition& graph) {
  std::size_t count = 0;
  driver::Check("cuGraphGetNodes", driver::GetDriver().cuGraphGetNodes(graph.raw(), nullptr, &count), "counting nodes");
  return count;
}

enum class ReleasedBy { kCaller, kQueue };

// Adds a node and expects `site` to make that fail.
void CheckFailedAddition(harness::Context& context, GraphDefinition& graph, const char* site, ReleasedBy released_by) {
  const std::uint64_t faults_before = context.shim().faults(site);
  OwnerProbe owner;
  bool threw = false;
  try {
    graph.AddHostNode({&Nothing, nullptr, owner.Take(), nullptr});
  } catch (const driver::DriverError&) {
    threw = true;
  }
  context.RequireFaults(site, faults_before + 1);
  const std::string where = std::string("the addition failed at ") + site;
  context.Check(threw, "a failed addition throws: " + where);
  if (released_by == ReleasedBy::kCaller) {
    context.Check(owner.releases() == 1, "an owner that CUDA never knew of is released at once: " + where);
  }
  Settle(context);
  context.Check(owner.releases() == 1, "the owner is released exactly once: " + where + " (" +
                                           std::to_string(owner.releases()) + " releases)");
  if (released_by == ReleasedBy::kQueue) {
    context.Check(owner.ReleasedInCleanup(), "an owner that CUDA knew of is released by the queue: " + where);
  }
  context.Check(NodeCount(graph) == 0 && graph.attachment_count() == 0, "no node and no entry are left: " + where);
  context.Check(context.shim().live().user_objects == 0, "no user object is left: " + where);
}

// The plan fails every allocation of the calling thread up to a growing ordinal, until one addition gets through.
void CheckFailedAllocations(harness::Context& context, GraphDefinition& graph) {
  int attempts = 0;
  bool added = false;
  while (!added) {
    OwnerProbe owner;
    HostCallback callback{&Nothing, nullptr, owner.Take(), nullptr};
    try {
      const harness::AllocationFaultWindow window(context);
      GraphNode node = graph.AddHostNode(callback);
      added = true;
    } catch (const std::bad_alloc&) {
      ++attempts;
    }
    callback.function_owner = nullptr;
    Settle(context);
    context.Check(NodeCount(graph) == (added ? 1 : 0), "an addition without memory adds no node");
    context.Check(owner.releases() == (added ? 0 : 1), "an addition without memory keeps no owner");
  }
  context.RequireFaults("alloc", 4);
  context.Count("failed_allocations", attempts);
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  std::optional<GraphDefinition> graph(std::in_place);
  CheckFailedAddition(context, *graph, "cuUserObjectCreate", ReleasedBy::kCaller);
  CheckFailedAddition(context, *graph, "cuGraphRetainUserObject", ReleasedBy::kQueue);
  CheckFailedAddition(context, *graph, "cuGraphAddHostNode", ReleasedBy::kQueue);
  CheckFailedAllocations(context, *graph);
  graph.reset();
  Settle(context);
  context.Oracle("graph, index and owner after each failed addition");
}

const harness::Registration registration({
    .name = "A5.failed-addition-leaves-nothing",
    .summary = "An addition that fails anywhere leaves graph and index as they were and its owner released once",
    .covers = {"A5", "AP-06", "AP-07", "AP-09", "DC-07", "D-18"},
    .catches = {"creation-failure-leaks-the-owners", "retain-failure-releases-directly", "rollback-forgotten"},
    .variants = harness::MixedDeliveryVariants(),
    .plan = {"cuUserObjectCreate:nth=1,return=CUDA_ERROR_OUT_OF_MEMORY",
             "cuGraphRetainUserObject:nth=1,return=CUDA_ERROR_OUT_OF_MEMORY",
             "cuGraphAddHostNode:nth=1,return=CUDA_ERROR_OUT_OF_MEMORY", "alloc:nth=1,fail", "alloc:nth=3,fail",
             "alloc:nth=6,fail", "alloc:nth=10,fail"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
