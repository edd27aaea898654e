// HC-08: a graph of all kinds of node, with the right numbers.
//
// Intent: an iteration that needs every kind of node at once. Allocate scratch memory, fill it, count up in a while
// loop by a kernel, embed a graph that adds one to each byte, decide with an if-else and a switch which results are
// marked, copy rows out to the host, record an event and wait for it, call back, free the memory. One part is captured
// from streams, the other built by hand around it. All is launched several times from the executable alone, and each
// number is compared with what it has to be.
//
// Interleaving: one thread, forked streams in the capture.
//
// Expected verdict: passed, and nothing is left in the end.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_builder.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/add_one_kernel.h"
#include "scenarios/support/captured_work.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/condition_kernels.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/launch_kernels.h"
#include "scenarios/support/live_objects.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

constexpr std::uint32_t kSizeBytes = 16;
constexpr std::uint32_t kRounds = 5;

// Where the numbers come out. The graph keeps all of it but the host side.
struct Results {
  std::vector<std::uint8_t> rows = std::vector<std::uint8_t>(kSizeBytes);
  std::vector<std::uint8_t> marks = std::vector<std::uint8_t>(4);
  std::uint32_t rounds = 0;
  int runs = 0;
};

// A while loop that counts to kRounds, and adds one to each byte of `bytes` in each round.
GraphNode AddLoop(GraphDefinition& graph, const harness::Context& context, const DeviceMemoryHandle& counter,
                  const DeviceMemoryHandle& bytes, const GraphNode& before) {
  const Condition condition = graph.MakeCondition(1);
  GraphNode loop = graph.AddWhileNode(condition, {{before}});
  GraphDefinition body = loop.Bodies().front();
  const GraphNode count = body.AddKernelNode(LoadConditionKernels(context).count_up_to, {},
                                             CountUpToArguments(condition, counter, kRounds));
  GraphDefinition round;
  round.AddKernelNode(LoadAddOneKernel(context), {.block = {kSizeBytes, 1, 1}},
                      KernelArguments().Add(bytes).Add(kSizeBytes));
  body.AddChildGraphNode(round, {{count}});
  return loop;
}

// An if-else whose second body has a switch of three; marks 1 for the switch's second body.
GraphNode AddDecisions(GraphDefinition& graph, const DeviceMemoryHandle& marks, const GraphNode& before) {
  GraphNode decision = graph.AddIfElseNode(graph.MakeCondition(0), {{before}});
  std::vector<GraphDefinition> branches = decision.Bodies();
  branches[0].AddMemsetNode(MemoryOperand::Device(marks), {.value = 0xff, .width_elements = 4});
  const GraphNode choice = branches[1].AddSwitchNode(graph.MakeCondition(1), 3);
  unsigned value = 0;
  for (GraphDefinition& body : choice.Bodies()) {
    const std::size_t at = value++;
    body.AddMemsetNode(MemoryOperand::Device(marks, at), {.value = value, .width_elements = 1});
  }
  return decision;
}

// Captures, from two streams: fill `bytes` and clear `marks`; then a callback behind both.
GraphBuilder CaptureBeginning(const DeviceMemoryHandle& bytes, const DeviceMemoryHandle& marks,
                              const DeviceMemoryHandle& counter, int& runs, OwnerProbe& owner) {
  GraphBuilder builder(Stream::Create());
  builder.Begin();
  std::vector<GraphBuilder> builders = builder.Split(3);
  EnqueueFill(builders[0].stream(), bytes, 10, kSizeBytes);
  EnqueueFill(builders[1].stream(), marks, 0, 4);
  EnqueueFill(builders[2].stream(), counter, 0, 4);
  GraphBuilder::Join(builders);
  builder.AddCallback(CountingCallback(runs, owner.Take()));
  builder.End();
  return builder;
}

