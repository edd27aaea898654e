#include "lib/graph/graph_definition.h"

#include <array>
#include <stdexcept>
#include <utility>

#include "lib/attachments/hierarchy.h"
#include "lib/attachments/node_records.h"
#include "lib/attachments/transaction.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/kernel_attributes.h"
#include "lib/graph/node_handles.h"
#include "lib/graph/node_parameters.h"
#include "lib/graph/operation_scope.h"
#include "lib/graph/owning_nodes.h"
#include "lib/graph/topology.h"

namespace holdfast {
namespace {

using attachments::AttachmentTransaction;
using attachments::Hierarchy;
using attachments::NodeRecord;
using attachments::NodeRecords;
using driver::Check;
using driver::GetDriver;
using graph::OperationScope;

template <typename Handle>
void RequireHandle(const Handle& handle, const char* what) {
  if (handle == nullptr) {
    throw std::invalid_argument(std::string(what) + " is null");
  }
}

}  // namespace

class GraphDefinition::Addition {
 public:
  // Throws std::logic_error for a dependency that is gone or belongs to another graph, std::bad_alloc.
  Addition(const GraphDefinition& graph, CUgraphNodeType type, Dependencies dependencies, const char* doing)
      : dependencies_(RawNodes(graph, dependencies, doing, "a dependency")),
        record_(std::make_shared<NodeRecord>(graph.box_, type)),
        room_(graph.box_->node_records().MakeRoom()) {}

  std::span<const CUgraphNode> dependencies() const noexcept { return dependencies_; }

  // REQUIRES: called once, for the node that the driver has added.
  GraphNode Publish(CUgraphNode node) noexcept {
    record_->graph()->node_records().Add(node, record_, std::move(room_));
    return GraphNode(std::move(record_));
  }

  // Throws as the constructor, naming each of the nodes as `what`.
  static std::vector<CUgraphNode> RawNodes(const GraphDefinition& graph, std::span<const GraphNode> nodes,
                                           const char* doing, const char* what) {
    std::vector<CUgraphNode> raw_nodes;
    raw_nodes.reserve(nodes.size());
    for (const GraphNode& node : nodes) {
      if (!node.IsValid()) {
        throw std::logic_error(std::string(doing) + ": " + what + " has been destroyed or never was");
      }
      if (node.record_->graph() != graph.box_) {
        throw std::logic_error(std::string(doing) + ": " + what + " belongs to another graph");
      }
      raw_nodes.push_back(node.raw());
    }
    return raw_nodes;
  }

