// D-19: a root graph is never lost for want of memory, however it comes about.
//
// Intent: make a root, clone one, adopt one, each without memory at each allocation in turn. After each failure no
// graph more is alive than before, and a root that could not be adopted is still the caller's. With enough memory each
// succeeds, and each root is destroyed once.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with faults fired at allocations.
#include <cstdint>
#include <optional>
#include <string>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/failing_allocations.h"
#include "scenarios/support/live_objects.h"
#include "scenarios/support/nested_graphs.h"

namespace holdfast::scenarios {
namespace {

// Makes a root by `make`, without memory at each allocation in turn. `raw` is a graph that is to become one, or null.
template <typename Make>
void CheckRoot(harness::Context& context, const std::string& how, CUgraph raw, Make make) {
  const fault::LiveObjects before = context.shim().live();
  std::optional<GraphDefinition> root;
  const std::uint64_t failures = FailEachAllocation(
      context, [&] { root = make(); },
      [&](std::uint64_t granted) {
        Settle(context);
        const std::string why = how + ", out of memory after " + std::to_string(granted);
        CheckSameLive(context, before, why);
        context.Check(!GraphDefinition::Find(raw), "a root that the library failed to take is not known: " + why);
      });
  context.Check(failures > 0, "a root needs memory: " + how);
  context.Check(root->IsValid() && GraphDefinition::Find(root->raw()) == root, "a root with enough memory is known");
  context.Count("failed_allocations_of_" + how, failures);
}

void CheckAdoption(harness::Context& context) {
  CUgraph raw = nullptr;
  driver::Check("cuGraphCreate", driver::GetDriver().cuGraphCreate(&raw, 0u), "making a graph by other means");
  CheckRoot(context, "adoption", raw, [raw] { return GraphDefinition::Adopt(raw); });
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  NestedGraphs nested;
  const std::uint64_t graphs_before = context.shim().live().graphs;
  CheckRoot(context, "creation", nullptr, [] { return GraphDefinition(); });
  CheckRoot(context, "clone", nullptr, [&] { return nested.definition->Clone(); });
  CheckAdoption(context);
  context.Check(context.shim().live().graphs == graphs_before, "each root is destroyed with its last handle");
  Settle(context);
  CheckAllAlive(context, nested, "its own graph has it");
  nested.definition.reset();
  CheckAllReleasedLate(context, nested, "its graph is gone");
  context.Oracle("how many graphs are alive after each failure");
}

const harness::Registration registration({
    .name = "HZ.root-without-memory",
    .summary = "A root that is made, cloned or adopted without enough memory is not lost and not known",
    .covers = {"D-19", "IH-01", "IH-05", "CL-04"},
    .catches = {"root-owned-at-the-end"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
