#include "tests/conformance/capture.h"

#include <algorithm>
#include <cstdint>
#include <thread>

namespace holdfast::conformance {
namespace {

constexpr char kPtx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry holdfast_nothing()\n{\n  ret;\n}\n"
    ".visible .entry holdfast_arguments(.param .u64 first, .param .u32 second)\n{\n  ret;\n}\n";

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string PositionIn(const std::vector<CUgraphNode>& nodes, CUgraphNode node) {
  return std::to_string(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
}

}  // namespace

CUstream MakeStream(const Driver& driver, Report& report, unsigned int flags) {
  CUstream stream = nullptr;
  HOLDFAST_NEED(report, driver.StreamCreate(&stream, flags));
  return stream;
}

CUevent MakeEvent(const Driver& driver, Report& report) {
  CUevent event = nullptr;
  HOLDFAST_NEED(report, driver.EventCreate(&event, 0));
  return event;
}

void Begin(const Driver& driver, Report& report, CUstream stream, CUstreamCaptureMode mode) {
  HOLDFAST_NEED(report, driver.StreamBeginCapture(stream, mode));
}

void BeginInto(const Driver& driver, Report& report, CUstream stream, CUgraph graph, CUstreamCaptureMode mode) {
  HOLDFAST_NEED(report, driver.StreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, mode));
}

void Work(const Driver& driver, Report& report, CUstream stream) {
  HOLDFAST_NEED(report, driver.LaunchHostFunc(stream, &DoNothing, nullptr));
}

void Follow(const Driver& driver, Report& report, CUstream to, CUstream from) {
  const CUevent event = MakeEvent(driver, report);
  HOLDFAST_NEED(report, driver.EventRecord(event, from));
  HOLDFAST_NEED(report, driver.StreamWaitEvent(to, event, 0));
  HOLDFAST_NEED(report, driver.EventDestroy(event));
}

void Invalidate(const Driver& driver, Report& report, CUstream stream) {
  report.Expect("synchronize", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, driver.StreamSynchronize(stream));
}

void Drop(const Driver& driver, CUstream stream) {
  CUgraph graph = nullptr;
  if (driver.StreamEndCapture(stream, &graph) == CUDA_SUCCESS) driver.GraphDestroy(graph);
}

void Own(const Driver& driver, Report& report, CUgraph graph, Payload* payload) {
  const CUuserObject object = MakeObject(driver, report, payload);
  HOLDFAST_NEED(report, driver.GraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
}

CUgraph GraphOf(const Driver& driver, Report& report, CUstream stream) {
  CUstreamCaptureStatus status{};
  CUgraph graph = nullptr;
  HOLDFAST_NEED(report, driver.StreamGetCaptureInfo(stream, &status, nullptr, &graph, nullptr, nullptr, nullptr));
  return graph;
}

std::vector<CUgraphNode> DependenciesOf(const Driver& driver, Report& report, CUstream stream) {
  CUstreamCaptureStatus status{};
  const CUgraphNode* nodes = nullptr;
  std::size_t count = 0;
  HOLDFAST_NEED(report, driver.StreamGetCaptureInfo(stream, &status, nullptr, nullptr, &nodes, nullptr, &count));
  return {nodes, nodes + count};
}

std::vector<CUgraphNode> NodesOf(const Driver& driver, Report& report, CUgraph graph) {
  std::size_t count = 0;
  HOLDFAST_NEED(report, driver.GraphGetNodes(graph, nullptr, &count));
  std::vector<CUgraphNode> nodes(count);
  HOLDFAST_NEED(report, driver.GraphGetNodes(graph, nodes.data(), &count));
  return nodes;
}

std::string Status(const Driver& driver, CUstream stream) {
  CUstreamCaptureStatus status{};
  const CUresult result = driver.StreamIsCapturing(stream, &status);
  if (result != CUDA_SUCCESS) return NameOf(driver, result);
  if (status == CU_STREAM_CAPTURE_STATUS_NONE) return "none";
  return status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? "active" : "invalid";
}

std::string End(const Driver& driver, CUstream stream, CUgraph* graph) {
  const auto untouched = reinterpret_cast<CUgraph>(std::uintptr_t{16});
  CUgraph given = untouched;
  const CUresult result = driver.StreamEndCapture(stream, &given);
  if (graph != nullptr) *graph = given == untouched ? nullptr : given;
  const char* what = given == untouched ? "nothing" : given == nullptr ? "null" : "a graph";
  return NameOf(driver, result) + ", " + what;
}

std::string Dependencies(const Driver& driver, Report& report, CUstream stream) {
  const std::vector<CUgraphNode> nodes = NodesOf(driver, report, GraphOf(driver, report, stream));
  std::vector<std::string> words;
  for (const CUgraphNode node : DependenciesOf(driver, report, stream)) words.push_back(PositionIn(nodes, node));
  return Joined(words);
}

std::string Edges(const Driver& driver, Report& report, CUgraph graph) {
  const std::vector<CUgraphNode> nodes = NodesOf(driver, report, graph);
  std::size_t count = 0;
  HOLDFAST_NEED(report, driver.GraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  std::vector<CUgraphNode> from(count);
  std::vector<CUgraphNode> to(count);
  std::vector<CUgraphEdgeData> data(count);
  HOLDFAST_NEED(report, driver.GraphGetEdges(graph, from.data(), to.data(), data.data(), &count));
  std::vector<std::string> words;
  for (std::size_t i = 0; i < count; ++i) words.push_back(PositionIn(nodes, from[i]) + ">" + PositionIn(nodes, to[i]));
  std::sort(words.begin(), words.end());
  return Joined(words);
}

std::string Answered(const Driver& driver, CUresult got, CUstream stream) {
  return NameOf(driver, got) + ", " + Status(driver, stream);
}

void OnThread(const Driver& driver, const std::function<void()>& steps, CUstreamCaptureMode mode) {
  std::thread thread([&] {
    driver.CtxSetCurrent(driver.context);
    const ThreadMode held(driver, mode);
    steps();
  });
  thread.join();
}

ThreadMode::ThreadMode(const Driver& driver, CUstreamCaptureMode mode) : driver_(driver), mode_(mode) {
  driver_.ThreadExchangeStreamCaptureMode(&mode_);
}

ThreadMode::~ThreadMode() { driver_.ThreadExchangeStreamCaptureMode(&mode_); }

Conditional MakeConditional(const Driver& driver, Report& report, CUgraph parent) {
  Conditional made;
  made.parent = parent;
  CUgraphConditionalHandle handle = 0;
  HOLDFAST_NEED(report,
                driver.GraphConditionalHandleCreate(&handle, parent, driver.context, 0, CU_GRAPH_COND_ASSIGN_DEFAULT));
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  parameters.conditional.handle = handle;
  parameters.conditional.type = CU_GRAPH_COND_TYPE_IF;
  parameters.conditional.size = 1;
  parameters.conditional.ctx = driver.context;
  HOLDFAST_NEED(report, driver.GraphAddNode(&made.node, parent, nullptr, nullptr, 0, &parameters));
  made.body = parameters.conditional.phGraph_out[0];
  return made;
}

CUfunction LoadKernel(const Driver& driver, Report& report, const char* name) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  HOLDFAST_NEED(report, driver.ModuleLoadData(&module, kPtx));
  HOLDFAST_NEED(report, driver.ModuleGetFunction(&function, module, name));
  return function;
}

}  // namespace holdfast::conformance
