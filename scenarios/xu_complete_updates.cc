// XU-03, EA-10: an executable's node is updated with its complete parameters, for each kind; the definition is not.
//
// Intent: from one definition with a node of each kind make two executables, and update every node of the first. It
// runs the new parameters with new operands, which it alone keeps; the second runs the old ones; the definition tells
// the old parameters and holds the old owners. Then the reverse: an update of the definition changes no executable.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/exec_node.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/launch_kernels.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

constexpr std::size_t kSizeBytes = 8;

// Operands of one set of parameters. Marks go by value, so that it can be told whose ran.
struct Operands {
  explicit Operands(std::uint8_t chosen_mark) : mark(chosen_mark) {}

  MemsetParameters Pattern() const { return {.value = mark, .width_elements = kSizeBytes}; }
  MemoryOperand FillTarget() { return MemoryOperand::Device(filled->address(), fill_owner.Take()); }
  MemoryOperand CopyTarget() { return MemoryOperand::Device(copied->address(), copy_owner.Take()); }
  MemoryOperand CopySource() const { return MemoryOperand::Device(filled); }
  HostCallback Callback() { return CountingCallback(runs, host_owner.Take()); }

  KernelArguments Arguments() {
    KernelArguments arguments;
    return arguments.Add(marked->address()).Add(std::uint32_t{mark}).AddOwner(argument_owner.Take());
  }

  std::vector<const OwnerProbe*> Owners() const { return {&fill_owner, &copy_owner, &host_owner, &argument_owner}; }

  // How many bytes of each kind the last launches have marked, and clears none.
  static std::ptrdiff_t Count(const DeviceMemoryHandle& memory, std::uint8_t mark) {
    const std::vector<std::uint8_t> bytes = DeviceSession::Read(memory);
    return std::count(bytes.begin(), bytes.end(), mark);
  }

  const std::uint8_t mark;
  const DeviceMemoryHandle filled = DeviceMemory::Allocate(kSizeBytes);
  const DeviceMemoryHandle copied = DeviceMemory::Allocate(kSizeBytes);
  const DeviceMemoryHandle marked = DeviceMemory::Allocate(kSizeBytes);
  EventHandle event = Event::Create();
  OwnerProbe fill_owner, copy_owner, host_owner, argument_owner;
  int runs = 0;
};

// fill -> copy -> mark blocks -> host -> record -> wait
struct Nodes {
  Nodes(GraphDefinition& graph, const KernelHandle& kernel, unsigned blocks, Operands& operands) {
    fill = graph.AddMemsetNode(operands.FillTarget(), operands.Pattern());
    copy = graph.AddMemcpyNode(operands.CopyTarget(), operands.CopySource(), kSizeBytes, {{fill}});
    mark = graph.AddKernelNode(kernel, {.grid = {blocks, 1, 1}}, operands.Arguments(), {{copy}});
    host = graph.AddHostNode(operands.Callback(), {{mark}});
    record = graph.AddEventRecordNode(operands.event, {{host}});
    wait = graph.AddEventWaitNode(operands.event, {{record}});
  }

  GraphNode fill, copy, mark, host, record, wait;
};

void UpdateAll(const GraphExec& executable, const Nodes& nodes, const KernelHandle& kernel, unsigned blocks,
               Operands& operands) {
  executable.Node(nodes.fill).UpdateMemset(operands.FillTarget(), operands.Pattern());
  executable.Node(nodes.copy).UpdateMemcpy(operands.CopyTarget(), operands.CopySource(), kSizeBytes);
  executable.Node(nodes.mark).UpdateKernel(kernel, {.grid = {blocks, 1, 1}}, operands.Arguments());
  executable.Node(nodes.host).UpdateHost(operands.Callback());
  executable.Node(nodes.record).UpdateEventRecord(operands.event);
  executable.Node(nodes.wait).UpdateEventWait(operands.event);
}

