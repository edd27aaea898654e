// NU-C, NU-3: what an update of a memcpy node keeps and what it replaces.
//
// Intent: update destination, source and size one by one, from device to host memory and back; each side that is not
// given stays, with its owner, and a launch proves the bytes. A copy of several rows is updated whole or not at all. A
// refusal of the driver leaves node and owners as they were. The node runs in the context that it was added in.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with one fault fired.
#include <cstdint>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
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

constexpr std::size_t kSizeBytes = 16;

// Device memory with the bytes first, first + 1, ...
DeviceMemoryHandle Numbered(std::uint8_t first) {
  Bytes bytes(kSizeBytes);
  std::iota(bytes.begin(), bytes.end(), first);
  return AllocateWith(bytes);
}

void LaunchOnce(const DeviceSession& session, const GraphDefinition& graph) {
  const GraphExec executable(graph);
  executable.Launch(session.stream());
  session.stream()->Synchronize();
}

void CheckPartialUpdates(harness::Context& context, const DeviceSession& session) {
  OwnerProbe first_target, first_source, second_source, host_target;
  const DeviceMemoryHandle target = AllocateZeroed(kSizeBytes);
  const DeviceMemoryHandle low = Numbered(10);
  const DeviceMemoryHandle high = Numbered(100);
  Bytes on_the_host(kSizeBytes);
  std::optional<GraphDefinition> graph(std::in_place);
  GraphNode node = graph->AddMemcpyNode(MemoryOperand::Device(target->address(), first_target.Take()),
                                        MemoryOperand::Device(low->address(), first_source.Take()), 4);
  node.UpdateMemcpy(MemcpyUpdate{});
  node.UpdateMemcpy(MemcpyUpdate{.size_bytes = 8});
  LaunchOnce(session, *graph);
  Bytes bytes = DeviceSession::Read(target);
  context.Check(bytes[7] == 17 && bytes[8] == 0, "a new size, between the old sides");
  CheckAlive(context, first_target, "the destination is kept");
  CheckAlive(context, first_source, "the source is kept");

  node.UpdateMemcpy(MemcpyUpdate{.source = MemoryOperand::Device(high->address(), second_source.Take())});
  CheckReleasedLate(context, first_source, "its side was replaced");
  LaunchOnce(session, *graph);
  bytes = DeviceSession::Read(target);
  context.Check(bytes[7] == 107 && bytes[8] == 0, "a new source, to the old destination in the old size");
  CheckAlive(context, first_target, "the destination is kept");

  node.UpdateMemcpy(MemcpyUpdate{.destination = MemoryOperand::Host(on_the_host.data(), host_target.Take())});
  CheckReleasedLate(context, first_target, "its side was replaced");
  LaunchOnce(session, *graph);
  context.Check(on_the_host[7] == 107 && on_the_host[8] == 0, "a destination on the host, from the old source");
  CheckAlive(context, second_source, "the source is kept");
  node.UpdateMemcpy(MemcpyUpdate{.destination = MemoryOperand::Device(target), .size_bytes = kSizeBytes});
  CheckReleasedLate(context, host_target, "its side was replaced");
  LaunchOnce(session, *graph);
  context.Check(DeviceSession::Read(target) == DeviceSession::Read(high), "back to the device, in a new size");
  node = GraphNode();
  graph.reset();
  CheckReleasedLate(context, second_source, "the graph is gone");
}

void CheckRefusals(harness::Context& context) {
  OwnerProbe target_owner, source_owner, refused;
  const DeviceMemoryHandle target = DeviceMemory::Allocate(kSizeBytes);
  const DeviceMemoryHandle source = Numbered(1);
  GraphDefinition graph;
  GraphNode node = graph.AddMemcpyNode(MemoryOperand::Device(target->address(), target_owner.Take()),
                                       MemoryOperand::Device(source->address(), source_owner.Take()), 4);
  GraphNode rows = graph.AddMemcpyNode({.destination = {.memory = MemoryOperand::Device(target), .pitch_bytes = 8},
                                        .source = {.memory = MemoryOperand::Device(source), .pitch_bytes = 8},
                                        .width_bytes = 4,
                                        .height = 2});
  GraphNode other = graph.AddEmptyNode();
  const GraphNode handles[] = {node, rows};
  const OperationState before = OperationState::Of(context, graph, handles);
  CheckMisuse<std::invalid_argument>(context, "a partial update of a copy of several rows", "UpdateMemcpy",
                                     [&] { rows.UpdateMemcpy(MemcpyUpdate{.size_bytes = 4}); });
  CheckMisuse(context, "updating another kind as a memcpy", "UpdateMemcpy",
              [&] { other.UpdateMemcpy(MemcpyUpdate{.size_bytes = 4}); });
  CheckRefused(context, "a copy past the end of its memory",
               [&] { node.UpdateMemcpy(MemcpyUpdate{.size_bytes = std::size_t{1} << 40}); });
  context.shim().announce_step("refused");
  CheckRefused(context, "an update that the driver refuses", [&] {
    node.UpdateMemcpy(
        MemcpyUpdate{.source = MemoryOperand::Device(source->address() + 4, refused.Take()), .size_bytes = 8});
  });
  context.shim().announce_step("after");
  context.RequireFaults("cuGraphNodeSetParams");
  Settle(context);
  CheckReleasedOnce(context, refused, "its update was refused");
  CheckAlive(context, target_owner, "the node is as it was");
  CheckAlive(context, source_owner, "the node is as it was");
  CheckUnchanged(context, before, OperationState::Of(context, graph, handles), "every update was refused");
}

void CheckContextIsKept(harness::Context& context, const DeviceSession& session) {
  const DeviceMemoryHandle target = DeviceMemory::Allocate(kSizeBytes);
  const DeviceMemoryHandle source = Numbered(1);
  GraphDefinition graph;
  GraphNode node = graph.AddMemcpyNode(MemoryOperand::Device(target), MemoryOperand::Device(source), 4);
  driver::Check("cuCtxSetCurrent", driver::GetDriver().cuCtxSetCurrent(nullptr), "making no context current");
  const std::uint64_t changes_before = context.shim().calls("cuCtxSetCurrent");
  node.UpdateMemcpy(MemcpyUpdate{.size_bytes = kSizeBytes});
  context.Check(context.shim().calls("cuCtxSetCurrent") == changes_before, "an update changes no context");
  session.MakeCurrent();
  LaunchOnce(session, graph);
  context.Check(DeviceSession::Read(target) == DeviceSession::Read(source), "the node runs where it was added");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckPartialUpdates(context, session);
  CheckRefusals(context);
  CheckContextIsKept(context, session);
  CheckNoOwnersLeft(context);
  context.Oracle("memcpy nodes, their bytes and owners after each update");
}

const harness::Registration registration({
    .name = "NU.memcpy",
    .summary = "An update of a memcpy node keeps each side that is not given, with its owner, and the node's context",
    .covers = {"NU-C", "NU-3"},
    .catches = {"partial-update-forgets-the-kept-side"},
    .plan = {"cuGraphNodeSetParams:nth=1,step=refused,count=step,return=CUDA_ERROR_OUT_OF_MEMORY"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
