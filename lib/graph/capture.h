// A stream that captures: what it says of its capture, and where in the graph the next node goes.
#ifndef HOLDFAST_LIB_GRAPH_CAPTURE_H_
#define HOLDFAST_LIB_GRAPH_CAPTURE_H_

#include <cuda.h>

#include <optional>
#include <span>
#include <vector>

#include "lib/attachments/graph_box.h"
#include "lib/handles/resources.h"

namespace holdfast::graph {

// The answer of one query. The graph and the nodes that the next captured one depends on are known when IsActive.
struct CaptureInfo {
  CUresult result = CUDA_SUCCESS;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUgraph graph = nullptr;
  // The driver's own array: valid until the next call about the stream.
  std::span<const CUgraphNode> tail;

  bool IsActive() const noexcept { return result == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE; }
};

CaptureInfo QueryCapture(CUstream stream) noexcept;

// What the driver says of the stream; empty when it cannot.
std::optional<CUstreamCaptureStatus> CaptureStatus(CUstream stream) noexcept;

// The nodes that the next captured one depends on. Throws DriverError, std::bad_alloc, and std::logic_error naming
// `operation` when the capture was invalidated or has ended.
std::vector<CUgraphNode> CaptureTail(CUstream stream, const char* operation);

// Makes `node`, which was added to the captured graph behind the tail, the new tail. Throws DriverError.
void MoveTailBehind(CUstream stream, CUgraphNode node);

// A stream of the same priority in the current context, so that what it captures runs at that priority too.
// Throws DriverError, std::bad_alloc.
StreamHandle CreateStreamLike(const Stream& stream);

// Has `to` wait for what `from` has got so far, by way of `event`. Returns the first failure and does no more then; the
// failed call may have taken effect, since a driver may answer it with the error of earlier work.
CUresult ChainStreams(const Stream& from, const Event& event, const Stream& to) noexcept;

// Never lets go of the stream.
void KeepForGood(const StreamHandle& stream) noexcept;

}  // namespace holdfast::graph

#endif  // HOLDFAST_LIB_GRAPH_CAPTURE_H_
