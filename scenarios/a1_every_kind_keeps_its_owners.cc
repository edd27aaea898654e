// A1: whatever a node refers to stays alive while the graph or an executable needs it, for every kind of node.
//
// Intent: build one graph with a kernel, memcpy, memset, host, event-record and event-wait node; give away every
// reference; run it; destroy executable and graph. The numbers that come out prove that the operands were there.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed; each owner is released once, in the cleanup context, and only after the last holder is
// gone.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/add_one_kernel.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

constexpr std::size_t kSizeBytes = 64;

// One owner for each operand of the graph below.
struct Probes {
  OwnerProbe memset_target, copy_target, copy_source, host_function, host_data, kernel_argument;

  std::vector<const OwnerProbe*> All() const {
    return {&memset_target, &copy_target, &copy_source, &host_function, &host_data, &kernel_argument};
  }
};

// memset(first, 7) -> add_one(first) -> second = first -> host -> record event -> wait for event
void Build(GraphDefinition& graph, const DeviceMemoryHandle& first, const DeviceMemoryHandle& second,
           const KernelHandle& kernel, int& runs, Probes& probes) {
  const GraphNode fill = graph.AddMemsetNode(MemoryOperand::Device(first->address(), probes.memset_target.Take()),
                                             {.value = 7, .element_size_bytes = 1, .width_elements = kSizeBytes});
  KernelArguments arguments;
  arguments.Add(first->address()).Add(std::uint32_t{kSizeBytes}).AddOwner(probes.kernel_argument.Take());
  const GraphNode add = graph.AddKernelNode(kernel, {.block = {kSizeBytes, 1, 1}}, arguments, {{fill}});
  const GraphNode copy =
      graph.AddMemcpyNode(MemoryOperand::Device(second->address(), probes.copy_target.Take()),
                          MemoryOperand::Device(first->address(), probes.copy_source.Take()), kSizeBytes, {{add}});
  const GraphNode host = graph.AddHostNode(
      {[](void* data) { ++*static_cast<int*>(data); }, &runs, probes.host_function.Take(), probes.host_data.Take()},
      {{copy}});
  const EventHandle event = Event::Create();
  const GraphNode record = graph.AddEventRecordNode(event, {{host}});
  graph.AddEventWaitNode(event, {{record}});
}

void CheckAllAlive(harness::Context& context, const Probes& probes, const char* why) {
  for (const OwnerProbe* probe : probes.All()) {
    CheckAlive(context, *probe, why);
  }
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  const DeviceMemoryHandle first = DeviceMemory::Allocate(kSizeBytes);
  const DeviceMemoryHandle second = DeviceMemory::Allocate(kSizeBytes);
  int runs = 0;
  Probes probes;
  std::optional<GraphDefinition> graph(std::in_place);
  {
    const KernelHandle kernel = LoadAddOneKernel(context);
    Build(*graph, first, second, kernel, runs, probes);
  }
  Settle(context);
  CheckAllAlive(context, probes, "the definition needs it");
  context.Check(context.shim().live().libraries == 1, "the kernel's library stays loaded for its node");
  context.Check(context.shim().live().events == 1, "the event stays alive for its nodes");
  context.Check(graph->attachment_count() == 6, "each of the six nodes has an attachment");

  std::optional<GraphExec> executable(*graph);
  graph.reset();
  Settle(context);
  CheckAllAlive(context, probes, "the executable needs it");
  executable->Launch(session.stream());
  executable->Launch(session.stream());
  session.stream()->Synchronize();
  context.Check(runs == 2, "the host node runs once a launch");
  const std::vector<std::uint8_t> bytes = DeviceSession::Read(second);
  context.Check(std::count(bytes.begin(), bytes.end(), 8) == kSizeBytes, "memset, kernel and copy give 7 + 1");

  executable.reset();
  context.CheckEventually(
      [&] {
        Settle(context);
        return probes.host_function.releases() > 0 && context.shim().live().libraries == 0;
      },
      "the owners are released after the last holder is gone");
  Settle(context);
  for (const OwnerProbe* probe : probes.All()) {
    CheckReleasedOnce(context, *probe, "nothing needs it any more");
  }
  context.Oracle("owners of every kind of node");
}

const harness::Registration registration({
    .name = "A1.every-kind-keeps-its-owners",
    .summary = "The operands of every kind of node live until the last graph, executable or launch is gone",
    .covers = {"A1", "AP-05", "AP-10", "AP-16", "AP-17", "AP-19", "AP-20", "AP-23", "AP-24", "EX-07", "HC-01", "HC-03",
               "BR-01", "BR-04", "BR-06"},
    .catches = {"memcpy-forgets-its-source"},
    .variants = harness::MixedDeliveryVariants(),
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
