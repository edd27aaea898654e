#include "lib/graph/graph_node.h"

#include <stdexcept>
#include <string>

#include "lib/attachments/hierarchy.h"
#include "lib/attachments/transaction.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/kernel_attributes.h"
#include "lib/graph/node_handles.h"
#include "lib/graph/node_parameters.h"
#include "lib/graph/topology.h"

namespace holdfast {
namespace {

using attachments::AttachmentTransaction;
using attachments::GraphBox;
using attachments::NodeRecord;
using attachments::UseScope;
using driver::Check;
using driver::GetDriver;

constexpr const char* kAsking = "asking for the parameters of a node";

attachments::Hierarchy& HierarchyOf(const NodeRecord* record, const char* operation) {
  if (record == nullptr) {
    throw std::logic_error(std::string(operation) + ": the handle names no node");
  }
  return record->graph()->hierarchy();
}

const char* NameOf(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return "a kernel node";
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return "a memcpy node";
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return "a memset node";
    case CU_GRAPH_NODE_TYPE_HOST:
      return "a host node";
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return "a child-graph node";
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return "an empty node";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return "an event-wait node";
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return "an event-record node";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return "a memory-allocation node";
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return "a memory-free node";
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return "a conditional node";
    default:
      return "a node of a kind that the library does not know";
  }
}

}  // namespace

GraphNode::Operation::Operation(const GraphNode& node, CUgraphNodeType type, const char* operation)
    : use_(HierarchyOf(node.record_.get(), operation), operation) {
  node.RequireType(type, operation);
}

GraphDefinition GraphNode::Graph() const { return GraphDefinition(record_->graph()); }

std::vector<OpaqueHandle> GraphNode::Owners() const {
  if (!IsValid()) {
    return {};
  }
  const UseScope use(Box().hierarchy(), "GraphNode::Owners");
  std::vector<OpaqueHandle> owners = Box().OwnersOf(raw());
  std::erase(owners, nullptr);
  return owners;
}

std::vector<GraphNode> GraphNode::Predecessors() const {
  if (!IsValid()) {
    return {};
  }
  const UseScope use(Box().hierarchy(), "GraphNode::Predecessors");
  return Handles(graph::ListPredecessors(raw()));
}

std::vector<GraphNode> GraphNode::Successors() const {
  if (!IsValid()) {
    return {};
  }
  const UseScope use(Box().hierarchy(), "GraphNode::Successors");
  return Handles(graph::ListSuccessors(raw()));
}

std::vector<GraphNode> GraphNode::Handles(std::span<const CUgraphNode> nodes) const {
  std::vector<GraphNode> handles;
  handles.reserve(nodes.size());
  for (const CUgraphNode node : nodes) {
    handles.push_back(GraphNode(graph::FindOrMakeRecord(record_->graph(), node)));
  }
  return handles;
}

GraphDefinition GraphNode::ChildGraph() const {
  const Operation operation(*this, CU_GRAPH_NODE_TYPE_GRAPH, "GraphNode::ChildGraph");
  CUgraph child = nullptr;
  Check("cuGraphChildGraphNodeGetGraph", GetDriver().cuGraphChildGraphNodeGetGraph(raw(), &child),
        "finding an embedded graph");
  GraphBox& box = Box();
  const auto& boxes = box.hierarchy().FindOrMakeOwned(box, raw(), GraphBox::Kind::kChild, {&child, 1});
  return GraphDefinition(boxes.front()->Handle());
}

std::vector<GraphDefinition> GraphNode::Bodies() const {
  const Operation operation(*this, CU_GRAPH_NODE_TYPE_CONDITIONAL, "GraphNode::Bodies");
  std::vector<GraphDefinition> bodies;
  for (const std::shared_ptr<GraphBox>& body : Box().owned_graphs().Of(raw())) {
    bodies.push_back(GraphDefinition(body->Handle()));
  }
  return bodies;
}

KernelHandle GraphNode::Kernel() const {
  const Operation operation(*this, CU_GRAPH_NODE_TYPE_KERNEL, "GraphNode::Kernel");
  return holdfast::Kernel::Find(graph::ReadKernel(raw()).kern);
}

LaunchConfiguration GraphNode::KernelConfiguration() const {
  const Operation operation(*this, CU_GRAPH_NODE_TYPE_KERNEL, "GraphNode::KernelConfiguration");
  LaunchConfiguration configuration;
  graph::GetShape(graph::ReadKernel(raw()), configuration);
  graph::ReadKernelAttributes(raw(), configuration);
  return configuration;
}

