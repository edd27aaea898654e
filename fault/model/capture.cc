#include "fault/model/capture.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "fault/model/call.h"
#include "fault/model/event.h"
#include "fault/model/graph.h"

namespace holdfast::fault::model {

struct Capture {
  std::uint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::uint64_t thread = 0;  // that began it
  const Stream* origin = nullptr;
  CUgraph graph = nullptr;
  std::uint64_t graph_serial = 0;  // tells the graph from another one with its handle
  bool valid = true;
  bool over = false;
  std::vector<StreamPointer> streams;  // the origin and the other branches
  // Captured nodes that no captured node depends on. At the end the origin has to depend on them.
  std::unordered_set<CUgraphNode> loose;
};

namespace {

// The lock of captures, and the captures that have begun and not ended.
struct Captures {
  std::mutex mutex;
  std::vector<CapturePointer> list;         // guarded by mutex
  std::uint64_t next_id = 1;                // guarded by mutex
  std::atomic<std::size_t> in_progress{0};  // size of list, written with mutex held; calls look here first
};

Captures& All() {
  static auto* captures = new Captures;
  return *captures;
}

// Relaxed: a thread that comes after a capture began, by whatever means, sees its count; one that does not may miss it,
// as it may on the real driver.
bool NoneInProgress() { return All().in_progress.load(std::memory_order_relaxed) == 0; }

// The other functions here want the lock of captures held.

CaptureBranch* ValidBranch(Stream& stream) {
  CaptureBranch* branch = stream.branch.get();
  Require(branch == nullptr || branch->capture->valid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  return branch;
}

void SetDependencies(CaptureBranch* branch, std::vector<CUgraphNode> nodes) {
  branch->edges.assign(nodes.size(), CUgraphEdgeData{});
  branch->dependencies = std::move(nodes);
}

// Each node once, in the order in which it comes up.
std::vector<CUgraphNode> Union(const std::vector<CUgraphNode>& first, const CUgraphNode* more, std::size_t count) {
  std::vector<CUgraphNode> nodes = first;
  std::unordered_set<CUgraphNode> known(first.begin(), first.end());
  for (std::size_t i = 0; i < count; ++i) {
    if (known.insert(more[i]).second) nodes.push_back(more[i]);
  }
  return nodes;
}

std::vector<CUgraphNode> Union(const std::vector<CUgraphNode>& first, const std::vector<CUgraphNode>& more) {
  return Union(first, more.data(), more.size());
}

void AddBranch(const StreamPointer& stream, const CapturePointer& capture, std::vector<CUgraphNode> dependencies) {
  auto branch = std::make_shared<CaptureBranch>();
  branch->capture = capture;
  SetDependencies(branch.get(), std::move(dependencies));
  capture->streams.push_back(stream);
  stream->branch = std::move(branch);
}

// The real driver goes on to write to the graph that is gone.
Graph& GraphOf(const Capture& capture) {
  Graph* graph = Graph::Find(capture.graph);
  if (graph == nullptr || graph->serial != capture.graph_serial) {
    Misuse("the capture's graph was destroyed with the graph that owns it (the real driver uses freed memory)");
  }
  return *graph;
}

void AddNode(CaptureBranch* branch, const std::function<NodeParameters(Graph&)>& make) {
  Capture& capture = *branch->capture;
  Graph& graph = GraphOf(capture);
  const GraphUse use(graph);
  NodeParameters parameters = make(graph);
  const std::vector<CUgraphNode>& before = branch->dependencies;
  const CUgraphNode node = graph.AddNode(std::move(parameters), before.data(), before.size()).handle;
  for (const CUgraphNode dependency : before) capture.loose.erase(dependency);
  capture.loose.insert(node);
  SetDependencies(branch, {node});
}

CaptureOwner OwnerOf(const Capture& capture) {
  const bool blocks = std::any_of(capture.streams.begin(), capture.streams.end(),
                                  [](const StreamPointer& stream) { return stream->blocks(); });
  return CaptureOwner{capture.mode, capture.thread, blocks};
}

void Begin(const StreamPointer& stream, CUstreamCaptureMode mode, Graph& graph, std::vector<CUgraphNode> dependencies) {
  Captures& all = All();
  auto capture = std::make_shared<Capture>();
  capture->id = all.next_id++;
  capture->mode = mode;
  capture->thread = ThreadNumber();
  capture->origin = stream.get();
  capture->graph = graph.handle;
  capture->graph_serial = graph.serial;
  all.list.push_back(capture);
  AddBranch(stream, capture, std::move(dependencies));
  graph.is_captured_into = true;
  all.in_progress.store(all.list.size(), std::memory_order_relaxed);
}

// Whether the origin comes after all captured work. Edges that the caller added by hand count.
bool IsJoined(const Capture& capture) {
  const std::vector<CUgraphNode>& last = capture.origin->branch->dependencies;
  const std::unordered_set<CUgraphNode> reached(last.begin(), last.end());
  return std::all_of(capture.loose.begin(), capture.loose.end(), [&reached](CUgraphNode node) {
    return reached.contains(node) || !RequireNode(node).dependents.empty();
  });
}

CUresult Verdict(const Capture& capture) {
  if (!capture.valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!IsJoined(capture)) return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  const bool is_own = capture.mode == CU_STREAM_CAPTURE_MODE_RELAXED || capture.thread == ThreadNumber();
  return is_own ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

// Ends the capture for all of its branches.
void Finish(const CapturePointer& capture) {
  Captures& all = All();
  GraphOf(*capture).is_captured_into = false;
  capture->over = true;
  for (const StreamPointer& stream : std::exchange(capture->streams, {})) stream->branch.reset();
  capture->loose.clear();
  all.list.erase(std::find(all.list.begin(), all.list.end(), capture));
  all.in_progress.store(all.list.size(), std::memory_order_relaxed);
}

void FinishWithoutGraph(const CapturePointer& capture, std::vector<Reference>* dropped) {
  Graph& graph = GraphOf(*capture);
  GraphUse use(graph);
  if (graph.parent == nullptr) use.Forget();
  Finish(capture);
  Graph::DestroyAnywhere(graph, dropped);
}

// In a capture the stream waits for what is in the same capture, or for nothing.
void WaitInCapture(CaptureBranch* branch, CUevent handle, bool is_external) {
  const EventPointer event = RequireEvent(handle);
  if (is_external) {
    AddNode(branch, [&event](const Graph&) { return EventWaitNode{event}; });
    return;
  }
  const std::shared_ptr<const CapturePoint> point = event->captured();
  if (point == nullptr) {
    Require(event->record() == nullptr, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    return;
  }
  Require(point->capture->valid && !point->capture->over);
  if (point->capture != branch->capture) {
    point->capture->valid = false;
    throw Refusal{CUDA_ERROR_STREAM_CAPTURE_MERGE};
  }
  SetDependencies(branch, Union(branch->dependencies, point->nodes));
}

}  // namespace

void BeginCapture(const StreamPointer& stream, CUstreamCaptureMode mode) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  Require(stream->branch == nullptr, CUDA_ERROR_ILLEGAL_STATE);
  std::unique_ptr<Graph> graph = Graph::Create(nullptr);
  Begin(stream, mode, *graph, {});
  Graph::Publish(std::move(graph));
}

void BeginCaptureToGraph(const StreamPointer& stream, CUgraph handle, const CUgraphNode* dependencies,
                         std::size_t count, CUstreamCaptureMode mode) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  Graph& graph = Graph::Require(handle);
  const GraphUse use(graph);
  graph.RequireOwnNodes(dependencies, count);
  Require(stream->branch == nullptr && !graph.is_captured_into, CUDA_ERROR_ILLEGAL_STATE);
  Begin(stream, mode, graph, Union({}, dependencies, count));
}

CUgraph EndCapture(Stream& stream) {
  std::vector<Reference> dropped;
  CUresult verdict = CUDA_SUCCESS;
  CUgraph graph = nullptr;
  {
    const std::lock_guard<std::mutex> lock(All().mutex);
    Require(stream.branch != nullptr, CUDA_ERROR_ILLEGAL_STATE);
    const CapturePointer capture = stream.branch->capture;
    if (capture->origin != &stream) {
      capture->valid = false;
      throw Refusal{CUDA_ERROR_STREAM_CAPTURE_UNMATCHED};
    }
    graph = GraphOf(*capture).handle;
    verdict = Verdict(*capture);
    if (verdict == CUDA_SUCCESS) {
      Finish(capture);
    } else {
      FinishWithoutGraph(capture, &dropped);
    }
  }
  DropAll(dropped);
  Require(verdict == CUDA_SUCCESS, verdict);
  return graph;
}

void LeaveCapture(Stream& stream) {
  if (NoneInProgress()) return;
  std::vector<Reference> dropped;
  {
    const std::lock_guard<std::mutex> lock(All().mutex);
    const std::shared_ptr<CaptureBranch> branch = stream.branch;
    if (branch == nullptr) return;
    if (branch->capture->origin == &stream) {
      FinishWithoutGraph(branch->capture, &dropped);
    } else {
      std::erase_if(branch->capture->streams, [&stream](const StreamPointer& other) { return other.get() == &stream; });
      stream.branch.reset();
    }
  }
  DropAll(dropped);
}

bool CaptureNode(Stream& stream, const NodeMaker& make, OnRefusal on_refusal) {
  return CaptureNodeOf(
      stream, [&make](Graph&) { return make(); }, on_refusal);
}

bool CaptureNodeOf(Stream& stream, const std::function<NodeParameters(Graph&)>& make, OnRefusal on_refusal) {
  if (NoneInProgress()) return false;
  const std::lock_guard<std::mutex> lock(All().mutex);
  CaptureBranch* branch = ValidBranch(stream);
  if (branch == nullptr) return false;
  try {
    AddNode(branch, make);
  } catch (const Refusal&) {
    if (on_refusal == OnRefusal::kInvalidate) branch->capture->valid = false;
    throw;
  }
  return true;
}

bool IsCapturing(Stream& stream) {
  if (NoneInProgress()) return false;
  const std::lock_guard<std::mutex> lock(All().mutex);
  return ValidBranch(stream) != nullptr;
}

bool CaptureRecord(Stream& stream, Event& event) {
  if (NoneInProgress()) return false;
  const std::lock_guard<std::mutex> lock(All().mutex);
  const CaptureBranch* branch = ValidBranch(stream);
  if (branch == nullptr) return false;
  event.SetCaptured(std::make_shared<const CapturePoint>(CapturePoint{branch->capture, branch->dependencies}));
  return true;
}

bool CaptureWait(const StreamPointer& stream, CUevent handle, bool is_external) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  if (CaptureBranch* branch = ValidBranch(*stream)) {
    try {
      WaitInCapture(branch, handle, is_external);
    } catch (const Refusal&) {
      branch->capture->valid = false;
      throw;
    }
    return true;
  }
  Require(!is_external, CUDA_ERROR_ILLEGAL_STATE);
  const std::shared_ptr<const CapturePoint> point = RequireEvent(handle)->captured();
  if (point == nullptr) return false;
  Require(point->capture->valid && !point->capture->over);
  if (stream->handle == nullptr) {
    point->capture->valid = false;
    throw Refusal{CUDA_ERROR_STREAM_CAPTURE_IMPLICIT};
  }
  AddBranch(stream, point->capture, point->nodes);
  return true;
}

void RefuseCapturedEvent(const Event& event, bool invalidates) {
  const std::shared_ptr<const CapturePoint> point = event.captured();
  if (point == nullptr) return;
  const std::lock_guard<std::mutex> lock(All().mutex);
  Require(point->capture->valid && !point->capture->over);
  if (invalidates) point->capture->valid = false;
  throw Refusal{CUDA_ERROR_CAPTURED_EVENT};
}

CaptureState CaptureStateOf(const Stream& stream) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  const CaptureBranch* branch = stream.branch.get();
  if (branch == nullptr) return {};
  if (!branch->capture->valid) return CaptureState{.status = CU_STREAM_CAPTURE_STATUS_INVALIDATED};
  const bool has_any = !branch->dependencies.empty();
  return CaptureState{.status = CU_STREAM_CAPTURE_STATUS_ACTIVE,
                      .id = branch->capture->id,
                      .graph = branch->capture->graph,
                      .dependencies = has_any ? branch->dependencies.data() : nullptr,
                      .edges = has_any ? branch->edges.data() : nullptr,
                      .count = branch->dependencies.size()};
}

