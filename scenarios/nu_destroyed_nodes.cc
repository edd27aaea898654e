// NU-2: a destroyed node takes no update and stays out of the graph.
//
// Intent: destroy a node of each kind and try each update on it, also when a new node has got its raw handle from the
// driver. Each is refused with an error that names the operation, no driver call is made, and the new node is as it
// was.
//
// Interleaving: one thread.
//
// Expected verdict: passed.
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/add_one_kernel.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/expected_errors.h"
#include "scenarios/support/operation_state.h"

namespace holdfast::scenarios {
namespace {

constexpr std::size_t kSizeBytes = 16;

struct Kind {
  const char* update_name;
  std::function<GraphNode(GraphDefinition&)> add;
  std::function<void(GraphNode&)> update;
};

void CheckKind(harness::Context& context, const Kind& kind) {
  GraphDefinition graph;
  GraphNode node = kind.add(graph);
  node.Destroy();
  // The driver gives the raw handle out again at once (fact N1).
  const GraphNode younger = kind.add(graph);
  const GraphNode handles[] = {younger};
  const OperationState before = OperationState::Of(context, graph, handles);
  const std::uint64_t calls_before = context.shim().calls("cuGraphNodeSetParams");
  CheckMisuse(context, std::string("an update of a destroyed node: ") + kind.update_name, kind.update_name,
              [&] { kind.update(node); });
  context.Check(context.shim().calls("cuGraphNodeSetParams") == calls_before, "the driver is not asked");
  CheckUnchanged(context, before, OperationState::Of(context, graph, handles),
                 std::string(kind.update_name) + " was tried on a destroyed node");
  context.Check(!node.IsValid() && graph.Nodes() == std::vector<GraphNode>{younger}, "the node stays out of the graph");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  const DeviceMemoryHandle memory = DeviceMemory::Allocate(kSizeBytes);
  const DeviceMemoryHandle other = DeviceMemory::Allocate(kSizeBytes);
  const KernelHandle kernel = LoadAddOneKernel(context);
  const EventHandle event = Event::Create();
  const KernelArguments arguments = KernelArguments().Add(memory).Add(std::uint32_t{kSizeBytes});
  int runs = 0;
  const Kind kinds[] = {
      {"UpdateKernel", [&](GraphDefinition& graph) { return graph.AddKernelNode(kernel, {}, arguments); },
       [&](GraphNode& node) { node.UpdateKernel({.arguments = arguments}); }},
      {"UpdateMemset",
       [&](GraphDefinition& graph) {
         return graph.AddMemsetNode(MemoryOperand::Device(memory), {.width_elements = kSizeBytes});
       },
       [](GraphNode& node) { node.UpdateMemset({.value = 1}); }},
      {"UpdateMemcpy",
       [&](GraphDefinition& graph) {
         return graph.AddMemcpyNode(MemoryOperand::Device(memory), MemoryOperand::Device(other), kSizeBytes);
       },
       [](GraphNode& node) { node.UpdateMemcpy(MemcpyUpdate{.size_bytes = 1}); }},
      {"UpdateHost", [&](GraphDefinition& graph) { return graph.AddHostNode(CountingCallback(runs)); },
       [&](GraphNode& node) { node.UpdateHost(CountingCallback(runs)); }},
      {"UpdateEventRecord", [&](GraphDefinition& graph) { return graph.AddEventRecordNode(event); },
       [&](GraphNode& node) { node.UpdateEventRecord(event); }},
      {"UpdateEventWait", [&](GraphDefinition& graph) { return graph.AddEventWaitNode(event); },
       [&](GraphNode& node) { node.UpdateEventWait(event); }},
      {"UpdateChildGraph", [](GraphDefinition& graph) { return graph.AddChildGraphNode(GraphDefinition()); },
       [](GraphNode& node) { node.UpdateChildGraph(GraphDefinition()); }},
  };
  for (const Kind& kind : kinds) {
    CheckKind(context, kind);
  }
  context.Oracle("the graph after updates of destroyed nodes of every kind");
}

const harness::Registration registration({
    .name = "NU.destroyed-nodes",
    .summary = "A destroyed node of any kind takes no update, and a younger node with its raw handle is not touched",
    .covers = {"NU-2", "DL-03"},
    .catches = {},
    .variants = harness::SingleVariant(),
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