// Copies `bytes` as rows of four into scratch memory of the graph's own, with a pitch of eight, and from there to the
// host.
GraphNode AddRows(GraphDefinition& graph, const DeviceMemoryHandle& bytes, Results& results, const GraphNode& before) {
  constexpr std::size_t kWidth = 4;
  constexpr std::size_t kRows = kSizeBytes / kWidth;
  const GraphNode allocation = graph.AddMemoryAllocationNode(kRows * 2 * kWidth, {{before}});
  const MemoryOperand scratch = MemoryOperand::Device(allocation.AllocatedAddress(), nullptr);
  const CopySide in_scratch{.memory = scratch, .pitch_bytes = 2 * kWidth};
  const CopySide in_bytes{.memory = MemoryOperand::Device(bytes), .pitch_bytes = kWidth};
  const CopySide on_the_host{.memory = MemoryOperand::Host(results.rows.data(), nullptr), .pitch_bytes = kWidth};
  const GraphNode in = graph.AddMemcpyNode(
      {.destination = in_scratch, .source = in_bytes, .width_bytes = kWidth, .height = kRows}, {{allocation}});
  const GraphNode out = graph.AddMemcpyNode(
      {.destination = on_the_host, .source = in_scratch, .width_bytes = kWidth, .height = kRows}, {{in}});
  return graph.AddMemoryFreeNode(allocation.AllocatedAddress(), {{out}});
}

GraphExec Build(const harness::Context& context, Results& results, OwnerProbe& captured, OwnerProbe& last) {
  const DeviceMemoryHandle bytes = DeviceMemory::Allocate(kSizeBytes);
  const DeviceMemoryHandle marks = DeviceMemory::Allocate(4);
  const DeviceMemoryHandle counter = DeviceMemory::Allocate(4);
  const GraphBuilder builder = CaptureBeginning(bytes, marks, counter, results.runs, captured);
  GraphDefinition graph = builder.Definition();
  const GraphNode begun = graph.AddEmptyNode(graph.Nodes());
  const GraphNode loop = AddLoop(graph, context, counter, bytes, begun);
  const GraphNode decision = AddDecisions(graph, marks, loop);
  const GraphNode rows = AddRows(graph, bytes, results, decision);
  const GraphNode mark = graph.AddKernelNode(LoadLaunchKernels(context).mark_blocks, {.grid = {1, 1, 1}},
                                             MarkBlocksArguments(marks, 9), {{rows}});
  const GraphNode copy_marks = graph.AddMemcpyNode(MemoryOperand::Host(results.marks.data(), nullptr),
                                                   MemoryOperand::Device(marks), 4, {{mark}});
  const GraphNode copy_rounds = graph.AddMemcpyNode(MemoryOperand::Host(&results.rounds, nullptr),
                                                    MemoryOperand::Device(counter), 4, {{copy_marks}});
  const EventHandle event = Event::Create();
  const GraphNode record = graph.AddEventRecordNode(event, {{copy_rounds}});
  const GraphNode wait = graph.AddEventWaitNode(event, {{record}});
  graph.AddHostNode(CountingCallback(results.runs, last.Take()), {{wait}});
  return builder.Complete();
}

void CheckResults(harness::Context& context, const Results& results, int launches) {
  context.Check(results.rounds == kRounds, "the loop ran " + std::to_string(results.rounds) + " times");
  context.Check(std::count(results.rows.begin(), results.rows.end(), 10 + kRounds) == kSizeBytes,
                "each round added one to each byte, and the rows came out as they went in");
  context.Check(results.marks == std::vector<std::uint8_t>({9, 2, 0, 0}),
                "the second branch ran, the second case in it, and one block of the kernel");
  context.Check(results.runs == 2 * launches, "both callbacks ran at each launch");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  const fault::LiveObjects before = context.shim().live();
  Results results;
  OwnerProbe captured, last;
  {
    const GraphExec executable = Build(context, results, captured, last);
    Settle(context);
    CheckAlive(context, captured, "the executable has it");
    for (int launch = 1; launch <= 3; ++launch) {
      results.rows.assign(kSizeBytes, 0);
      results.marks.assign(4, 0xee);
      executable.Launch(session.stream());
      session.stream()->Synchronize();
      CheckResults(context, results, launch);
    }
  }
  CheckReleasedLate(context, captured, "nothing needs it any more");
  CheckReleasedLate(context, last, "nothing needs it any more");
  CheckSameLive(context, before, "the executable is gone");
  context.Oracle("the numbers of a graph of all kinds of node");
}

const harness::Registration registration({
    .name = "HC.end-to-end",
    .summary = "A graph of all kinds of node, captured and built by hand, gives the right numbers at each launch",
    .covers = {"HC-08"},
    .catches = {},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