 private:
  std::vector<CUgraphNode> dependencies_;
  std::shared_ptr<NodeRecord> record_;
  NodeRecords::Room room_;
};

template <typename AddCall>
GraphNode GraphDefinition::AddPlainNode(CUgraphNodeType type, std::span<const OpaqueHandle> owners, CUcontext context,
                                        Dependencies dependencies, const char* call, const char* doing, AddCall add) {
  Addition addition(*this, type, dependencies, doing);
  AttachmentTransaction transaction(*box_, owners, context);
  CUgraphNode node = nullptr;
  const std::span<const CUgraphNode> before = addition.dependencies();
  Check(call, add(&node, box_->graph(), before.data(), before.size()), doing);
  transaction.Commit(node);
  return addition.Publish(node);
}

GraphDefinition::GraphDefinition() : box_(Hierarchy::CreateRoot()) {}

GraphDefinition GraphDefinition::Adopt(CUgraph root) {
  if (root == nullptr) {
    throw std::invalid_argument("GraphDefinition::Adopt: the graph is null");
  }
  // A child or body of that handle is gone, and its thread about to say so: CUDA has given the handle out again.
  const attachments::GraphHandle known = Hierarchy::Find(root);
  if (known != nullptr && known->kind() == attachments::GraphBox::Kind::kRoot) {
    throw std::invalid_argument("GraphDefinition::Adopt: the library knows the graph already; use Find");
  }
  attachments::GraphHandle box = Hierarchy::PrepareRoot();
  Hierarchy::PublishRoot(box, root);
  return GraphDefinition(std::move(box));
}

std::optional<GraphDefinition> GraphDefinition::Find(CUgraph raw) {
  attachments::GraphHandle box = raw != nullptr ? Hierarchy::Find(raw) : nullptr;
  return box != nullptr ? std::optional(GraphDefinition(std::move(box))) : std::nullopt;
}

GraphDefinition GraphDefinition::Clone() const {
  const OperationScope scope(*box_, "GraphDefinition::Clone");
  box_->hierarchy().RequireWhole("GraphDefinition::Clone");
  return GraphDefinition(Hierarchy::CloneRoot(*box_));
}

std::vector<GraphNode> GraphDefinition::Nodes() const {
  const OperationScope scope(*box_, "GraphDefinition::Nodes");
  std::vector<GraphNode> nodes;
  const std::vector<CUgraphNode> raw_nodes = graph::ListNodes(box_->graph());
  nodes.reserve(raw_nodes.size());
  for (const CUgraphNode node : raw_nodes) {
    nodes.push_back(GraphNode(graph::FindOrMakeRecord(box_, node)));
  }
  return nodes;
}

std::vector<GraphEdge> GraphDefinition::Edges() const {
  const OperationScope scope(*box_, "GraphDefinition::Edges");
  std::vector<GraphEdge> edges;
  const std::vector<graph::RawEdge> raw_edges = graph::ListEdges(box_->graph());
  edges.reserve(raw_edges.size());
  for (const graph::RawEdge& edge : raw_edges) {
    GraphNode from(graph::FindOrMakeRecord(box_, edge.from));
    GraphNode to(graph::FindOrMakeRecord(box_, edge.to));
    edges.push_back({std::move(from), std::move(to)});
  }
  return edges;
}

void GraphDefinition::AddEdge(const GraphNode& from, const GraphNode& to) {
  constexpr const char* kDoing = "adding an edge";
  const OperationScope scope(*box_, "GraphDefinition::AddEdge");
  const std::vector<CUgraphNode> ends = Addition::RawNodes(*this, std::array{from, to}, kDoing, "a node");
  Check("cuGraphAddDependencies",
        GetDriver().cuGraphAddDependencies(box_->graph(), &ends[0], &ends[1], nullptr, std::size_t{1}), kDoing);
}

void GraphDefinition::RemoveEdge(const GraphNode& from, const GraphNode& to) {
  constexpr const char* kDoing = "removing an edge";
  const OperationScope scope(*box_, "GraphDefinition::RemoveEdge");
  const std::vector<CUgraphNode> ends = Addition::RawNodes(*this, std::array{from, to}, kDoing, "a node");
  // Without edge data the driver removes an edge whatever data it has.
  Check("cuGraphRemoveDependencies",
        GetDriver().cuGraphRemoveDependencies(box_->graph(), &ends[0], &ends[1], nullptr, std::size_t{1}), kDoing);
}

GraphNode GraphDefinition::AddEmptyNode(Dependencies dependencies) {
  const OperationScope scope(*box_, "GraphDefinition::AddEmptyNode");
  return AddPlainNode(CU_GRAPH_NODE_TYPE_EMPTY, {}, nullptr, dependencies, "cuGraphAddEmptyNode",
                      "adding an empty node",
                      [](CUgraphNode* node, CUgraph graph, const CUgraphNode* first, std::size_t count) {
                        return GetDriver().cuGraphAddEmptyNode(node, graph, first, count);
                      });
}

GraphNode GraphDefinition::AddKernelNode(const KernelHandle& kernel, const LaunchConfiguration& configuration,
                                         const KernelArguments& arguments, Dependencies dependencies) {
  constexpr const char* kDoing = "adding a kernel node";
  const OperationScope scope(*box_, "GraphDefinition::AddKernelNode");
  RequireHandle(kernel, "AddKernelNode: the kernel");
  graph::CheckCluster(configuration);
  graph::CheckArguments(kernel->raw(), arguments);
  std::vector<void*> pointers = arguments.Pointers();
  const CUDA_KERNEL_NODE_PARAMS parameters = graph::MakeKernel(kernel->raw(), configuration, pointers.data());
  Addition addition(*this, CU_GRAPH_NODE_TYPE_KERNEL, dependencies, kDoing);
  AttachmentTransaction transaction(*box_, graph::KernelOwners(kernel, arguments.owners()));
  CUgraphNode node = nullptr;
  const std::span<const CUgraphNode> before = addition.dependencies();
  Check("cuGraphAddKernelNode",
        GetDriver().cuGraphAddKernelNode(&node, box_->graph(), before.data(), before.size(), &parameters), kDoing);
  try {
    graph::SetKernelAttributes(node, configuration);
  } catch (...) {
    if (!graph::UndoAddition(*box_, node)) {
      // It stays and will run, so it needs its owners.
      transaction.Commit(node);
    }
    throw;
  }
  transaction.Commit(node);
  return addition.Publish(node);
}

GraphNode GraphDefinition::AddMemcpyNode(const MemoryOperand& destination, const MemoryOperand& source,
                                         std::size_t size_bytes, Dependencies dependencies) {
  const OperationScope scope(*box_, "GraphDefinition::AddMemcpyNode");
  return AddCopyNode(graph::MakeMemcpy(destination, source, size_bytes), destination.owner, source.owner, dependencies);
}

GraphNode GraphDefinition::AddMemcpyNode(const CopyParameters& copy, Dependencies dependencies) {
  const OperationScope scope(*box_, "GraphDefinition::AddMemcpyNode");
  return AddCopyNode(graph::MakeMemcpy(copy), copy.destination.memory.owner, copy.source.memory.owner, dependencies);
}

GraphNode GraphDefinition::AddCopyNode(const CUDA_MEMCPY3D& copy, const OpaqueHandle& destination,
                                       const OpaqueHandle& source, Dependencies dependencies) {
  const CUcontext context = graph::CurrentContext();
  return AddPlainNode(CU_GRAPH_NODE_TYPE_MEMCPY, std::array{destination, source}, context, dependencies,
                      "cuGraphAddMemcpyNode", "adding a memcpy node",
                      [&copy, context](CUgraphNode* node, CUgraph graph, const CUgraphNode* first, std::size_t count) {
                        return GetDriver().cuGraphAddMemcpyNode(node, graph, first, count, &copy, context);
                      });
}

GraphNode GraphDefinition::AddMemsetNode(const MemoryOperand& destination, const MemsetParameters& parameters,
                                         Dependencies dependencies) {
  const OperationScope scope(*box_, "GraphDefinition::AddMemsetNode");
  const CUDA_MEMSET_NODE_PARAMS fill = graph::MakeMemset(destination, parameters);
  const CUcontext context = graph::CurrentContext();
  return AddPlainNode(CU_GRAPH_NODE_TYPE_MEMSET, std::array{destination.owner}, context, dependencies,
                      "cuGraphAddMemsetNode", "adding a memset node",
                      [&fill, context](CUgraphNode* node, CUgraph graph, const CUgraphNode* first, std::size_t count) {
                        return GetDriver().cuGraphAddMemsetNode(node, graph, first, count, &fill, context);
                      });
}

GraphNode GraphDefinition::AddHostNode(const HostCallback& callback, Dependencies dependencies) {
  const OperationScope scope(*box_, "GraphDefinition::AddHostNode");
  const CUDA_HOST_NODE_PARAMS parameters{callback.function, callback.user_data};
  return AddPlainNode(CU_GRAPH_NODE_TYPE_HOST, std::array{callback.function_owner, callback.user_data_owner}, nullptr,
                      dependencies, "cuGraphAddHostNode", "adding a host node",
                      [&parameters](CUgraphNode* node, CUgraph graph, const CUgraphNode* first, std::size_t count) {
                        return GetDriver().cuGraphAddHostNode(node, graph, first, count, &parameters);
                      });
}

GraphNode GraphDefinition::AddEventRecordNode(const EventHandle& event, Dependencies dependencies) {
  const OperationScope scope(*box_, "GraphDefinition::AddEventRecordNode");
  RequireHandle(event, "AddEventRecordNode: the event");
  return AddPlainNode(CU_GRAPH_NODE_TYPE_EVENT_RECORD, std::array<OpaqueHandle, 1>{event}, nullptr, dependencies,
                      "cuGraphAddEventRecordNode", "adding an event-record node",
                      [&event](CUgraphNode* node, CUgraph graph, const CUgraphNode* first, std::size_t count) {
                        return GetDriver().cuGraphAddEventRecordNode(node, graph, first, count, event->raw());
                      });
}

GraphNode GraphDefinition::AddEventWaitNode(const EventHandle& event, Dependencies dependencies) {
  const OperationScope scope(*box_, "GraphDefinition::AddEventWaitNode");
  RequireHandle(event, "AddEventWaitNode: the event");
  return AddPlainNode(CU_GRAPH_NODE_TYPE_WAIT_EVENT, std::array<OpaqueHandle, 1>{event}, nullptr, dependencies,
                      "cuGraphAddEventWaitNode", "adding an event-wait node",
                      [&event](CUgraphNode* node, CUgraph graph, const CUgraphNode* first, std::size_t count) {
                        return GetDriver().cuGraphAddEventWaitNode(node, graph, first, count, event->raw());
                      });
}

GraphNode GraphDefinition::AddMemoryAllocationNode(std::size_t size_bytes, Dependencies dependencies) {
  RequireValid("GraphDefinition::AddMemoryAllocationNode");
  AllocationParameters allocation;
  allocation.size_bytes = size_bytes;
  Check("cuCtxGetDevice", GetDriver().cuCtxGetDevice(&allocation.location.id), "adding a memory-allocation node");
  return AddMemoryAllocationNode(allocation, dependencies);
}

GraphNode GraphDefinition::AddMemoryAllocationNode(const AllocationParameters& allocation, Dependencies dependencies) {
  constexpr const char* kDoing = "adding a memory-allocation node";
  const OperationScope scope(*box_, "GraphDefinition::AddMemoryAllocationNode");
  std::vector<CUmemAccessDesc> peers;
  for (const CUdevice peer : allocation.peers) {
    peers.push_back({{CU_MEM_LOCATION_TYPE_DEVICE, peer}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
  }
  CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
  parameters.poolProps.allocType = allocation.type;
  parameters.poolProps.location = allocation.location;
  parameters.accessDescs = peers.empty() ? nullptr : peers.data();
  parameters.accessDescCount = peers.size();
  parameters.bytesize = allocation.size_bytes;
  return AddPlainNode(CU_GRAPH_NODE_TYPE_MEM_ALLOC, {}, nullptr, dependencies, "cuGraphAddMemAllocNode", kDoing,
                      [&parameters](CUgraphNode* node, CUgraph graph, const CUgraphNode* first, std::size_t count) {
                        return GetDriver().cuGraphAddMemAllocNode(node, graph, first, count, &parameters);
                      });
}

GraphNode GraphDefinition::AddMemoryFreeNode(CUdeviceptr address, Dependencies dependencies) {
  const OperationScope scope(*box_, "GraphDefinition::AddMemoryFreeNode");
  return AddPlainNode(CU_GRAPH_NODE_TYPE_MEM_FREE, {}, nullptr, dependencies, "cuGraphAddMemFreeNode",
                      "adding a memory-free node",
                      [address](CUgraphNode* node, CUgraph graph, const CUgraphNode* first, std::size_t count) {
                        return GetDriver().cuGraphAddMemFreeNode(node, graph, first, count, address);
                      });
}

GraphNode GraphDefinition::AddChildGraphNode(const GraphDefinition& source, Dependencies dependencies) {
  constexpr const char* kOperation = "GraphDefinition::AddChildGraphNode";
  const OperationScope scope(*box_, kOperation);
  const OperationScope source_scope(*source.box_, kOperation);
  source.box_->hierarchy().RequireWhole(kOperation);
  Addition addition(*this, CU_GRAPH_NODE_TYPE_GRAPH, dependencies, "adding a child-graph node");
  return addition.Publish(graph::AddCopiedChild(box_, *source.box_, addition.dependencies()));
}

GraphNode GraphDefinition::AddChildGraphNodeByMove(const GraphDefinition& source, Dependencies dependencies) {
  constexpr const char* kOperation = "GraphDefinition::AddChildGraphNodeByMove";
  const OperationScope scope(*box_, kOperation);
  const OperationScope source_scope(*source.box_, kOperation);
  source.box_->hierarchy().RequireWhole(kOperation);
  Addition addition(*this, CU_GRAPH_NODE_TYPE_GRAPH, dependencies, "adding a child-graph node by move");
  return addition.Publish(graph::AddMovedChild(box_, source.box_, addition.dependencies()));
}

Condition GraphDefinition::MakeCondition(std::optional<unsigned> default_value) const {
  const OperationScope scope(*box_, "GraphDefinition::MakeCondition");
  CUgraphConditionalHandle condition = 0;
  const unsigned flags = default_value.has_value() ? CU_GRAPH_COND_ASSIGN_DEFAULT : 0u;
  Check("cuGraphConditionalHandleCreate",
        GetDriver().cuGraphConditionalHandleCreate(&condition, box_->graph(), graph::CurrentContext(),
                                                   default_value.value_or(0u), flags),
        "making a condition");
  return Condition(condition, box_);
}

GraphNode GraphDefinition::AddIfNode(const Condition& condition, Dependencies dependencies) {
  return AddConditionalNode(condition, CU_GRAPH_COND_TYPE_IF, 1, dependencies, "GraphDefinition::AddIfNode");
}

GraphNode GraphDefinition::AddIfElseNode(const Condition& condition, Dependencies dependencies) {
  return AddConditionalNode(condition, CU_GRAPH_COND_TYPE_IF, 2, dependencies, "GraphDefinition::AddIfElseNode");
}

GraphNode GraphDefinition::AddWhileNode(const Condition& condition, Dependencies dependencies) {
  return AddConditionalNode(condition, CU_GRAPH_COND_TYPE_WHILE, 1, dependencies, "GraphDefinition::AddWhileNode");
}

GraphNode GraphDefinition::AddSwitchNode(const Condition& condition, unsigned body_count, Dependencies dependencies) {
  return AddConditionalNode(condition, CU_GRAPH_COND_TYPE_SWITCH, body_count, dependencies,
                            "GraphDefinition::AddSwitchNode");
}

GraphNode GraphDefinition::AddConditionalNode(const Condition& condition, CUgraphConditionalNodeType type,
                                              unsigned body_count, Dependencies dependencies, const char* operation) {
  const OperationScope scope(*box_, operation);
  condition.RequireUsableIn(*box_, operation);
  Addition addition(*this, CU_GRAPH_NODE_TYPE_CONDITIONAL, dependencies, "adding a conditional node");
  return addition.Publish(graph::AddConditional(box_, condition.raw(), type, body_count, addition.dependencies()));
}

void GraphDefinition::WriteDot(const std::string& path, unsigned flags) const {
  const OperationScope scope(*box_, "GraphDefinition::WriteDot");
  Check("cuGraphDebugDotPrint", GetDriver().cuGraphDebugDotPrint(box_->graph(), path.c_str(), flags),
        "writing a graph as a dot file");
}

void GraphDefinition::RequireValid(const char* operation) const { graph::RequireAlive(*box_, operation); }

}  // namespace holdfast
