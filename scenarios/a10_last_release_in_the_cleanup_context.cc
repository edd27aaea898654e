// A10: the last release of events, kernels, libraries and foreign owners happens only in the cleanup context, in a
// stated order, and may itself use graphs.
//
// Intent: let graphs go that hold the last references to an event, to a kernel with its library, and to owners whose
// destructors drain, destroy and build graphs. Nothing may be released before a drain; a drain inside a release must
// not run others' releases on top of it; batches go first in, first out.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/cleanup/deferred_cleanup.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/add_one_kernel.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

void CUDA_CB Nothing(void*) {}

void AddOwnedNode(GraphDefinition& graph, OwnerProbe& owner) {
  graph.AddHostNode({&Nothing, nullptr, owner.Take(), nullptr});
}

void CheckDriverObjects(harness::Context& context) {
  std::optional<GraphDefinition> graph(std::in_place);
  const DeviceMemoryHandle memory = DeviceMemory::Allocate(16);
  graph->AddEventRecordNode(Event::Create());
  graph->AddKernelNode(LoadAddOneKernel(context), {}, KernelArguments().Add(memory).Add(std::uint32_t{1}));
  graph.reset();
  context.shim().release_held();
  context.shim().quiesce();
  context.Check(context.shim().live().events == 1 && context.shim().live().libraries == 1,
                "event and library are there until a drain");
  DrainNow();
  context.Check(context.shim().live().events == 0 && context.shim().live().libraries == 0,
                "event and library are gone after the drain");
}

// Destroying a graph hands its user objects over in the order in which they were retained (fact U16).
void CheckOrder(harness::Context& context) {
  std::vector<int> order;
  std::vector<OwnerProbe> owners;
  std::optional<GraphDefinition> graph(std::in_place);
  for (int i = 0; i < 20; ++i) {
    owners.emplace_back([&order, i] { order.push_back(i); });
    AddOwnedNode(*graph, owners.back());
  }
  graph.reset();
  Settle(context);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    CheckReleasedOnce(context, owners[i], "its graph is gone");
  }
  context.Check(order.size() == owners.size(), "all owners are released in one drain");
  for (std::size_t i = 0; i < order.size(); ++i) {
    context.Check(order[i] == static_cast<int>(i), "owners are released first in, first out");
  }
}

void CheckReentry(harness::Context& context) {
  int depth = 0;
  int depth_peak = 0;
  std::optional<GraphDefinition> inner_graph(std::in_place);
  OwnerProbe inner, built_inside;
  AddOwnedNode(*inner_graph, inner);
  const auto nest = [&](const auto& action) {
    ++depth;
    depth_peak = std::max(depth_peak, depth);
    action();
    --depth;
  };
  OwnerProbe drains([&] { nest([] { cleanup::DeferredCleanup::Process().Drain(); }); });
  OwnerProbe destroys([&] {
    nest([&] {
      inner_graph.reset();
      cleanup::DeferredCleanup::Process().Drain();
    });
  });
  OwnerProbe builds([&] {
    nest([&] {
      GraphDefinition graph;
      AddOwnedNode(graph, built_inside);
    });
  });
  std::optional<GraphDefinition> graph(std::in_place);
  for (OwnerProbe* owner : {&drains, &destroys, &builds}) {
    AddOwnedNode(*graph, *owner);
  }
  graph.reset();
  Settle(context);
  Settle(context);
  for (const OwnerProbe* owner : {&drains, &destroys, &builds, &inner, &built_inside}) {
    CheckReleasedOnce(context, *owner, "its graph is gone, released inside a drain or not");
  }
  context.Check(depth_peak == 1, "a drain inside a release runs no other release on top of it");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckDriverObjects(context);
  CheckOrder(context);
  CheckReentry(context);
  context.CheckUndisturbed(driver::CleanupFailureCount() == 0, "the driver refused no call of the cleanup");
  context.Oracle("where, in which order and how deep owners were released");
}

const harness::Registration registration({
    .name = "A10.last-release-in-the-cleanup-context",
    .summary = "Events, kernels, libraries and foreign owners are released in drains alone, in order, one at a time",
    .covers = {"A10", "IH-12", "DC-03", "DC-10", "D-09", "D-11", "AP-23", "AP-24"},
    .catches = {"owners-released-in-the-callback", "drain-newest-first", "drain-without-reentry-guard"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
