#include "lib/graph/graph_exec.h"

#include <stdexcept>
#include <string>
#include <utility>

#include "lib/cleanup/deferred_cleanup.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"

namespace holdfast {
namespace {

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

}  // namespace

GraphExec::Record::~Record() {
  if (raw != nullptr) {
    driver::ReportCleanupFailure("cuGraphExecDestroy", GetDriver().cuGraphExecDestroy(raw), raw);
    cleanup::DeferredCleanup::Process().OnSafeEntry();
  }
}

GraphExec::GraphExec(const GraphDefinition& definition, unsigned long long flags)
    : record_(std::make_shared<Record>()) {
  cleanup::DeferredCleanup::Process().OnSafeEntry();
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  parameters.flags = flags;
  CUgraphExec raw = nullptr;
  const CUresult result = GetDriver().cuGraphInstantiateWithParams(&raw, definition.raw(), &parameters);
  Check("cuGraphInstantiateWithParams", result, Reason(parameters.result_out));
  if (parameters.result_out != CUDA_GRAPH_INSTANTIATE_SUCCESS) {
    if (raw != nullptr) {
      driver::ReportCleanupFailure("cuGraphExecDestroy", GetDriver().cuGraphExecDestroy(raw), raw);
    }
    throw driver::DriverError("cuGraphInstantiateWithParams", CUDA_ERROR_UNKNOWN, Reason(parameters.result_out));
  }
  record_->raw = raw;
}

void GraphExec::Launch(const StreamHandle& stream) const {
  RequireOpen("Launch");
  if (stream == nullptr) {
    throw std::invalid_argument("GraphExec::Launch: the stream is null");
  }
  Check("cuGraphLaunch", GetDriver().cuGraphLaunch(record_->raw, stream->raw()), "launching an executable");
}

void GraphExec::Update(const GraphDefinition& source) {
  RequireOpen("Update");
  cleanup::DeferredCleanup::Process().OnSafeEntry();
  CUgraphExecUpdateResultInfo info{};
  const CUresult result = GetDriver().cuGraphExecUpdate(record_->raw, source.raw(), &info);
  if (result != CUDA_SUCCESS) {
    throw driver::DriverError("cuGraphExecUpdate", result, Reason(info));
  }
}

void GraphExec::Close() {
  const CUgraphExec raw = std::exchange(record_->raw, nullptr);
  if (raw == nullptr) {
    return;
  }
  const CUresult result = GetDriver().cuGraphExecDestroy(raw);
  cleanup::DeferredCleanup::Process().OnSafeEntry();
  Check("cuGraphExecDestroy", result, "closing an executable");
}

void GraphExec::RequireOpen(const char* operation) const {
  if (record_->raw == nullptr) {
    throw std::logic_error(std::string("GraphExec::") + operation + ": the executable has been closed");
  }
}

}  // namespace holdfast
