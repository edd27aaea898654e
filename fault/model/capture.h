// Stream captures: work on a stream becomes nodes of a graph in place of running.
//
// A capture begins on one stream, its origin. Another stream comes in as a branch when it waits for an event that was
// recorded in the capture, and leaves when the capture ends. Each branch has its dependencies, the nodes that its next
// node will depend on. A capture that somebody broke the rules of is invalid: it takes no more work, and its end
// destroys the graph.
//
// Thread safety: all functions may be called from any thread; one lock covers all captures. The graph is in use by the
// calling thread while a call adds to it or destroys it, as in graph.h.
#ifndef HOLDFAST_FAULT_MODEL_CAPTURE_H_
#define HOLDFAST_FAULT_MODEL_CAPTURE_H_

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "fault/model/node.h"
#include "fault/model/stream.h"

namespace holdfast::fault::model {

struct Capture;
using CapturePointer = std::shared_ptr<Capture>;

// A stream's part in a capture. Changed with the lock of captures held.
struct CaptureBranch {
  CapturePointer capture;
  std::vector<CUgraphNode> dependencies;
  std::vector<CUgraphEdgeData> edges;  // as many as dependencies, all zero; there to be given out
};

// Where in a capture an event was recorded. Immutable.
struct CapturePoint {
  CapturePointer capture;
  std::vector<CUgraphNode> nodes;
};

// Each throws Refusal{CUDA_ERROR_ILLEGAL_STATE} if the stream captures already, or the graph is captured into by
// another; BeginCaptureToGraph throws Refusal{CUDA_ERROR_INVALID_VALUE} for dependencies of another graph.
void BeginCapture(const StreamPointer& stream, CUstreamCaptureMode mode);
void BeginCaptureToGraph(const StreamPointer& stream, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                         CUstreamCaptureMode mode);

// The graph, which is the caller's now, or the owner's that it always had. Throws Refusal if the capture is invalid,
// belongs to another thread or has work that never came back to the origin: then the graph is destroyed, even where a
// node of another graph owns it (fact C39). A branch that is not the origin makes the capture invalid.
// REQUIRES: no lock of the model is held; destructors may run.
CUgraph EndCapture(Stream& stream);

// A stream is about to go. With the origin goes the capture, and its graph; another branch only leaves.
// REQUIRES: as EndCapture.
void LeaveCapture(Stream& stream);

// Adds the node that `make` makes behind the stream's dependencies; false, without a call of `make`, if the stream does
// not capture. Throws Refusal{CUDA_ERROR_STREAM_CAPTURE_INVALIDATED} for an invalid capture, and what `make` throws.
// `make` is called with the lock of captures held.
using NodeMaker = std::function<NodeParameters()>;
enum class OnRefusal {
  kKeep,       // a Refusal of `make` changes nothing
  kInvalidate  // it makes the capture invalid
};
bool CaptureNode(Stream& stream, const NodeMaker& make, OnRefusal on_refusal = OnRefusal::kKeep);

// The same for nodes that have to know their graph.
bool CaptureNodeOf(Stream& stream, const std::function<NodeParameters(Graph& graph)>& make,
                   OnRefusal on_refusal = OnRefusal::kKeep);

// Whether the stream captures. Throws Refusal{CUDA_ERROR_STREAM_CAPTURE_INVALIDATED} for an invalid capture.
bool IsCapturing(Stream& stream);

// Notes in the event where the stream is in its capture; false if the stream does not capture.
bool CaptureRecord(Stream& stream, Event& event);

// A wait for an event in which a capture has a part: the stream captures, or the event was recorded in a capture. The
// stream's dependencies grow, or it becomes a branch. False if this is an ordinary wait.
bool CaptureWait(const StreamPointer& stream, CUevent event, bool is_external);

// Throws Refusal{CUDA_ERROR_CAPTURED_EVENT} if the event was last recorded in a capture, which becomes invalid if
// `invalidates`; Refusal{CUDA_ERROR_INVALID_VALUE} if that capture is invalid already, or over.
void RefuseCapturedEvent(const Event& event, bool invalidates);

struct CaptureState {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  // The rest only while it is active. The arrays are null if they are empty, and valid until the next call that changes
  // the stream's dependencies.
  std::uint64_t id = 0;
  CUgraph graph = nullptr;
  const CUgraphNode* dependencies = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;
};
CaptureState CaptureStateOf(const Stream& stream);

// Adds to the stream's dependencies, or replaces them. Nodes that were dependencies before need not come back to the
// origin then, even if they are again.
void UpdateDependencies(Stream& stream, const CUgraphNode* nodes, std::size_t count, bool replaces);

// Throws Refusal{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED} if the stream captures, and makes its capture invalid: for
// calls that ask for what a captured stream does not have.
void RefuseCapturing(Stream& stream);

struct CaptureOwner {
  CUstreamCaptureMode mode;
  std::uint64_t thread;  // that began it
  bool blocks;           // on the null stream, through one of its branches
};

// Whether there is a capture, valid or not, that `concerns` says yes to. The first makes all of them invalid.
bool InvalidateCaptures(const std::function<bool(const CaptureOwner&)>& concerns);
bool HasCapture(const std::function<bool(const CaptureOwner&)>& concerns);

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_CAPTURE_H_