void LaunchAndCheck(harness::Context& context, const DeviceSession& session, const GraphExec& executable,
                    Operands& operands, unsigned blocks, const char* whose) {
  const int runs_before = operands.runs;
  executable.Launch(session.stream());
  session.stream()->Synchronize();
  const std::string where = std::string(" of ") + whose;
  context.Check(Operands::Count(operands.filled, operands.mark) == kSizeBytes, "the memset" + where + " runs");
  context.Check(Operands::Count(operands.copied, operands.mark) == kSizeBytes, "the memcpy" + where + " runs");
  context.Check(Operands::Count(operands.marked, operands.mark) == blocks,
                "the kernel" + where + " runs, block by block");
  context.Check(operands.runs == runs_before + 1, "the callback" + where + " runs");
}

void CheckDefinition(harness::Context& context, const Nodes& nodes, const KernelHandle& kernel,
                     const Operands& original) {
  context.Check(nodes.fill.Fill().pattern.value == original.mark &&
                    nodes.fill.Fill().destination.address == original.filled->address(),
                "the definition tells the memset that it had");
  context.Check(nodes.copy.Copy().destination.memory.address == original.copied->address(),
                "the definition tells the memcpy that it had");
  context.Check(nodes.mark.Kernel() == kernel && nodes.mark.KernelConfiguration().grid[0] == kSizeBytes,
                "the definition tells the kernel that it had");
  context.Check(nodes.record.Event() == original.event && nodes.wait.Event() == original.event,
                "the definition tells the events that it had");
  for (const OwnerProbe* owner : original.Owners()) {
    CheckAlive(context, *owner, "the definition has it");
  }
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  constexpr unsigned kNewBlocks = 3;
  const KernelHandle kernel = LoadLaunchKernels(context).mark_blocks;
  Operands original(0x11), updated(0x22), latest(0x33);
  std::optional<GraphDefinition> definition(std::in_place);
  std::optional<Nodes> nodes(std::in_place, *definition, kernel, kSizeBytes, original);
  std::optional<GraphExec> first(*definition);
  std::optional<GraphExec> second(*definition);
  const std::weak_ptr<const Event> updated_event = updated.event;

  UpdateAll(*first, *nodes, kernel, kNewBlocks, updated);
  updated.event = nullptr;
  Settle(context);
  CheckDefinition(context, *nodes, kernel, original);
  LaunchAndCheck(context, session, *first, updated, kNewBlocks, "the updated executable");
  context.Check(original.runs == 0, "the updated executable runs nothing of the old parameters");
  LaunchAndCheck(context, session, *second, original, kSizeBytes, "the other executable");

  nodes->host.UpdateHost(latest.Callback());
  nodes->fill.UpdateMemset({.destination = latest.FillTarget(), .value = latest.mark});
  LaunchAndCheck(context, session, *first, updated, kNewBlocks, "the updated executable");
  LaunchAndCheck(context, session, *second, original, kSizeBytes, "the other executable");
  context.Check(latest.runs == 0, "an update of the definition changes no executable");

  nodes.reset();
  definition.reset();
  second.reset();
  for (const OwnerProbe* owner :
       {&updated.fill_owner, &updated.copy_owner, &updated.host_owner, &updated.argument_owner}) {
    CheckAlive(context, *owner, "the updated executable has it");
  }
  context.Check(!updated_event.expired(), "and the event");
  first.reset();
  for (const OwnerProbe* owner : updated.Owners()) {
    CheckReleasedLate(context, *owner, "the updated executable is gone");
  }
  for (const OwnerProbe* owner : original.Owners()) {
    CheckReleasedLate(context, *owner, "definition and executables are gone");
  }
  context.Check(updated_event.expired(), "the event of the update goes with the executable");
  context.Oracle("parameters and owners of executables and of their definition");
}

const harness::Registration registration({
    .name = "XU.complete-updates",
    .summary = "An update of an executable's node changes that executable alone, for each kind, and keeps its operands",
    .covers = {"XU-03", "EA-10"},
    .catches = {"accepted-update-drops-its-owners"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
