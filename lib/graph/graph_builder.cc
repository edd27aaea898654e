#include "lib/graph/graph_builder.h"

#include <algorithm>
#include <stdexcept>

#include "lib/attachments/hierarchy.h"
#include "lib/attachments/transaction.h"
#include "lib/attachments/use_scope.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/builder_record.h"
#include "lib/graph/capture.h"
#include "lib/graph/owning_nodes.h"

namespace holdfast {
namespace {

using attachments::AttachmentTransaction;
using attachments::GraphHandle;
using attachments::UseScope;
using driver::Check;
using driver::GetDriver;

void RequireMode(CUstreamCaptureMode mode) {
  switch (mode) {
    case CU_STREAM_CAPTURE_MODE_GLOBAL:
    case CU_STREAM_CAPTURE_MODE_THREAD_LOCAL:
    case CU_STREAM_CAPTURE_MODE_RELAXED:
      return;
  }
  throw std::invalid_argument("GraphBuilder::Begin: " + std::to_string(static_cast<int>(mode)) +
                              " is no capture mode; give global, thread local or relaxed");
}

// Has each fork wait for what has been captured on `from`. Throws DriverError. Forks that were made by then have
// captured nothing: the driver asks for no join of these, and they leave the capture with their streams.
void Fork(const Stream& from, const Event& event, std::span<const StreamHandle> forks) {
  Check("cuEventRecord", GetDriver().cuEventRecord(event.raw(), from.raw()), "splitting a capture");
  for (const StreamHandle& fork : forks) {
    Check("cuStreamWaitEvent", GetDriver().cuStreamWaitEvent(fork->raw(), event.raw(), 0u), "splitting a capture");
  }
}

// Gives the owners of `transaction` to the callback that was captured, if one was. `before` is the capture's tail
// before the driver was asked, and `launched` its answer. Throws DriverError unless the callback is known with its
// owners.
void CommitCaptured(AttachmentTransaction& transaction, CUstream stream, std::span<const CUgraphNode> before,
                    CUresult launched) {
  const graph::CaptureInfo after = graph::QueryCapture(stream);
  const bool unchanged =
      after.IsActive() && std::equal(after.tail.begin(), after.tail.end(), before.begin(), before.end());
  const bool found = after.IsActive() && after.tail.size() == 1 && !unchanged;
  if (found) {
    transaction.Commit(after.tail.front());
  } else if (launched == CUDA_SUCCESS || !unchanged) {
    transaction.CommitAnonymously();
  }
  // A refused launch may have been captured all the same, with the error of earlier work: then it is known by now.
  Check("cuLaunchHostFunc", launched, "capturing a callback");
  Check("cuStreamGetCaptureInfo", after.result, "finding the node of a captured callback");
  Check("cuStreamGetCaptureInfo", found ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN, "finding the node of a captured callback");
}

}  // namespace

GraphBuilder::GraphBuilder(StreamHandle stream) {
  if (stream == nullptr) {
    throw std::invalid_argument("GraphBuilder: the stream is null");
  }
  record_ = std::make_shared<Record>(Kind::kPrimary, std::move(stream));
}

GraphBuilder::Kind GraphBuilder::kind() const noexcept { return record_->kind; }

GraphBuilder::State GraphBuilder::state() const noexcept { return record_->CurrentState(); }

const StreamHandle& GraphBuilder::stream() const {
  record_->RequireOpen("GraphBuilder::stream");
  return record_->stream;
}

void GraphBuilder::Begin(CUstreamCaptureMode mode) {
  RequireMode(mode);
  record_->RequireStartable("GraphBuilder::Begin");
  if (record_->kind == Kind::kPrimary) {
    record_->BeginRoot(mode);
  } else {
    record_->BeginBody(mode);
  }
}

bool GraphBuilder::IsBuilding() const {
  record_->RequireOpen("GraphBuilder::IsBuilding");
  if (record_->CurrentState() != State::kCapturing) {
    return false;
  }
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  Check("cuStreamIsCapturing", GetDriver().cuStreamIsCapturing(record_->stream->raw(), &status),
        "asking whether a stream captures");
  if (status == CU_STREAM_CAPTURE_STATUS_INVALIDATED) {
    throw std::logic_error(
        "GraphBuilder::IsBuilding: the capture has been invalidated by what was done meanwhile; call End, and capture "
        "again with a new builder");
  }
  return status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

void GraphBuilder::End() {
  record_->RequireOpen("GraphBuilder::End");
  if (record_->kind == Kind::kForked) {
    throw std::logic_error(
        "GraphBuilder::End: a forked builder does not end the capture; join it, and end the builder that it was split "
        "from");
  }
  if (record_->state != State::kCapturing) {
    record_->RequireCapturing("GraphBuilder::End");
  }
  const GraphHandle graph = record_->graph;
  const UseScope scope(graph->hierarchy(), "GraphBuilder::End");
  Check("cuStreamEndCapture", record_->EndCapture(), "ending a capture");
}

GraphExec GraphBuilder::Complete(unsigned long long flags) const {
  return GraphExec(FinishedDefinition("GraphBuilder::Complete"), flags);
}

GraphDefinition GraphBuilder::Definition() const {
  record_->RequireDefinition("GraphBuilder::Definition");
  return GraphDefinition(record_->graph);
}

void GraphBuilder::WriteDot(const std::string& path, unsigned flags) const {
  FinishedDefinition("GraphBuilder::WriteDot").WriteDot(path, flags);
}

std::vector<GraphBuilder> GraphBuilder::Split(std::size_t count) {
  if (count < 2) {
    throw std::invalid_argument("GraphBuilder::Split: " + std::to_string(count) +
                                " builders are no split; ask for two or more");
  }
  record_->RequireCapturing("GraphBuilder::Split");
  const GraphHandle graph = record_->CaptureGraph();
  const UseScope scope(graph->hierarchy(), "GraphBuilder::Split");
  const std::shared_ptr<Record> origin = record_->origin != nullptr ? record_->origin : record_;
  std::vector<GraphBuilder> builders{*this};
  std::vector<StreamHandle> streams;
  for (std::size_t i = 1; i < count; ++i) {
    streams.push_back(graph::CreateStreamLike(*record_->stream));
    auto forked = std::make_shared<Record>(Kind::kForked, streams.back());
    forked->origin = origin;
    builders.push_back(GraphBuilder(std::move(forked)));
  }
  const EventHandle event = Event::Create();
  Fork(*record_->stream, *event, streams);
  origin->unjoined_forks += streams.size();
  return builders;
}

GraphBuilder GraphBuilder::Join(std::span<const GraphBuilder> builders) {
  if (builders.size() < 2) {
    throw std::invalid_argument("GraphBuilder::Join: " + std::to_string(builders.size()) +
                                " builders are nothing to join; give two or more");
  }
  for (auto builder = builders.begin(); builder != builders.end(); ++builder) {
    builder->record_->RequireCapturing("GraphBuilder::Join");
    if (&builder->record_->CaptureOwner() != &builders.front().record_->CaptureOwner()) {
      throw std::invalid_argument("GraphBuilder::Join: the builders belong to different captures");
    }
    if (std::find(builders.begin(), builder, *builder) != builder) {
      throw std::invalid_argument("GraphBuilder::Join: a builder is given twice");
    }
  }
  const auto stays = std::find_if(builders.begin(), builders.end(),
                                  [](const GraphBuilder& builder) { return builder.kind() != Kind::kForked; });
  GraphBuilder root = stays != builders.end() ? *stays : builders.front();
  const GraphHandle graph = root.record_->CaptureGraph();
  const UseScope scope(graph->hierarchy(), "GraphBuilder::Join");
  const EventHandle event = Event::Create();
  CUresult failure = CUDA_SUCCESS;
  for (const GraphBuilder& builder : builders) {
    if (builder == root) {
      continue;
    }
    if (failure == CUDA_SUCCESS) {
      failure = graph::ChainStreams(*builder.record_->stream, *event, *root.record_->stream);
      root.record_->CaptureOwner().unjoined_forks -= failure == CUDA_SUCCESS ? 1 : 0;
    }
    builder.record_->LetGo();
  }
  Check("cuStreamWaitEvent", failure, "joining a forked capture");
  return root;
}

void GraphBuilder::AddCallback(const HostCallback& callback) {
  record_->RequireCapturing("GraphBuilder::AddCallback");
  if (callback.function == nullptr) {
    throw std::invalid_argument("GraphBuilder::AddCallback: the callback has no function");
  }
  const GraphHandle graph = record_->CaptureGraph();
  const UseScope scope(graph->hierarchy(), "GraphBuilder::AddCallback");
  const CUstream stream = record_->stream->raw();
  const std::vector<CUgraphNode> before = graph::CaptureTail(stream, "GraphBuilder::AddCallback");
  const OpaqueHandle owners[] = {callback.function_owner, callback.user_data_owner};
  AttachmentTransaction transaction(*graph, owners);
  const CUresult launched = GetDriver().cuLaunchHostFunc(stream, callback.function, callback.user_data);
  CommitCaptured(transaction, stream, before, launched);
}

void GraphBuilder::Embed(const GraphDefinition& source) {
  record_->RequireCapturing("GraphBuilder::Embed");
  source.RequireValid("GraphBuilder::Embed");
  const GraphHandle graph = record_->CaptureGraph();
  if (&source.box_->hierarchy() == &graph->hierarchy()) {
    throw std::invalid_argument("GraphBuilder::Embed: the source belongs to the graph that is being captured");
  }
  const UseScope scope(graph->hierarchy(), "GraphBuilder::Embed");
  const UseScope source_scope(source.box_->hierarchy(), "GraphBuilder::Embed");
  const CUstream stream = record_->stream->raw();
  const std::vector<CUgraphNode> tail = graph::CaptureTail(stream, "GraphBuilder::Embed");
  std::vector<CUgraphNode>& unplaced = record_->MakeRoomForUnplaced();
  const CUgraphNode node = graph::AddCopiedChild(graph, *source.box_, tail, &unplaced);
  try {
    graph::MoveTailBehind(stream, node);
  } catch (...) {
    unplaced.push_back(node);
    throw;
  }
}

void GraphBuilder::Embed(const GraphBuilder& source) {
  record_->RequireCapturing("GraphBuilder::Embed");
  Embed(source.FinishedDefinition("GraphBuilder::Embed: the source"));
}

Condition GraphBuilder::MakeCondition(std::optional<unsigned> default_value) const {
  record_->RequireCapturing("GraphBuilder::MakeCondition");
  return GraphDefinition(record_->CaptureGraph()).MakeCondition(default_value);
}

GraphBuilder GraphBuilder::If(const Condition& condition) {
  return AddConditional(condition, CU_GRAPH_COND_TYPE_IF, 1, "GraphBuilder::If").front();
}

std::pair<GraphBuilder, GraphBuilder> GraphBuilder::IfElse(const Condition& condition) {
  const std::vector<GraphBuilder> bodies = AddConditional(condition, CU_GRAPH_COND_TYPE_IF, 2, "GraphBuilder::IfElse");
  return {bodies[0], bodies[1]};
}

GraphBuilder GraphBuilder::While(const Condition& condition) {
  return AddConditional(condition, CU_GRAPH_COND_TYPE_WHILE, 1, "GraphBuilder::While").front();
}

std::vector<GraphBuilder> GraphBuilder::Switch(const Condition& condition, unsigned body_count) {
  return AddConditional(condition, CU_GRAPH_COND_TYPE_SWITCH, body_count, "GraphBuilder::Switch");
}

void GraphBuilder::Close() {
  if (record_->state == State::kClosed) {
    return;
  }
  const GraphHandle graph = record_->CaptureGraph();
  std::optional<UseScope> scope;
  if (graph != nullptr) {
    scope.emplace(graph->hierarchy(), "GraphBuilder::Close");
  }
  Check("cuStreamEndCapture", record_->LetGo(), "closing a builder whose capture went on");
}

GraphDefinition GraphBuilder::FinishedDefinition(const char* operation) const {
  record_->RequireFinished(operation);
  return GraphDefinition(record_->graph);
}

std::vector<GraphBuilder> GraphBuilder::AddConditional(const Condition& condition, CUgraphConditionalNodeType type,
                                                       unsigned body_count, const char* operation) {
  record_->RequireCapturing(operation);
  const GraphHandle graph = record_->CaptureGraph();
  const UseScope scope(graph->hierarchy(), operation);
  condition.RequireUsableIn(*graph, operation);
  std::vector<GraphBuilder> bodies;
  for (unsigned i = 0; i < body_count; ++i) {
    bodies.push_back(GraphBuilder(std::make_shared<Record>(Kind::kBody, graph::CreateStreamLike(*record_->stream))));
  }
  const CUstream stream = record_->stream->raw();
  const std::vector<CUgraphNode> tail = graph::CaptureTail(stream, operation);
  std::vector<CUgraphNode>& unplaced = record_->MakeRoomForUnplaced();
  const CUgraphNode node = graph::AddConditional(graph, condition.raw(), type, body_count, tail);
  try {
    for (unsigned i = 0; i < body_count; ++i) {
      bodies[i].record_->graph = graph->owned_graphs().Of(node)[i]->Handle();
    }
    graph::MoveTailBehind(stream, node);
  } catch (...) {
    unplaced.push_back(node);
    throw;
  }
  return bodies;
}

}  // namespace holdfast
