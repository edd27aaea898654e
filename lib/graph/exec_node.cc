#include "lib/graph/exec_node.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/attachments/executable_owners.h"
#include "lib/attachments/hierarchy.h"
#include "lib/attachments/use_scope.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/node_parameters.h"
#include "lib/graph/operation_scope.h"

namespace holdfast {
namespace {

using attachments::ExecutableOwners;
using attachments::UseScope;
using driver::Check;
using driver::GetDriver;

// Clusters and cooperative launches are attributes of the definition's node, which the parameters of a kernel do not
// carry: an update that asked for others would be answered with success and change nothing.
void RequireSameAttributes(const LaunchConfiguration& given, const LaunchConfiguration& present) {
  if (!std::equal(std::begin(given.cluster), std::end(given.cluster), std::begin(present.cluster))) {
    throw std::invalid_argument(
        "ExecNode::UpdateKernel: the cluster is not that of the definition's node, and an executable cannot change it; "
        "update the definition's node and then the whole executable");
  }
  if (given.cooperative != present.cooperative) {
    throw std::invalid_argument(
        "ExecNode::UpdateKernel: the definition's node is of the other kind, cooperative or not, and an executable "
        "cannot change that; update the definition's node and then the whole executable");
  }
}

bool CanBeDisabled(CUgraphNodeType type) {
  return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY || type == CU_GRAPH_NODE_TYPE_MEMSET;
}

}  // namespace

void ExecNode::UpdateKernel(const KernelHandle& kernel, const LaunchConfiguration& configuration,
                            const KernelArguments& arguments) {
  RequireType(CU_GRAPH_NODE_TYPE_KERNEL, "ExecNode::UpdateKernel");
  if (kernel == nullptr) {
    throw std::invalid_argument("ExecNode::UpdateKernel: the kernel is null");
  }
  graph::CheckArguments(kernel->raw(), arguments);
  RequireSameAttributes(configuration, node_.KernelConfiguration());
  std::vector<void*> pointers = arguments.Pointers();
  CUgraphNodeParams parameters =
      graph::AsNodeParameters(graph::MakeKernel(kernel->raw(), configuration, pointers.data()));
  SetParameters(parameters, graph::KernelOwners(kernel, arguments.owners()), "updating a kernel node of an executable");
}

void ExecNode::UpdateMemcpy(const MemoryOperand& destination, const MemoryOperand& source, std::size_t size_bytes) {
  RequireType(CU_GRAPH_NODE_TYPE_MEMCPY, "ExecNode::UpdateMemcpy");
  CUgraphNodeParams parameters =
      graph::AsNodeParameters(graph::MakeMemcpy(destination, source, size_bytes), node_.Context());
  SetParameters(parameters, {destination.owner, source.owner}, "updating a memcpy node of an executable");
}

void ExecNode::UpdateMemcpy(const CopyParameters& copy) {
  RequireType(CU_GRAPH_NODE_TYPE_MEMCPY, "ExecNode::UpdateMemcpy");
  CUgraphNodeParams parameters = graph::AsNodeParameters(graph::MakeMemcpy(copy), node_.Context());
  SetParameters(parameters, {copy.destination.memory.owner, copy.source.memory.owner},
                "updating a memcpy node of an executable");
}

void ExecNode::UpdateMemset(const MemoryOperand& destination, const MemsetParameters& parameters) {
  RequireType(CU_GRAPH_NODE_TYPE_MEMSET, "ExecNode::UpdateMemset");
  CUgraphNodeParams fill = graph::AsNodeParameters(graph::MakeMemset(destination, parameters), node_.Context());
  SetParameters(fill, {destination.owner}, "updating a memset node of an executable");
}

void ExecNode::UpdateHost(const HostCallback& callback) {
  RequireType(CU_GRAPH_NODE_TYPE_HOST, "ExecNode::UpdateHost");
  CUgraphNodeParams parameters = graph::HostNodeParameters(callback);
  SetParameters(parameters, {callback.function_owner, callback.user_data_owner},
                "updating a host node of an executable");
}

void ExecNode::UpdateEventRecord(const EventHandle& event) {
  RequireType(CU_GRAPH_NODE_TYPE_EVENT_RECORD, "ExecNode::UpdateEventRecord");
  CUgraphNodeParams parameters =
      graph::EventRecordNodeParameters(graph::RequireEvent(event, "ExecNode::UpdateEventRecord"));
  SetParameters(parameters, {event}, "updating an event record node of an executable");
}

void ExecNode::UpdateEventWait(const EventHandle& event) {
  RequireType(CU_GRAPH_NODE_TYPE_WAIT_EVENT, "ExecNode::UpdateEventWait");
  CUgraphNodeParams parameters =
      graph::EventWaitNodeParameters(graph::RequireEvent(event, "ExecNode::UpdateEventWait"));
  SetParameters(parameters, {event}, "updating an event wait node of an executable");
}

void ExecNode::UpdateChildGraph(const GraphDefinition& source) {
  RequireType(CU_GRAPH_NODE_TYPE_GRAPH, "ExecNode::UpdateChildGraph");
  const graph::OperationScope scope(*source.box_, "ExecNode::UpdateChildGraph");
  CUgraphNodeParams parameters = graph::ChildGraphNodeParameters(source.raw(), CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE);
  SetParameters(parameters, {}, "updating a child graph of an executable");
}

bool ExecNode::IsEnabled() const {
  RequireCanBeDisabled("ExecNode::IsEnabled");
  unsigned enabled = 0;
  Check("cuGraphNodeGetEnabled", GetDriver().cuGraphNodeGetEnabled(record_->raw, node_.raw(), &enabled),
        "asking whether a node of an executable is enabled");
  return enabled != 0;
}

void ExecNode::SetEnabled(bool enabled) {
  RequireCanBeDisabled("ExecNode::SetEnabled");
  Check("cuGraphNodeSetEnabled", GetDriver().cuGraphNodeSetEnabled(record_->raw, node_.raw(), enabled ? 1u : 0u),
        "enabling or disabling a node of an executable");
}

void ExecNode::RequireUsable(const char* operation) const {
  record_->RequireOpen(operation);
  if (!node_.IsValid()) {
    throw std::logic_error(std::string(operation) + ": the definition's node has been destroyed");
  }
}

void ExecNode::RequireType(CUgraphNodeType type, const char* operation) const {
  RequireUsable(operation);
  if (node_.type() != type) {
    throw std::logic_error(std::string(operation) + ": the node is of another kind");
  }
}

void ExecNode::RequireCanBeDisabled(const char* operation) const {
  RequireUsable(operation);
  if (!CanBeDisabled(node_.type())) {
    throw std::invalid_argument(std::string(operation) +
                                ": only kernel, memcpy and memset nodes can be enabled and disabled");
  }
}

void ExecNode::SetParameters(CUgraphNodeParams& parameters, std::vector<OpaqueHandle> owners, const char* doing) {
  const UseScope scope(node_.record_->graph()->hierarchy(), doing);
  std::erase(owners, nullptr);
  ExecutableOwners::Addition addition(*record_->owners, owners);
  Check("cuGraphExecNodeSetParams", GetDriver().cuGraphExecNodeSetParams(record_->raw, node_.raw(), &parameters),
        doing);
  addition.Keep();
}

}  // namespace holdfast
