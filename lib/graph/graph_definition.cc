#include "lib/graph/graph_definition.h"

#include <stdexcept>
#include <utility>

#include "lib/attachments/transaction.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/node_parameters.h"

namespace holdfast {
namespace {

using attachments::AttachmentTransaction;
using attachments::GraphBox;
using driver::Check;
using driver::GetDriver;

CUcontext CurrentContext() {
  CUcontext context = nullptr;
  Check("cuCtxGetCurrent", GetDriver().cuCtxGetCurrent(&context), "asking for the current context");
  return context;
}

template <typename Handle>
void RequireHandle(const Handle& handle, const char* what) {
  if (handle == nullptr) {
    throw std::invalid_argument(std::string(what) + " is null");
  }
}

}  // namespace

GraphDefinition::GraphDefinition() : box_(GraphBox::CreateRoot()) {}

template <typename AddCall>
GraphNode GraphDefinition::Add(CUgraphNodeType type, const std::vector<OpaqueHandle>& owners, Dependencies dependencies,
                               const char* call, const char* doing, AddCall add) {
  std::vector<CUgraphNode> raw_dependencies;
  raw_dependencies.reserve(dependencies.size());
  for (const GraphNode& dependency : dependencies) {
    if (!dependency.IsValid()) {
      throw std::logic_error(std::string(doing) + ": a dependency has been destroyed or never was");
    }
    if (dependency.record_->box != box_) {
      throw std::logic_error(std::string(doing) + ": a dependency belongs to another graph");
    }
    raw_dependencies.push_back(dependency.raw());
  }
  auto record = std::make_shared<GraphNode::Record>(GraphNode::Record{box_, type, CurrentContext()});
  AttachmentTransaction transaction(*box_, owners);
  CUgraphNode raw = nullptr;
  Check(call, add(&raw, box_->graph(), raw_dependencies.data(), raw_dependencies.size(), record->context), doing);
  transaction.Commit(raw);
  record->raw = raw;
  return GraphNode(std::move(record));
}

GraphNode GraphDefinition::AddKernelNode(const KernelHandle& kernel, const LaunchConfiguration& configuration,
                                         const KernelArguments& arguments, Dependencies dependencies) {
  RequireHandle(kernel, "AddKernelNode: the kernel");
  std::vector<void*> pointers = arguments.Pointers();
  CUDA_KERNEL_NODE_PARAMS parameters{};
  parameters.kern = kernel->raw();
  parameters.gridDimX = configuration.grid[0];
  parameters.gridDimY = configuration.grid[1];
  parameters.gridDimZ = configuration.grid[2];
  parameters.blockDimX = configuration.block[0];
  parameters.blockDimY = configuration.block[1];
  parameters.blockDimZ = configuration.block[2];
  parameters.sharedMemBytes = configuration.shared_memory_bytes;
  parameters.kernelParams = pointers.data();
  std::vector<OpaqueHandle> owners = graph::CollectOwners({kernel});
  owners.insert(owners.end(), arguments.owners().begin(), arguments.owners().end());
  return Add(CU_GRAPH_NODE_TYPE_KERNEL, owners, dependencies, "cuGraphAddKernelNode", "adding a kernel node",
             [&parameters](CUgraphNode* node, CUgraph graph, const CUgraphNode* first, std::size_t count, CUcontext) {
               return GetDriver().cuGraphAddKernelNode(node, graph, first, count, &parameters);
             });
}

GraphNode GraphDefinition::AddMemcpyNode(const MemoryOperand& destination, const MemoryOperand& source,
                                         std::size_t size_bytes, Dependencies dependencies) {
  const CUDA_MEMCPY3D copy = graph::MakeMemcpy(destination, source, size_bytes);
  return Add(CU_GRAPH_NODE_TYPE_MEMCPY, graph::CollectOwners({destination.owner, source.owner}), dependencies,
             "cuGraphAddMemcpyNode", "adding a memcpy node",
             [&copy](CUgraphNode* node, CUgraph graph, const CUgraphNode* first, std::size_t count, CUcontext context) {
               return GetDriver().cuGraphAddMemcpyNode(node, graph, first, count, &copy, context);
             });
}

GraphNode GraphDefinition::AddMemsetNode(const MemoryOperand& destination, const MemsetParameters& parameters,
                                         Dependencies dependencies) {
  const CUDA_MEMSET_NODE_PARAMS fill = graph::MakeMemset(destination, parameters);
  return Add(CU_GRAPH_NODE_TYPE_MEMSET, graph::CollectOwners({destination.owner}), dependencies, "cuGraphAddMemsetNode",
             "adding a memset node",
             [&fill](CUgraphNode* node, CUgraph graph, const CUgraphNode* first, std::size_t count, CUcontext context) {
               return GetDriver().cuGraphAddMemsetNode(node, graph, first, count, &fill, context);
             });
}

GraphNode GraphDefinition::AddHostNode(const HostCallback& callback, Dependencies dependencies) {
  const CUDA_HOST_NODE_PARAMS parameters{callback.function, callback.user_data};
  return Add(CU_GRAPH_NODE_TYPE_HOST, graph::CollectOwners({callback.function_owner, callback.user_data_owner}),
             dependencies, "cuGraphAddHostNode", "adding a host node",
             [&parameters](CUgraphNode* node, CUgraph graph, const CUgraphNode* first, std::size_t count, CUcontext) {
               return GetDriver().cuGraphAddHostNode(node, graph, first, count, &parameters);
             });
}

GraphNode GraphDefinition::AddEventRecordNode(const EventHandle& event, Dependencies dependencies) {
  RequireHandle(event, "AddEventRecordNode: the event");
  return Add(CU_GRAPH_NODE_TYPE_EVENT_RECORD, graph::CollectOwners({event}), dependencies, "cuGraphAddEventRecordNode",
             "adding an event-record node",
             [&event](CUgraphNode* node, CUgraph graph, const CUgraphNode* first, std::size_t count, CUcontext) {
               return GetDriver().cuGraphAddEventRecordNode(node, graph, first, count, event->raw());
             });
}

GraphNode GraphDefinition::AddEventWaitNode(const EventHandle& event, Dependencies dependencies) {
  RequireHandle(event, "AddEventWaitNode: the event");
  return Add(CU_GRAPH_NODE_TYPE_WAIT_EVENT, graph::CollectOwners({event}), dependencies, "cuGraphAddEventWaitNode",
             "adding an event-wait node",
             [&event](CUgraphNode* node, CUgraph graph, const CUgraphNode* first, std::size_t count, CUcontext) {
               return GetDriver().cuGraphAddEventWaitNode(node, graph, first, count, event->raw());
             });
}

}  // namespace holdfast
