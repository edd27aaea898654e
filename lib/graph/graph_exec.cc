#include "lib/graph/graph_exec.h"

#include <stdexcept>
#include <string>
#include <utility>

#include "lib/attachments/executable_owners.h"
#include "lib/attachments/hierarchy.h"
#include "lib/attachments/use_scope.h"
#include "lib/cleanup/deferred_cleanup.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/capture.h"
#include "lib/graph/exec_node.h"
#include "lib/graph/graph_builder.h"

namespace holdfast {
namespace {

using attachments::GraphBox;
using attachments::StagedExecutableOwners;
using attachments::UseScope;
using driver::Check;
using driver::GetDriver;

// The driver's words for why an instantiation failed, where it has any beyond the result code.
const char* Reason(CUgraphInstantiateResult result) {
  switch (result) {
    case CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE:
      return "instantiating a graph: its structure is invalid, a cycle perhaps";
    case CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED:
      return "instantiating a graph: a node's operation is not supported for device launch";
    case CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED:
      return "instantiating a graph: its nodes are in more than one context";
    case CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED:
      return "instantiating a graph: a conditional handle is not used by any node";
    default:
      return "instantiating a graph";
  }
}

std::string Reason(const CUgraphExecUpdateResultInfo& info) {
  return "updating an executable: the driver's update result is " + std::to_string(static_cast<int>(info.result));
}

CUgraphExec Instantiate(CUgraph source, unsigned long long flags) {
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  parameters.flags = flags;
  CUgraphExec raw = nullptr;
  const CUresult result = GetDriver().cuGraphInstantiateWithParams(&raw, source, &parameters);
  Check("cuGraphInstantiateWithParams", result, Reason(parameters.result_out));
  if (parameters.result_out != CUDA_GRAPH_INSTANTIATE_SUCCESS) {
    if (raw != nullptr) {
      driver::ReportCleanupFailure("cuGraphExecDestroy", GetDriver().cuGraphExecDestroy(raw), raw);
    }
    throw driver::DriverError("cuGraphInstantiateWithParams", CUDA_ERROR_UNKNOWN, Reason(parameters.result_out));
  }
  return raw;
}

// Whether cuGraphExecNodeSetParams knows the kind.
bool HasParametersInExecutables(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_HOST:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return true;
    default:
      return false;
  }
}

// The driver crashes otherwise, 580.159.04 at least: a graph with conditional nodes has to be the only one of its kind,
// and it notices too late that a graph embedded in it is not.
void RequireUncopiedChildren(const GraphBox& graph) {
  if (graph.HasBodiesBelow() && graph.HasCopiesBelow()) {
    throw driver::DriverError("cuGraphInstantiateWithParams", CUDA_ERROR_NOT_SUPPORTED,
                              "instantiating a graph with conditional nodes: a graph that was moved into it still has "
                              "clones, embedded copies or executables; destroy them first");
  }
}

void RequireStream(const StreamHandle& stream, const char* operation) {
  if (stream == nullptr) {
    throw std::invalid_argument(std::string(operation) + ": the stream is null");
  }
}

}  // namespace

GraphExec::GraphExec(const GraphDefinition& definition, unsigned long long flags)
    : record_(std::make_shared<graph::ExecRecord>()) {
  definition.RequireValid("GraphExec");
  definition.box_->hierarchy().RequireWhole("GraphExec");
  const UseScope scope(definition.box_->hierarchy(), "GraphExec");
  RequireUncopiedChildren(*definition.box_);
  const StagedExecutableOwners staged(*definition.box_);
  record_->copy_of = definition.box_->CopyToken();
  record_->raw = Instantiate(definition.raw(), flags);
  record_->owners = staged.owners();
}

void GraphExec::Launch(const StreamHandle& stream) const {
  record_->RequireOpen("GraphExec::Launch");
  RequireStream(stream, "GraphExec::Launch");
  Check("cuGraphLaunch", GetDriver().cuGraphLaunch(record_->raw, stream->raw()), "launching an executable");
}

void GraphExec::Upload(const StreamHandle& stream) const {
  record_->RequireOpen("GraphExec::Upload");
  RequireStream(stream, "GraphExec::Upload");
  Check("cuGraphUpload", GetDriver().cuGraphUpload(record_->raw, stream->raw()), "uploading an executable");
}

void GraphExec::Update(const GraphDefinition& source) {
  record_->RequireOpen("GraphExec::Update");
  source.RequireValid("GraphExec::Update");
  source.box_->hierarchy().RequireWhole("GraphExec::Update");
  const UseScope scope(source.box_->hierarchy(), "GraphExec::Update");
  const StagedExecutableOwners staged(*source.box_);
  CUgraphExecUpdateResultInfo info{};
  const CUresult result = GetDriver().cuGraphExecUpdate(record_->raw, source.raw(), &info);
  if (result != CUDA_SUCCESS) {
    throw driver::DriverError("cuGraphExecUpdate", result, Reason(info));
  }
  // The old list is the driver's to let go of, now or when the last launch that needs it has ended.
  record_->owners = staged.owners();
}

void GraphExec::Update(const GraphBuilder& source) {
  record_->RequireOpen("GraphExec::Update");
  Update(source.FinishedDefinition("GraphExec::Update"));
}

ExecNode GraphExec::Node(const GraphNode& node) const {
  record_->RequireOpen("GraphExec::Node");
  if (!node.IsValid()) {
    throw std::logic_error("GraphExec::Node: the node has been destroyed or never was");
  }
  if (!HasParametersInExecutables(node.type())) {
    throw std::invalid_argument("GraphExec::Node: a node of type " + std::to_string(static_cast<int>(node.type())) +
                                " has no parameters that can be set in an executable");
  }
  return ExecNode(record_, node);
}

void GraphExec::Close() {
  const CUgraphExec raw = std::exchange(record_->raw, nullptr);
  if (raw == nullptr) {
    return;
  }
  record_->owners = nullptr;
  const CUresult result = GetDriver().cuGraphExecDestroy(raw);
  if (result == CUDA_SUCCESS) {
    record_->copy_of = nullptr;
  }
  cleanup::DeferredCleanup::Process().OnSafeEntry();
  Check("cuGraphExecDestroy", result, "closing an executable");
}

}  // namespace holdfast
