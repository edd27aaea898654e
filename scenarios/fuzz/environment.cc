#include "scenarios/fuzz/environment.h"

#include <cstdio>
#include <cstdlib>

#include "harness/scenario/events.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_builder.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/node_parameters.h"
#include "scenarios/support/add_one_kernel.h"
#include "scenarios/support/cleanup_context.h"

namespace holdfast::fuzz {
namespace {

using driver::GetDriver;

// The driver refused what the runner itself needs.
void RequireSuccess(const char* call, CUresult result) {
  if (result != CUDA_SUCCESS) {
    std::fprintf(stderr, "fuzz_runner: %s: %s\n", call, driver::ResultName(result).c_str());
    std::fflush(nullptr);
    std::_Exit(harness::kExitHarness);
  }
}

}  // namespace

Environment::Environment(harness::Context& context)
    : context_(context), device_(context), kernel_(scenarios::LoadAddOneKernel(context)) {
  scenarios::StartManualCleanup(context);
  LoadKernel();
  has_copies_of_rows_ = TryCopyOfRows();
  has_captures_ = TryCapture();
}

void Environment::LoadKernel() const { graph::ParameterSizes(kernel_->raw()); }

bool Environment::TryCopyOfRows() const {
  const DeviceMemoryHandle memory = DeviceMemory::Allocate(256);
  CopyParameters copy;
  copy.destination.memory = MemoryOperand::Device(memory->address(), nullptr);
  copy.source.memory = MemoryOperand::Device(memory->address() + 128, nullptr);
  copy.width_bytes = 8;
  copy.height = 2;
  try {
    GraphDefinition().AddMemcpyNode(copy);
    return true;
  } catch (const driver::DriverError&) {
    return false;
  }
}

bool Environment::TryCapture() const {
  try {
    GraphBuilder builder(Stream::Create());
    builder.Begin();
    builder.Close();
    return true;
  } catch (const driver::DriverError&) {
    return false;
  }
}

Environment::CaptureInfo Environment::AskCapture(CUstream stream) const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  RequireSuccess("cuStreamIsCapturing", GetDriver().cuStreamIsCapturing(stream, &status));
  CaptureInfo info;
  info.is_none = status == CU_STREAM_CAPTURE_STATUS_NONE;
  info.is_active = status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (info.is_active) {
    const CUgraphNode* tail = nullptr;
    std::size_t count = 0;
    RequireSuccess("cuStreamGetCaptureInfo",
                   GetDriver().cuStreamGetCaptureInfo(stream, &status, nullptr, &info.graph, &tail, nullptr, &count));
    info.tail.assign(tail, tail + count);
  }
  return info;
}

CUgraph Environment::EndCapture(CUstream stream) const {
  CUgraph graph = nullptr;
  // An invalidated capture ends with an error and no graph.
  (void)GetDriver().cuStreamEndCapture(stream, &graph);
  return graph;
}

void Environment::EnqueueHostFunction(CUstream stream, CUhostFn function, void* data) const {
  RequireSuccess("cuLaunchHostFunc", GetDriver().cuLaunchHostFunc(stream, function, data));
}

CUgraph Environment::CreateGraph() const {
  CUgraph graph = nullptr;
  RequireSuccess("cuGraphCreate", GetDriver().cuGraphCreate(&graph, 0u));
  return graph;
}

void Environment::DestroyGraph(CUgraph graph) const {
  RequireSuccess("cuGraphDestroy", GetDriver().cuGraphDestroy(graph));
}

void Environment::RetainObject(CUgraph graph, CUhostFn destructor, void* data) const {
  CUuserObject object = nullptr;
  RequireSuccess("cuUserObjectCreate",
                 GetDriver().cuUserObjectCreate(&object, data, destructor, 1u, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  RequireSuccess("cuGraphRetainUserObject",
                 GetDriver().cuGraphRetainUserObject(graph, object, 1u, CU_GRAPH_USER_OBJECT_MOVE));
}

void Environment::DestroyExecutable(CUgraphExec executable) const {
  RequireSuccess("cuGraphExecDestroy", GetDriver().cuGraphExecDestroy(executable));
}

CUgraphNode Environment::FindInClone(CUgraphNode original, CUgraph clone) const {
  CUgraphNode node = nullptr;
  RequireSuccess("cuGraphNodeFindInClone", GetDriver().cuGraphNodeFindInClone(&node, original, clone));
  return node;
}

CUgraph Environment::ChildGraphOf(CUgraphNode node) const {
  CUgraph graph = nullptr;
  RequireSuccess("cuGraphChildGraphNodeGetGraph", GetDriver().cuGraphChildGraphNodeGetGraph(node, &graph));
  return graph;
}

std::vector<CUgraphNode> Environment::NodesOf(CUgraph graph) const {
  std::size_t count = 0;
  RequireSuccess("cuGraphGetNodes", GetDriver().cuGraphGetNodes(graph, nullptr, &count));
  std::vector<CUgraphNode> nodes(count);
  RequireSuccess("cuGraphGetNodes", GetDriver().cuGraphGetNodes(graph, nodes.data(), &count));
  return nodes;
}

void Environment::SpoilCapture(CUstream stream) const { (void)GetDriver().cuStreamSynchronize(stream); }

void Environment::Fail(const std::string& message, const std::string& where) const {
  on_failure_();
  // Not in the message: it is by their messages that findings are told to be the same.
  std::fprintf(stderr, "fuzz_runner: at %s: %s\n", where.c_str(), message.c_str());
  context_.shim().note_moment("finding", "contract", fault::kNotCounted);
  harness::WriteEvent("finding", {{"kind", "contract"}, {"message", message}, {"place", ""}});
  harness::WriteEvent("finish");
  std::fflush(nullptr);
  std::_Exit(harness::kExitFinding);
}

}  // namespace holdfast::fuzz
