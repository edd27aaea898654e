// NU-S, NU-3: what an update of a memset node keeps and what it replaces.
//
// Intent: update destination, value, element size, width and rows one by one; what is not given stays, the
// destination's owner with it, and a launch proves the numbers. Values that do not fit their elements, other element
// sizes and host addresses are refused before the driver is asked. The node runs in the context that it was added in,
// also when none is current at the update: no context is changed for it, so no restoring of one can fail.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with one fault fired.
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_bytes.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/expected_errors.h"
#include "scenarios/support/live_objects.h"
#include "scenarios/support/operation_state.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

constexpr std::size_t kSizeBytes = 32;

// What a launch of the graph writes into cleared memory.
Bytes Launch(const DeviceSession& session, const GraphDefinition& graph, const DeviceMemoryHandle& memory) {
  WriteBytes(memory, Bytes(memory->size_bytes()));
  const GraphExec executable(graph);
  executable.Launch(session.stream());
  session.stream()->Synchronize();
  return DeviceSession::Read(memory);
}

// `count` elements of `size_bytes` with the value, from byte `at`.
void Put(Bytes& bytes, std::size_t at, std::uint32_t value, std::size_t size_bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(bytes.data() + at + i * size_bytes, &value, size_bytes);
  }
}

void CheckPartialUpdates(harness::Context& context, const DeviceSession& session) {
  OwnerProbe first, second;
  const DeviceMemoryHandle memory = DeviceMemory::Allocate(kSizeBytes);
  const DeviceMemoryHandle other = DeviceMemory::Allocate(kSizeBytes);
  std::optional<GraphDefinition> graph(std::in_place);
  GraphNode node =
      graph->AddMemsetNode(MemoryOperand::Device(memory->address(), first.Take()), {.value = 7, .width_elements = 4});
  node.UpdateMemset(MemsetUpdate{});
  node.UpdateMemset({.value = 9});
  Bytes expected(kSizeBytes);
  Put(expected, 0, 9, 1, 4);
  context.Check(Launch(session, *graph, memory) == expected, "a new value, on the old bytes");
  node.UpdateMemset({.width_elements = 6});
  Put(expected, 0, 9, 1, 6);
  context.Check(Launch(session, *graph, memory) == expected, "a new width, of the old value");
  node.UpdateMemset({.value = 0x1234, .element_size_bytes = 2});
  Put(expected, 0, 0x1234, 2, 6);
  context.Check(Launch(session, *graph, memory) == expected, "a new element size, with its value");
  node.UpdateMemset({.width_elements = 3, .height = 2, .pitch_bytes = 8});
  expected.assign(kSizeBytes, 0);
  Put(expected, 0, 0x1234, 2, 3);
  Put(expected, 8, 0x1234, 2, 3);
  context.Check(Launch(session, *graph, memory) == expected, "several rows");
  node.UpdateMemset({.value = 0x12345678, .element_size_bytes = 4, .width_elements = 1, .height = 1});
  expected.assign(kSizeBytes, 0);
  Put(expected, 0, 0x12345678, 4, 1);
  context.Check(Launch(session, *graph, memory) == expected, "one row again");
  CheckAlive(context, first, "no update gave another destination");

  node.UpdateMemset({.destination = MemoryOperand::Device(other->address(), second.Take())});
  CheckReleasedLate(context, first, "its destination was replaced");
  context.Check(Launch(session, *graph, other) == expected, "the rest of the parameters, at the new destination");
  node = GraphNode();
  graph.reset();
  CheckReleasedLate(context, second, "the graph is gone");
}

void CheckRefusals(harness::Context& context) {
  OwnerProbe owner, refused;
  const DeviceMemoryHandle memory = DeviceMemory::Allocate(kSizeBytes);
  GraphDefinition graph;
  GraphNode node =
      graph.AddMemsetNode(MemoryOperand::Device(memory->address(), owner.Take()), {.value = 7, .width_elements = 4});
  GraphNode other = graph.AddEmptyNode();
  const GraphNode handles[] = {node};
  const OperationState before = OperationState::Of(context, graph, handles);
  std::uint8_t on_the_host = 0;
  const std::pair<const char*, MemsetUpdate> wrong[] = {
      {"a value of two bytes for elements of one", {.value = 0x100}},
      {"a value of three bytes for elements of two", {.value = 0x10000, .element_size_bytes = 2}},
      {"elements of three bytes", {.element_size_bytes = 3}},
      {"elements of no bytes", {.element_size_bytes = 0}},
      {"a destination on the host", {.destination = MemoryOperand::Host(&on_the_host, nullptr)}},
  };
  for (const auto& [what, update] : wrong) {
    CheckThrows<std::invalid_argument>(context, what, [&, &given = update] { node.UpdateMemset(given); });
  }
  CheckThrows<std::invalid_argument>(context, "adding a memset of elements of three bytes", [&] {
    graph.AddMemsetNode(MemoryOperand::Device(memory), {.element_size_bytes = 3, .width_elements = 1});
  });
  CheckMisuse(context, "updating another kind as a memset", "UpdateMemset", [&] { other.UpdateMemset({.value = 1}); });

  context.shim().announce_step("refused");
  CheckRefused(context, "an update that the driver refuses", [&] {
    node.UpdateMemset({.destination = MemoryOperand::Device(memory->address(), refused.Take()), .value = 8});
  });
  context.shim().announce_step("after");
  context.RequireFaults("cuGraphNodeSetParams");
  Settle(context);
  CheckReleasedOnce(context, refused, "its update was refused");
  CheckAlive(context, owner, "the node is as it was");
  CheckUnchanged(context, before, OperationState::Of(context, graph, handles), "every update was refused");
}

void CheckContextIsKept(harness::Context& context, const DeviceSession& session) {
  const DeviceMemoryHandle memory = DeviceMemory::Allocate(kSizeBytes);
  GraphDefinition graph;
  GraphNode node = graph.AddMemsetNode(MemoryOperand::Device(memory), {.value = 7, .width_elements = 4});
  const auto& driver = driver::GetDriver();
  driver::Check("cuCtxSetCurrent", driver.cuCtxSetCurrent(nullptr), "making no context current");
  const std::uint64_t changes_before = context.shim().calls("cuCtxSetCurrent");
  node.UpdateMemset({.value = 8});
  context.Check(context.shim().calls("cuCtxSetCurrent") == changes_before, "an update changes no context");
  CUcontext current = nullptr;
  driver::Check("cuCtxGetCurrent", driver.cuCtxGetCurrent(&current), "asking for the current context");
  context.Check(current == nullptr, "none is current after it either");
  session.MakeCurrent();
  Bytes expected(kSizeBytes);
  Put(expected, 0, 8, 1, 4);
  context.Check(Launch(session, graph, memory) == expected, "the node runs where it was added");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckPartialUpdates(context, session);
  CheckRefusals(context);
  CheckContextIsKept(context, session);
  CheckNoOwnersLeft(context);
  context.Oracle("memset nodes, their memory and owners after each update");
}

const harness::Registration registration({
    .name = "NU.memset",
    .summary =
        "An update of a memset node keeps what is not given, its owner and its context, and refuses what is wrong",
    .covers = {"NU-S", "NU-3"},
    .catches = {},
    .plan = {"cuGraphNodeSetParams:nth=1,step=refused,count=step,return=CUDA_ERROR_OUT_OF_MEMORY"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