void UpdateDependencies(Stream& stream, const CUgraphNode* nodes, std::size_t count, bool replaces) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  CaptureBranch* branch = ValidBranch(stream);
  Require(branch != nullptr, CUDA_ERROR_ILLEGAL_STATE);
  Capture& capture = *branch->capture;
  GraphOf(capture).RequireOwnNodes(nodes, count);
  if (!replaces) {
    SetDependencies(branch, Union(branch->dependencies, nodes, count));
    return;
  }
  for (const CUgraphNode before : branch->dependencies) capture.loose.erase(before);
  SetDependencies(branch, Union({}, nodes, count));
}

void RefuseCapturing(Stream& stream) {
  if (NoneInProgress()) return;
  const std::lock_guard<std::mutex> lock(All().mutex);
  if (stream.branch == nullptr) return;
  stream.branch->capture->valid = false;
  throw Refusal{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED};
}

bool InvalidateCaptures(const std::function<bool(const CaptureOwner&)>& concerns) {
  if (NoneInProgress()) return false;
  const std::lock_guard<std::mutex> lock(All().mutex);
  bool found = false;
  for (const CapturePointer& capture : All().list) {
    if (!concerns(OwnerOf(*capture))) continue;
    capture->valid = false;
    found = true;
  }
  return found;
}

bool HasCapture(const std::function<bool(const CaptureOwner&)>& concerns) {
  if (NoneInProgress()) return false;
  const std::lock_guard<std::mutex> lock(All().mutex);
  return std::any_of(All().list.begin(), All().list.end(),
                     [&concerns](const CapturePointer& capture) { return concerns(OwnerOf(*capture)); });
}

}  // namespace holdfast::fault::model
