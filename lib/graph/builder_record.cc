#include "lib/graph/builder_record.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "lib/attachments/hierarchy.h"
#include "lib/attachments/use_scope.h"
#include "lib/cleanup/deferred_cleanup.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/capture.h"
#include "lib/graph/owning_nodes.h"

namespace holdfast {
namespace {

using attachments::GraphHandle;
using attachments::Hierarchy;
using driver::Check;
using driver::GetDriver;

[[noreturn]] void Refuse(const char* operation, const char* why) {
  throw std::logic_error(std::string(operation) + ": " + why);
}

constexpr const char* kNotStartedYet = "the builder has not started to capture; call Begin first";
constexpr const char* kEndedAlready = "the builder has ended its capture; make a new builder for another one";
constexpr const char* kNoGraph =
    "there is no graph: the capture ended in error, or the graph has been destroyed since; make a new builder";

}  // namespace

GraphBuilder::Record::~Record() {
  if (state != State::kClosed) {
    const CUstream raw = stream->raw();
    driver::ReportCleanupFailure("cuStreamEndCapture", LetGo(), raw);
  }
}

GraphBuilder::State GraphBuilder::Record::CurrentState() const noexcept {
  if (state == State::kClosed) {
    return state;
  }
  if (kind == Kind::kForked) {
    const State capture = origin->CurrentState();
    const bool had_graph = capture == State::kCapturing || capture == State::kEnded;
    return had_graph ? capture : State::kInvalidated;
  }
  const bool graph_is_gone = graph != nullptr && !graph->IsAlive();
  return graph_is_gone && state != State::kCapturing ? State::kInvalidated : state;
}

void GraphBuilder::Record::RequireOpen(const char* operation) const {
  if (state == State::kClosed) {
    Refuse(operation, "the builder is closed; make a new one");
  }
}

void GraphBuilder::Record::RequireStartable(const char* operation) const {
  RequireOpen(operation);
  if (kind == Kind::kForked) {
    Refuse(operation, "a forked builder captures from the split on; enqueue on its stream, or join it");
  }
  switch (CurrentState()) {
    case State::kCapturing:
      Refuse(operation, "the builder is capturing already; call End first");
    case State::kEnded:
      Refuse(operation, kEndedAlready);
    case State::kInvalidated:
      Refuse(operation, kNoGraph);
    default:
      return;
  }
}

void GraphBuilder::Record::RequireCapturing(const char* operation) {
  RequireOpen(operation);
  switch (CurrentState()) {
    case State::kNotStarted:
      Refuse(operation, kNotStartedYet);
    case State::kEnded:
      Refuse(operation, kEndedAlready);
    case State::kInvalidated:
      Refuse(operation, kNoGraph);
    default:
      break;
  }
  if (!CaptureGraph()->IsAlive()) {
    Refuse(operation, "the graph that is captured into has been destroyed; call End, and make a new builder");
  }
}

void GraphBuilder::Record::RequireFinished(const char* operation) const {
  RequireOpen(operation);
  if (kind == Kind::kForked) {
    Refuse(operation,
           "a forked builder has no graph of its own; join it, end the builder that it was split from, and "
           "use that one");
  }
  switch (CurrentState()) {
    case State::kNotStarted:
      Refuse(operation, kNotStartedYet);
    case State::kCapturing:
      Refuse(operation, "the builder is capturing; call End first");
    case State::kInvalidated:
      Refuse(operation, kNoGraph);
    default:
      return;
  }
}

void GraphBuilder::Record::RequireDefinition(const char* operation) const {
  const bool is_body_to_fill = kind == Kind::kBody && CurrentState() == State::kNotStarted;
  if (!is_body_to_fill) {
    RequireFinished(operation);
  }
}

void GraphBuilder::Record::BeginRoot(CUstreamCaptureMode mode) {
  GraphHandle root = Hierarchy::PrepareRoot();
  Check("cuStreamBeginCapture", GetDriver().cuStreamBeginCapture(stream->raw(), mode), "beginning a capture");
  const graph::CaptureInfo info = graph::QueryCapture(stream->raw());
  if (!info.IsActive() || info.graph == nullptr) {
    driver::ReportCleanupFailure("cuStreamEndCapture", AbandonCapture(), stream->raw());
    const CUresult reason = info.result != CUDA_SUCCESS ? info.result : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    throw driver::DriverError("cuStreamGetCaptureInfo", reason, "beginning a capture");
  }
  Hierarchy::PublishRoot(root, info.graph);
  root->hierarchy().set_capturing(true);
  graph = std::move(root);
  state = State::kCapturing;
}

void GraphBuilder::Record::BeginBody(CUstreamCaptureMode mode) {
  const attachments::UseScope scope(graph->hierarchy(), "GraphBuilder::Begin");
  Check("cuStreamBeginCaptureToGraph",
        GetDriver().cuStreamBeginCaptureToGraph(stream->raw(), graph->graph(), nullptr, nullptr, 0u, mode),
        "beginning the capture of a body");
  state = State::kCapturing;
}

CUresult GraphBuilder::Record::EndCapture() noexcept {
  if (EndWouldCrash()) {
    graph::KeepForGood(stream);
    LoseGraph();
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  }
  CUgraph ended = nullptr;
  const CUresult result = GetDriver().cuStreamEndCapture(stream->raw(), &ended);
  if (result == CUDA_SUCCESS && ended != nullptr) {
    state = State::kEnded;
    if (kind == Kind::kPrimary) {
      graph->hierarchy().set_capturing(false);
    }
    DestroyUnplaced();
    return CUDA_SUCCESS;
  }
  const CUresult failure = result != CUDA_SUCCESS ? result : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (graph::CaptureStatus(stream->raw()).value_or(CU_STREAM_CAPTURE_STATUS_NONE) == CU_STREAM_CAPTURE_STATUS_NONE) {
    LoseGraph();
  }
  return failure;
}

CUresult GraphBuilder::Record::AbandonCapture() noexcept {
  CUgraph unowned = nullptr;
  const CUresult result = GetDriver().cuStreamEndCapture(stream->raw(), &unowned);
  if (unowned != nullptr) {
    driver::ReportCleanupFailure("cuGraphDestroy", GetDriver().cuGraphDestroy(unowned), unowned);
  }
  has_abandoned_capture_ = false;
  if (result == CUDA_SUCCESS) {
    return result;
  }
  const std::optional<CUstreamCaptureStatus> status = graph::CaptureStatus(stream->raw());
  if (status == CU_STREAM_CAPTURE_STATUS_NONE) {
    return CUDA_SUCCESS;
  }
  // Only what is known to go on is ended again later: on a stream that is free somebody else may capture by then.
  has_abandoned_capture_ = status.has_value();
  state = State::kInvalidated;
  return result;
}

CUresult GraphBuilder::Record::LetGo() noexcept {
  CUresult result = CUDA_SUCCESS;
  if (has_abandoned_capture_) {
    result = AbandonCapture();
  } else if (state == State::kCapturing) {
    result = EndCapture();
  }
  state = State::kClosed;
  // The capture that a fork is part of may end here: before the fork's stream goes.
  origin = nullptr;
  graph = nullptr;
  stream = nullptr;
  cleanup::DeferredCleanup::Process().OnSafeEntry();
  return result;
}

std::vector<CUgraphNode>& GraphBuilder::Record::MakeRoomForUnplaced() {
  std::vector<CUgraphNode>& nodes = CaptureOwner().unplaced;
  nodes.reserve(nodes.size() + 1);
  return nodes;
}

bool GraphBuilder::Record::EndWouldCrash() const noexcept {
  if (!graph->IsAlive()) {
    return true;
  }
  if (graph->hierarchy().IsWhole()) {
    return false;
  }
  return unjoined_forks > 0 || graph::CaptureStatus(stream->raw()) != CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

void GraphBuilder::Record::LoseGraph() noexcept {
  state = State::kInvalidated;
  // A body's conditional node goes on naming the body that the driver has freed (its bug, issue 2918): the tombstone
  // keeps the library from calling anything on it.
  if (kind == Kind::kPrimary) {
    graph->hierarchy().EndRoot();
  } else {
    graph->hierarchy().EndBody(*graph);
  }
  graph = nullptr;
  unplaced.clear();
}

void GraphBuilder::Record::DestroyUnplaced() noexcept {
  for (const CUgraphNode node : std::exchange(unplaced, {})) {
    graph::UndoAddition(*graph, node);
  }
}

}  // namespace holdfast
