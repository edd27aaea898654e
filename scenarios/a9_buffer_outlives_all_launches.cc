// A9: a graph that holds the last reference to a buffer keeps it valid through all launches; the buffer is freed from
// the cleanup context.
//
// Intent: give the only references to two device buffers to a graph and an executable, launch several times, let
// everything go. The allocations must be there until the last launch has ended and must then really be freed, with the
// driver's consent: inside a callback cuMemFree would be refused and the memory lost in silence.
//
// Interleaving: the worker thread drains while the scenario's thread goes on; the variants differ in where CUDA's
// destructor callbacks run.
//
// Expected verdict: passed.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/cleanup/deferred_cleanup.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"

namespace holdfast::scenarios {
namespace {

constexpr std::size_t kSizeBytes = 4096;

// Fills one buffer and copies it to the host; the graph alone keeps the buffer. The host side is pageable memory of the
// scenario's.
GraphDefinition Build(std::vector<std::uint8_t>& result) {
  GraphDefinition graph;
  const DeviceMemoryHandle buffer = DeviceMemory::Allocate(kSizeBytes);
  const GraphNode fill =
      graph.AddMemsetNode(MemoryOperand::Device(buffer), {.value = 0x5a, .width_elements = kSizeBytes});
  graph.AddMemcpyNode(MemoryOperand::Host(result.data(), nullptr), MemoryOperand::Device(buffer), kSizeBytes, {{fill}});
  return graph;
}

void Run(harness::Context& context) {
  DeviceSession session;
  StartWorkerCleanup();
  std::vector<std::uint8_t> result(kSizeBytes);
  std::optional<GraphDefinition> graph(Build(result));
  std::optional<GraphExec> executable(*graph);
  graph.reset();
  for (int launch = 0; launch < 5; ++launch) {
    std::fill(result.begin(), result.end(), 0);
    executable->Launch(session.stream());
    session.stream()->Synchronize();
    context.Check(std::count(result.begin(), result.end(), 0x5a) == kSizeBytes, "each launch finds the buffer");
    context.Check(context.shim().live().allocations == 1, "the buffer is allocated while the executable needs it");
  }
  executable.reset();
  context.shim().release_held();
  context.CheckEventually(
      [&] {
        context.shim().release_held();
        return context.shim().live().allocations == 0;
      },
      "the buffer is freed, through the driver, once nothing needs it");
  context.Check(driver::CleanupFailureCount() == 0, "the driver refused no call of the cleanup");
  const bool shut_down = cleanup::DeferredCleanup::Process().Shutdown();
  context.Check(shut_down, "the worker is shut down in order");
  const cleanup::CleanupCounters counters = cleanup::DeferredCleanup::Process().Counters();
  context.Check(counters.enqueued == counters.released, "what was enqueued was released");
  context.Count("released", counters.released);
  context.Oracle("the buffer's allocation against the launches");
}

const harness::Registration registration({
    .name = "A9.buffer-outlives-all-launches",
    .summary = "A buffer held by a graph alone is valid in every launch and freed from the cleanup context",
    .covers = {"A9", "AP-19", "DC-03", "BR-01", "BR-16"},
    .catches = {"owners-released-in-the-callback"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
