// IH-09, IH-10, IH-12, IH-16: a node found through the graph is the node that was added; when nobody has a handle any
// more it is found with its kind, its parameters and the handles behind them.
//
// Intent: a chain of one node of each kind. While the handles live, the lists of nodes, edges and neighbours give those
// same handles. Then drop them all, and the kernel's and the event's as well: what is read back has the parameters that
// were given, and the kernel (with its library) and the event are the objects that were given, kept by the graph alone.
// Of an event that the library never had there is no handle.
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
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/add_one_kernel.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/nested_graphs.h"

namespace holdfast::scenarios {
namespace {

constexpr std::size_t kSizeBytes = 64;

void CUDA_CB Nothing(void*) {}

// What the nodes of the chain work on.
struct Operands {
  DeviceMemoryHandle first;
  DeviceMemoryHandle second;
  KernelHandle kernel;
  EventHandle event;
};

// One node of each kind, each behind the one before.
std::vector<GraphNode> AddChain(GraphDefinition& graph, const Operands& operands) {
  GraphDefinition inner;
  inner.AddEmptyNode();
  KernelArguments arguments;
  arguments.Add(operands.first).Add(std::uint32_t{kSizeBytes});
  std::vector<GraphNode> chain = {graph.AddEmptyNode()};
  chain.push_back(graph.AddHostNode({&Nothing, &graph, nullptr, nullptr}, {{chain.back()}}));
  chain.push_back(graph.AddMemsetNode(MemoryOperand::Device(operands.first), {.value = 7, .width_elements = kSizeBytes},
                                      {{chain.back()}}));
  chain.push_back(graph.AddMemcpyNode(MemoryOperand::Device(operands.second), MemoryOperand::Device(operands.first),
                                      kSizeBytes, {{chain.back()}}));
  chain.push_back(graph.AddKernelNode(operands.kernel, {.block = {kSizeBytes, 1, 1}}, arguments, {{chain.back()}}));
  chain.push_back(graph.AddEventRecordNode(operands.event, {{chain.back()}}));
  chain.push_back(graph.AddEventWaitNode(operands.event, {{chain.back()}}));
  chain.push_back(graph.AddChildGraphNode(inner, {{chain.back()}}));
  chain.push_back(graph.AddMemoryAllocationNode(kSizeBytes, {{chain.back()}}));
  chain.push_back(graph.AddMemoryFreeNode(chain.back().AllocatedAddress(), {{chain.back()}}));
  return chain;
}

bool IsOnly(const std::vector<GraphNode>& nodes, const GraphNode& node) {
  return nodes.size() == 1 && nodes.front() == node;
}

void CheckSameHandles(harness::Context& context, const GraphDefinition& graph, const std::vector<GraphNode>& chain) {
  const std::vector<GraphNode> listed = graph.Nodes();
  context.Check(std::is_permutation(listed.begin(), listed.end(), chain.begin(), chain.end()),
                "the list of nodes gives the handles that exist");
  const std::vector<GraphEdge> edges = graph.Edges();
  context.Check(edges.size() == chain.size() - 1, "the list of edges gives each edge");
  for (std::size_t i = 0; i < chain.size(); ++i) {
    context.Check(chain[i].Graph() == graph, "a node's graph is the one that it was added to");
    if (i == 0) {
      continue;
    }
    const bool listed_edge = std::any_of(edges.begin(), edges.end(), [&](const GraphEdge& edge) {
      return edge.from == chain[i - 1] && edge.to == chain[i];
    });
    context.Check(listed_edge, "the list of edges gives the handles that exist");
    context.Check(IsOnly(chain[i].Predecessors(), chain[i - 1]) && IsOnly(chain[i - 1].Successors(), chain[i]),
                  "the neighbours of a node are the handles that exist");
  }
  context.Check(chain.front().Predecessors().empty() && chain.back().Successors().empty(), "the ends have no more");
}

void CheckParameters(harness::Context& context, const GraphDefinition& graph, const Operands& operands) {
  const FillParameters fill = NodeOfType(graph, CU_GRAPH_NODE_TYPE_MEMSET).Fill();
  context.Check(fill.destination.address == operands.first->address() && fill.pattern.value == 7 &&
                    fill.pattern.width_elements == kSizeBytes && fill.pattern.height == 1,
                "a memset node that is found again has its parameters");
  const CopyParameters copy = NodeOfType(graph, CU_GRAPH_NODE_TYPE_MEMCPY).Copy();
  context.Check(copy.destination.memory.address == operands.second->address() &&
                    copy.source.memory.address == operands.first->address() && copy.width_bytes == kSizeBytes,
                "a memcpy node that is found again has its parameters");
  const LaunchConfiguration launch = NodeOfType(graph, CU_GRAPH_NODE_TYPE_KERNEL).KernelConfiguration();
  context.Check(launch.block[0] == kSizeBytes && launch.grid[0] == 1 && !launch.cooperative,
                "a kernel node that is found again has its configuration");
  const CUdeviceptr allocated = NodeOfType(graph, CU_GRAPH_NODE_TYPE_MEM_ALLOC).AllocatedAddress();
  context.Check(allocated != 0 && NodeOfType(graph, CU_GRAPH_NODE_TYPE_MEM_FREE).FreedAddress() == allocated,
                "memory nodes that are found again have their address");
  context.Check(NodeOfType(graph, CU_GRAPH_NODE_TYPE_GRAPH).ChildGraph().Nodes().size() == 1,
                "a child-graph node that is found again has its graph");
}

// REQUIRES: nothing but the graph holds kernel and event.
void CheckRecoveredHandles(harness::Context& context, const GraphDefinition& graph, const Kernel* kernel,
                           const Event* event) {
  const KernelHandle found_kernel = NodeOfType(graph, CU_GRAPH_NODE_TYPE_KERNEL).Kernel();
  context.Check(found_kernel.get() == kernel, "the kernel of a node is the one that was given");
  context.Check(found_kernel->library() != nullptr && context.shim().live().libraries == 1,
                "the kernel that is found again keeps its library");
  context.Check(NodeOfType(graph, CU_GRAPH_NODE_TYPE_EVENT_RECORD).Event().get() == event &&
                    NodeOfType(graph, CU_GRAPH_NODE_TYPE_WAIT_EVENT).Event().get() == event,
                "the event of a node is the one that was given");
}

void CheckForeignEvent(harness::Context& context) {
  CUevent raw = nullptr;
  driver::Check("cuEventCreate", driver::GetDriver().cuEventCreate(&raw, 0u), "making an event by other means");
  {
    GraphDefinition graph;
    CUgraphNode node = nullptr;
    driver::Check("cuGraphAddEventRecordNode",
                  driver::GetDriver().cuGraphAddEventRecordNode(&node, graph.raw(), nullptr, 0, raw),
                  "adding a node by other means");
    const GraphNode found = NodeOfType(graph, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    context.Check(found.raw() == node && found.Event() == nullptr && found.Owners().empty(),
                  "of an event that the library never had there is no handle");
  }
  driver::Check("cuEventDestroy", driver::GetDriver().cuEventDestroy(raw), "destroying the event");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  std::optional<GraphDefinition> graph(std::in_place);
  Operands operands{DeviceMemory::Allocate(kSizeBytes), DeviceMemory::Allocate(kSizeBytes), LoadAddOneKernel(context),
                    Event::Create()};
  std::vector<CUgraphNodeType> types;
  {
    const std::vector<GraphNode> chain = AddChain(*graph, operands);
    CheckSameHandles(context, *graph, chain);
    for (const GraphNode& node : chain) {
      types.push_back(node.type());
    }
  }
  std::vector<CUgraphNodeType> found;
  for (const GraphNode& node : graph->Nodes()) {
    found.push_back(node.type());
  }
  context.Check(std::is_permutation(found.begin(), found.end(), types.begin(), types.end()),
                "nodes that are found again are of the kind that they were");
  CheckParameters(context, *graph, operands);

  const std::weak_ptr<const Kernel> kernel = operands.kernel;
  const std::weak_ptr<const Event> event = operands.event;
  const Kernel* const kernel_given = operands.kernel.get();
  const Event* const event_given = operands.event.get();
  operands = {};
  CheckRecoveredHandles(context, *graph, kernel_given, event_given);
  graph.reset();
  context.CheckEventually(
      [&] {
        Settle(context);
        return kernel.expired() && event.expired();
      },
      "kernel and event go with the graph");
  CheckForeignEvent(context);
  context.Oracle("each kind of node, by each list, with and without handles");
}

const harness::Registration registration({
    .name = "IH.nodes-come-back",
    .summary = "Lists and neighbours give the handles that exist, else new ones with the parameters that were given",
    .covers = {"IH-09", "IH-10", "IH-12", "IH-16"},
    .catches = {"each-look-makes-a-new-node"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
