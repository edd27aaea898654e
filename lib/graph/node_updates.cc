#include "lib/graph/node_updates.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/attachments/hierarchy.h"
#include "lib/attachments/transaction.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_node.h"
#include "lib/graph/kernel_attributes.h"
#include "lib/graph/node_parameters.h"
#include "lib/graph/operation_scope.h"
#include "lib/graph/owning_nodes.h"

namespace holdfast {
namespace {

using attachments::AttachmentTransaction;
using driver::Check;
using driver::GetDriver;

// The owners that a partial update begins with: at least `count` slots, empty ones where nothing is known.
std::vector<OpaqueHandle> PresentOwners(const attachments::GraphBox& box, CUgraphNode node, std::size_t count) {
  std::vector<OpaqueHandle> owners = box.OwnersOf(node);
  owners.resize(std::max(owners.size(), count));
  return owners;
}

void RequireConsistent(const KernelUpdate& update) {
  if (update.configuration.has_value()) {
    graph::CheckCluster(*update.configuration);
  }
  if (!update.kernel.has_value()) {
    return;
  }
  if (*update.kernel == nullptr) {
    throw std::invalid_argument("GraphNode::UpdateKernel: the kernel is null");
  }
  if (!update.arguments.has_value()) {
    throw std::invalid_argument(
        "GraphNode::UpdateKernel: a new kernel needs its own arguments; give them, empty if it takes none");
  }
}

// The owners after the update, from those that the node has.
std::vector<OpaqueHandle> OwnersAfter(const KernelUpdate& update, const std::vector<OpaqueHandle>& present) {
  if (!update.kernel.has_value() && !update.arguments.has_value()) {
    return present;
  }
  const OpaqueHandle kernel = update.kernel.has_value() ? OpaqueHandle(*update.kernel) : present.front();
  return graph::KernelOwners(kernel, update.arguments->owners());
}

}  // namespace

void GraphNode::UpdateKernel(const KernelUpdate& update) {
  const Operation operation(*this, CU_GRAPH_NODE_TYPE_KERNEL, "GraphNode::UpdateKernel");
  RequireConsistent(update);
  if (!update.configuration.has_value() && !update.arguments.has_value()) {
    return;
  }
  const CUkernel kernel = update.kernel.has_value() ? (*update.kernel)->raw() : graph::ReadKernel(raw()).kern;
  std::vector<void*> pointers;
  if (update.arguments.has_value()) {
    graph::CheckArguments(kernel, *update.arguments);
    pointers = update.arguments->Pointers();
  }
  const std::vector<OpaqueHandle> owners = OwnersAfter(update, PresentOwners(Box(), raw(), 1));
  AttachmentTransaction transaction(Box(), owners);
  std::optional<graph::KernelAttributeChange> attributes;
  if (update.configuration.has_value()) {
    attributes.emplace(raw()).Apply(*update.configuration);
  }
  // Read now: changing attributes may have moved the arguments that the node keeps.
  CUDA_KERNEL_NODE_PARAMS present = graph::ReadKernel(raw());
  if (update.configuration.has_value()) {
    graph::SetShape(present, *update.configuration);
  }
  if (update.kernel.has_value()) {
    present.func = nullptr;
    present.kern = kernel;
  }
  if (update.arguments.has_value()) {
    present.kernelParams = pointers.data();
    present.extra = nullptr;
  }
  CUgraphNodeParams parameters = graph::AsNodeParameters(present);
  Check("cuGraphNodeSetParams", GetDriver().cuGraphNodeSetParams(raw(), &parameters), "updating a kernel node");
  if (attributes.has_value()) {
    attributes->Keep();
  }
  transaction.Commit(raw());
}

void GraphNode::UpdateMemcpy(const MemcpyUpdate& update) {
  const Operation operation(*this, CU_GRAPH_NODE_TYPE_MEMCPY, "GraphNode::UpdateMemcpy");
  if (!update.destination.has_value() && !update.source.has_value() && !update.size_bytes.has_value()) {
    return;
  }
  CUDA_MEMCPY3D present{};
  Check("cuGraphMemcpyNodeGetParams", GetDriver().cuGraphMemcpyNodeGetParams(raw(), &present),
        "updating a memcpy node");
  if (!graph::IsPlainCopy(present)) {
    throw std::invalid_argument(
        "GraphNode::UpdateMemcpy: the node copies several rows, at an offset, or an array; give CopyParameters, which "
        "replace everything");
  }
  const CopyParameters kept = graph::ReadMemcpy(present);
  std::vector<OpaqueHandle> owners = PresentOwners(Box(), raw(), 2);
  if (update.destination.has_value()) {
    owners[0] = update.destination->owner;
  }
  if (update.source.has_value()) {
    owners[1] = update.source->owner;
  }
  const CUcontext context = Context();
  CUgraphNodeParams parameters = graph::AsNodeParameters(
      graph::MakeMemcpy(update.destination.value_or(kept.destination.memory),
                        update.source.value_or(kept.source.memory), update.size_bytes.value_or(kept.width_bytes)),
      context);
  SetParameters(parameters, owners, context, "updating a memcpy node");
}

void GraphNode::UpdateMemcpy(const CopyParameters& copy) {
  const Operation operation(*this, CU_GRAPH_NODE_TYPE_MEMCPY, "GraphNode::UpdateMemcpy");
  const CUcontext context = Context();
  CUgraphNodeParams parameters = graph::AsNodeParameters(graph::MakeMemcpy(copy), context);
  SetParameters(parameters, std::array{copy.destination.memory.owner, copy.source.memory.owner}, context,
                "updating a memcpy node");
}

void GraphNode::UpdateMemset(const MemsetUpdate& update) {
  const Operation operation(*this, CU_GRAPH_NODE_TYPE_MEMSET, "GraphNode::UpdateMemset");
  if (!update.destination.has_value() && !update.value.has_value() && !update.element_size_bytes.has_value() &&
      !update.width_elements.has_value() && !update.height.has_value() && !update.pitch_bytes.has_value()) {
    return;
  }
  CUDA_MEMSET_NODE_PARAMS present{};
  Check("cuGraphMemsetNodeGetParams", GetDriver().cuGraphMemsetNodeGetParams(raw(), &present),
        "updating a memset node");
  const FillParameters kept = graph::ReadMemset(present);
  const MemsetParameters pattern{
      .value = update.value.value_or(kept.pattern.value),
      .element_size_bytes = update.element_size_bytes.value_or(kept.pattern.element_size_bytes),
      .width_elements = update.width_elements.value_or(kept.pattern.width_elements),
      .height = update.height.value_or(kept.pattern.height),
      .pitch_bytes = update.pitch_bytes.value_or(kept.pattern.pitch_bytes)};
  std::vector<OpaqueHandle> owners = PresentOwners(Box(), raw(), 1);
  if (update.destination.has_value()) {
    owners[0] = update.destination->owner;
  }
  const CUcontext context = Context();
  CUgraphNodeParams parameters =
      graph::AsNodeParameters(graph::MakeMemset(update.destination.value_or(kept.destination), pattern), context);
  SetParameters(parameters, owners, context, "updating a memset node");
}

void GraphNode::UpdateMemset(const MemoryOperand& destination, const MemsetParameters& parameters) {
  const Operation operation(*this, CU_GRAPH_NODE_TYPE_MEMSET, "GraphNode::UpdateMemset");
  const CUcontext context = Context();
  CUgraphNodeParams fill = graph::AsNodeParameters(graph::MakeMemset(destination, parameters), context);
  SetParameters(fill, std::array{destination.owner}, context, "updating a memset node");
}

void GraphNode::UpdateHost(const HostCallback& callback) {
  const Operation operation(*this, CU_GRAPH_NODE_TYPE_HOST, "GraphNode::UpdateHost");
  CUgraphNodeParams parameters = graph::HostNodeParameters(callback);
  SetParameters(parameters, std::array{callback.function_owner, callback.user_data_owner}, nullptr,
                "updating a host node");
}

void GraphNode::UpdateEventRecord(const EventHandle& event) {
  constexpr const char* kOperation = "GraphNode::UpdateEventRecord";
  const Operation operation(*this, CU_GRAPH_NODE_TYPE_EVENT_RECORD, kOperation);
  CUgraphNodeParams parameters = graph::EventRecordNodeParameters(graph::RequireEvent(event, kOperation));
  SetParameters(parameters, std::array<OpaqueHandle, 1>{event}, nullptr, "updating an event-record node");
}

void GraphNode::UpdateEventWait(const EventHandle& event) {
  constexpr const char* kOperation = "GraphNode::UpdateEventWait";
  const Operation operation(*this, CU_GRAPH_NODE_TYPE_WAIT_EVENT, kOperation);
  CUgraphNodeParams parameters = graph::EventWaitNodeParameters(graph::RequireEvent(event, kOperation));
  SetParameters(parameters, std::array<OpaqueHandle, 1>{event}, nullptr, "updating an event-wait node");
}

void GraphNode::UpdateChildGraph(const GraphDefinition& source) {
  constexpr const char* kOperation = "GraphNode::UpdateChildGraph";
  const Operation operation(*this, CU_GRAPH_NODE_TYPE_GRAPH, kOperation);
  const graph::OperationScope source_scope(*source.box_, kOperation);
  source.box_->hierarchy().RequireWhole(kOperation);
  graph::ReplaceChild(Box(), raw(), *source.box_);
}

CUcontext GraphNode::Context() const {
  const CUcontext recorded = Box().index().Find(raw()).context;
  return recorded != nullptr ? recorded : graph::CurrentContext();
}

void GraphNode::SetParameters(CUgraphNodeParams& parameters, std::span<const OpaqueHandle> owners, CUcontext context,
                              const char* doing) {
  AttachmentTransaction transaction(Box(), owners, context);
  Check("cuGraphNodeSetParams", GetDriver().cuGraphNodeSetParams(raw(), &parameters), doing);
  transaction.Commit(raw());
}

}  // namespace holdfast
