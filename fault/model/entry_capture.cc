// Entry points: stream capture.
#include <cuda.h>

#include "fault/model/call.h"
#include "fault/model/capture.h"
#include "fault/model/capture_mode.h"

namespace holdfast::fault::model {
namespace {

constexpr unsigned int kUpdateFlags = CU_STREAM_SET_CAPTURE_DEPENDENCIES;  // or none

bool IsMode(CUstreamCaptureMode mode) {
  return mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED;
}

bool IsNullStream(CUstream stream) { return stream == nullptr || stream == CU_STREAM_LEGACY; }

// The stream, for a call that the null stream answers with `otherwise`: it never captures.
StreamPointer RequireCapturable(CUstream handle, CUresult otherwise) {
  if (IsNullStream(handle)) {
    RequireNoImplicitCapture();
    throw Refusal{otherwise};
  }
  return RequireStream(handle);
}

CUresult Begin(const char* name, CUstream stream, CUstreamCaptureMode mode) {
  return Enter(name, Rule::kInCallback, [&] {
    Require(IsMode(mode));
    BeginCapture(RequireCapturable(stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED), mode);
  });
}

// Edges of the model are full dependencies alone.
void RefuseEdgeData(const CUgraphEdgeData* edges, std::size_t count) {
  for (std::size_t i = 0; edges != nullptr && i < count; ++i) {
    Require(edges[i].type <= CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
    if (edges[i].from_port != 0 || edges[i].to_port != 0 || edges[i].type != 0) throw Unmodelled{};
  }
}

// To ask the null stream is refused while a stream captures that it would wait for. No capture suffers.
CaptureState Ask(CUstream handle) {
  if (IsNullStream(handle)) RequireNoImplicitCaptureToAsk();
  return CaptureStateOf(*RequireStream(handle));
}

// What the forms of the question have in common. What is not asked for is null.
CUresult GetInfo(const char* name, CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                 const CUgraphNode** dependencies, const CUgraphEdgeData** edges, size_t* count) {
  return Enter(name, Rule::kInCallback, [&] {
    Require(status != nullptr && (edges == nullptr || dependencies != nullptr));
    const CaptureState state = Ask(stream);
    *status = state.status;
    if (state.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return;
    if (id != nullptr) *id = state.id;
    if (graph != nullptr) *graph = state.graph;
    if (dependencies != nullptr) *dependencies = state.dependencies;
    if (edges != nullptr) *edges = state.edges;
    if (count != nullptr) *count = state.count;
  });
}

CUresult Update(const char* name, CUstream handle, const CUgraphNode* nodes, const CUgraphEdgeData* edges, size_t count,
                unsigned int flags) {
  return Enter(name, Rule::kInCallback, [&] {
    const StreamPointer stream = RequireCapturable(handle, CUDA_ERROR_ILLEGAL_STATE);
    Require(IsCapturing(*stream), CUDA_ERROR_ILLEGAL_STATE);
    Require((flags & ~kUpdateFlags) == 0);
    RefuseEdgeData(edges, count);
    UpdateDependencies(*stream, nodes, count, flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
  });
}

}  // namespace

extern "C" {

// The first form has no mode and forbids nothing.
CUresult cuStreamBeginCapture(CUstream stream) { return Begin(__func__, stream, CU_STREAM_CAPTURE_MODE_RELAXED); }

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) { return Begin(__func__, stream, mode); }

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* dependencies,
                                     const CUgraphEdgeData* edges, size_t count, CUstreamCaptureMode mode) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Require(IsMode(mode));
    RefuseEdgeData(edges, count);
    BeginCaptureToGraph(RequireCapturable(stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED), graph, dependencies, count,
                        mode);
  });
}

// Whatever goes wrong, no graph comes out. To give no place for it is no error: the graph of the capture then stays
// alive for those who know its handle (fact C2).
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  CUgraph ended = nullptr;
  const CUresult result = Enter(__func__, Rule::kInCallback,
                                [&] { ended = EndCapture(*RequireCapturable(stream, CUDA_ERROR_ILLEGAL_STATE)); });
  if (graph != nullptr) *graph = ended;
  return result;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return GetInfo(__func__, stream, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return GetInfo(__func__, stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                   const CUgraphNode** dependencies, size_t* count) {
  return GetInfo(__func__, stream, status, id, graph, dependencies, nullptr, count);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                   const CUgraphNode** dependencies, const CUgraphEdgeData** edges, size_t* count) {
  return GetInfo(__func__, stream, status, id, graph, dependencies, edges, count);
}

CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* nodes, size_t count, unsigned int flags) {
  return Update(__func__, stream, nodes, nullptr, count, flags);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* nodes, const CUgraphEdgeData* edges,
                                              size_t count, unsigned int flags) {
  return Update(__func__, stream, nodes, edges, count, flags);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Require(mode != nullptr && IsMode(*mode));
    *mode = ExchangeCaptureMode(*mode);
  });
}

}  // extern "C"
}  // namespace holdfast::fault::model