CopyParameters GraphNode::Copy() const {
  const Operation operation(*this, CU_GRAPH_NODE_TYPE_MEMCPY, "GraphNode::Copy");
  CUDA_MEMCPY3D copy{};
  Check("cuGraphMemcpyNodeGetParams", GetDriver().cuGraphMemcpyNodeGetParams(raw(), &copy), kAsking);
  return graph::ReadMemcpy(copy);
}

FillParameters GraphNode::Fill() const {
  const Operation operation(*this, CU_GRAPH_NODE_TYPE_MEMSET, "GraphNode::Fill");
  CUDA_MEMSET_NODE_PARAMS fill{};
  Check("cuGraphMemsetNodeGetParams", GetDriver().cuGraphMemsetNodeGetParams(raw(), &fill), kAsking);
  return graph::ReadMemset(fill);
}

EventHandle GraphNode::Event() const {
  constexpr const char* kOperation = "GraphNode::Event";
  const UseScope use(HierarchyOf(record_.get(), kOperation), kOperation);
  RequireValid(kOperation);
  CUevent event = nullptr;
  if (type() == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
    Check("cuGraphEventRecordNodeGetEvent", GetDriver().cuGraphEventRecordNodeGetEvent(raw(), &event), kAsking);
  } else {
    RequireType(CU_GRAPH_NODE_TYPE_WAIT_EVENT, kOperation);
    Check("cuGraphEventWaitNodeGetEvent", GetDriver().cuGraphEventWaitNodeGetEvent(raw(), &event), kAsking);
  }
  return holdfast::Event::Find(event);
}

CUdeviceptr GraphNode::AllocatedAddress() const {
  const Operation operation(*this, CU_GRAPH_NODE_TYPE_MEM_ALLOC, "GraphNode::AllocatedAddress");
  CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
  Check("cuGraphMemAllocNodeGetParams", GetDriver().cuGraphMemAllocNodeGetParams(raw(), &parameters), kAsking);
  return parameters.dptr;
}

AllocationParameters GraphNode::Allocation() const {
  const Operation operation(*this, CU_GRAPH_NODE_TYPE_MEM_ALLOC, "GraphNode::Allocation");
  CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
  Check("cuGraphMemAllocNodeGetParams", GetDriver().cuGraphMemAllocNodeGetParams(raw(), &parameters), kAsking);
  AllocationParameters allocation{
      parameters.bytesize, parameters.poolProps.allocType, parameters.poolProps.location, {}};
  for (std::size_t i = 0; i < parameters.accessDescCount; ++i) {
    allocation.peers.push_back(parameters.accessDescs[i].location.id);
  }
  return allocation;
}

CUdeviceptr GraphNode::FreedAddress() const {
  const Operation operation(*this, CU_GRAPH_NODE_TYPE_MEM_FREE, "GraphNode::FreedAddress");
  CUdeviceptr address = 0;
  Check("cuGraphMemFreeNodeGetParams", GetDriver().cuGraphMemFreeNodeGetParams(raw(), &address), kAsking);
  return address;
}

void GraphNode::Destroy() {
  if (!IsValid()) {
    return;
  }
  GraphBox& box = Box();
  const UseScope use(box.hierarchy(), "GraphNode::Destroy");
  const CUgraphNode node = raw();
  if (!box.owned_graphs().Of(node).empty()) {
    box.hierarchy().RequireWhole("GraphNode::Destroy");
  }
  AttachmentTransaction removal(box, {});
  const graph::Destruction destruction = graph::DestroyNode(box.graph(), node);
  if (destruction.is_gone) {
    removal.Commit(node);
    box.hierarchy().EndOwned(box, node);
    box.node_records().End(node);
  }
  Check("cuGraphDestroyNode", destruction.result, "destroying a node");
}

void GraphNode::RequireValid(const char* operation) const {
  if (!IsValid()) {
    throw std::logic_error(std::string(operation) + ": the node has been destroyed or never was");
  }
}

void GraphNode::RequireType(CUgraphNodeType type, const char* operation) const {
  RequireValid(operation);
  if (record_->type() != type) {
    throw std::logic_error(std::string(operation) + ": the node is " + NameOf(record_->type()) + ", not " +
                           NameOf(type));
  }
}

}  // namespace holdfast
