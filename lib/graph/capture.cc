#include "lib/graph/capture.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>

#include "lib/driver/driver.h"
#include "lib/driver/status.h"

namespace holdfast::graph {

using driver::Check;
using driver::GetDriver;

CaptureInfo QueryCapture(CUstream stream) noexcept {
  CaptureInfo info;
  const CUgraphNode* nodes = nullptr;
  std::size_t count = 0;
  info.result = GetDriver().cuStreamGetCaptureInfo(stream, &info.status, nullptr, &info.graph, &nodes, nullptr, &count);
  if (info.IsActive()) {
    info.tail = {nodes, count};
  }
  return info;
}

std::optional<CUstreamCaptureStatus> CaptureStatus(CUstream stream) noexcept {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (GetDriver().cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS) {
    return std::nullopt;
  }
  return status;
}

std::vector<CUgraphNode> CaptureTail(CUstream stream, const char* operation) {
  const CaptureInfo info = QueryCapture(stream);
  Check("cuStreamGetCaptureInfo", info.result, "asking where a capture is");
  if (!info.IsActive()) {
    throw std::logic_error(std::string(operation) +
                           ": the capture has been invalidated by what was done meanwhile; call End, and capture again "
                           "with a new builder");
  }
  return {info.tail.begin(), info.tail.end()};
}

void MoveTailBehind(CUstream stream, CUgraphNode node) {
  Check("cuStreamUpdateCaptureDependencies",
        GetDriver().cuStreamUpdateCaptureDependencies(stream, &node, nullptr, 1u, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
        "placing a node in a capture");
}

StreamHandle CreateStreamLike(const Stream& stream) {
  int priority = 0;
  Check("cuStreamGetPriority", GetDriver().cuStreamGetPriority(stream.raw(), &priority), "asking for a priority");
  CUstream raw = nullptr;
  Check("cuStreamCreateWithPriority", GetDriver().cuStreamCreateWithPriority(&raw, CU_STREAM_NON_BLOCKING, priority),
        "creating a stream to capture on");
  try {
    return std::make_shared<const Stream>(raw);
  } catch (...) {
    driver::ReportCleanupFailure("cuStreamDestroy", GetDriver().cuStreamDestroy(raw), raw);
    throw;
  }
}

CUresult ChainStreams(const Stream& from, const Event& event, const Stream& to) noexcept {
  const CUresult recorded = GetDriver().cuEventRecord(event.raw(), from.raw());
  return recorded == CUDA_SUCCESS ? GetDriver().cuStreamWaitEvent(to.raw(), event.raw(), 0u) : recorded;
}

void KeepForGood(const StreamHandle& stream) noexcept {
  try {
    static std::mutex* const mutex = new std::mutex;
    static std::vector<StreamHandle>* const kept = new std::vector<StreamHandle>;
    const std::lock_guard lock(*mutex);
    kept->push_back(stream);
  } catch (const std::bad_alloc&) {
    // A copy whose end never comes does as well; it is only that nobody can see it in a list.
    alignas(StreamHandle) unsigned char storage[sizeof(StreamHandle)];
    new (storage) StreamHandle(stream);
  }
}

}  // namespace holdfast::graph
