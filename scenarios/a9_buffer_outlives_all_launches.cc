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
#include "scenarios/support/add_one_kernel.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"

namespace holdfast::scenarios {
namespace {

constexpr std::size_t kSizeBytes = 4096;
constexpr unsigned kThreads = 256;

// Fills a buffer, adds one to its first bytes, copies it to the host, records an event. The graph alone keeps buffer,
// kernel and event; the host side is the scenario's.
GraphDefinition Build(const harness::Context& context, std::vector<std::uint8_t>& result) {
  GraphDefinition graph;
  const DeviceMemoryHandle buffer = DeviceMemory::Allocate(kSizeBytes);
  const GraphNode fill =
      graph.AddMemsetNode(MemoryOperand::Device(buffer), {.value = 0x59, .width_elements = kSizeBytes});
  const GraphNode add = graph.AddKernelNode(LoadAddOneKernel(context), {.block = {kThreads, 1, 1}},
                                            KernelArguments().Add(buffer).Add(std::uint32_t{kThreads}), {{fill}});
  const GraphNode copy = graph.AddMemcpyNode(MemoryOperand::Host(result.data(), nullptr), MemoryOperand::Device(buffer),
                                             kSizeBytes, {{add}});
  graph.AddEventRecordNode(Event::Create(), {{copy}});
  return graph;
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartWorkerCleanup(context);
  std::vector<std::uint8_t> result(kSizeBytes);
  std::optional<GraphDefinition> graph(Build(context, result));
  std::optional<GraphExec> executable(*graph);
  graph.reset();
  for (int launch = 0; launch < 5; ++launch) {
    std::fill(result.begin(), result.end(), 0);
    executable->Launch(session.stream());
    session.stream()->Synchronize();
    context.Check(std::count(result.begin(), result.end(), 0x5a) == kThreads, "each launch finds buffer and kernel");
    context.Check(std::count(result.begin(), result.end(), 0x59) == kSizeBytes - kThreads,
                  "each launch fills the buffer");
    context.Check(context.shim().live().allocations == 1, "the buffer is allocated while the executable needs it");
  }
  executable.reset();
  context.CheckEventually(
      [&] {
        context.shim().release_held();
        const fault::LiveObjects live = context.shim().live();
        const bool all_gone = live.allocations == 0 && live.events == 0 && live.libraries == 0;
        return all_gone || driver::CleanupFailureCount() > 0;
      },
      "buffer, event and library are let go once nothing needs them");
  context.CheckUndisturbed(driver::CleanupFailureCount() == 0, "the driver refused no call of the cleanup");
  const bool shut_down = ShutdownCleanup();
  context.Check(shut_down, "the worker is shut down in order");
  const cleanup::CleanupCounters counters = cleanup::DeferredCleanup::Process().Counters();
  context.Check(counters.enqueued == counters.released, "what was enqueued was released");
  context.Count("released", counters.released);
  context.Oracle("the buffer's allocation against the launches");
}

const harness::Registration registration({
    .name = "A9.buffer-outlives-all-launches",
    .summary = "A buffer held by a graph alone is valid in every launch and freed from the cleanup context",
    .covers = {"A9", "AP-19", "AP-23", "AP-24", "DC-03", "BR-01", "BR-16"},
    .catches = {"owners-released-in-the-callback"},
    .variants = harness::MixedDeliveryVariants(),
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
