#include "lib/graph/graph_node.h"

#include <stdexcept>
#include <string>

#include "lib/attachments/transaction.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/node_parameters.h"

namespace holdfast {

using attachments::AttachmentTransaction;
using driver::Check;
using driver::GetDriver;

std::vector<OpaqueHandle> GraphNode::Owners() const {
  return IsValid() ? record_->box->OwnersOf(record_->raw) : std::vector<OpaqueHandle>{};
}

void GraphNode::Destroy() {
  if (!IsValid()) {
    return;
  }
  AttachmentTransaction removal(*record_->box, {});
  Check("cuGraphDestroyNode", GetDriver().cuGraphDestroyNode(record_->raw), "destroying a node");
  removal.Commit(record_->raw);
  record_->raw = nullptr;
}

void GraphNode::UpdateHost(const HostCallback& callback) {
  RequireUpdatable(CU_GRAPH_NODE_TYPE_HOST, "UpdateHost");
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_HOST;
  parameters.host.fn = callback.function;
  parameters.host.userData = callback.user_data;
  SetParameters(parameters, graph::CollectOwners({callback.function_owner, callback.user_data_owner}),
                "updating a host node");
}

void GraphNode::UpdateMemset(const MemoryOperand& destination, const MemsetParameters& pattern) {
  RequireUpdatable(CU_GRAPH_NODE_TYPE_MEMSET, "UpdateMemset");
  const CUDA_MEMSET_NODE_PARAMS fill = graph::MakeMemset(destination, pattern);
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_MEMSET;
  parameters.memset.dst = fill.dst;
  parameters.memset.pitch = fill.pitch;
  parameters.memset.value = fill.value;
  parameters.memset.elementSize = fill.elementSize;
  parameters.memset.width = fill.width;
  parameters.memset.height = fill.height;
  parameters.memset.ctx = record_->context;
  SetParameters(parameters, graph::CollectOwners({destination.owner}), "updating a memset node");
}

void GraphNode::RequireUpdatable(CUgraphNodeType type, const char* operation) const {
  if (!IsValid()) {
    throw std::logic_error(std::string("GraphNode::") + operation + ": the node has been destroyed or never was");
  }
  if (record_->type != type) {
    throw std::logic_error(std::string("GraphNode::") + operation + ": the node is of another kind (" +
                           std::to_string(record_->type) + ", not " + std::to_string(type) + ")");
  }
}

void GraphNode::SetParameters(CUgraphNodeParams& parameters, const std::vector<OpaqueHandle>& owners,
                              const char* doing) {
  AttachmentTransaction transaction(*record_->box, owners);
  Check("cuGraphNodeSetParams", GetDriver().cuGraphNodeSetParams(record_->raw, &parameters), doing);
  transaction.Commit(record_->raw);
}

}  // namespace holdfast
