// Work on a stream that captures, by plain driver calls, and what the stream says of its capture.
#ifndef HOLDFAST_SCENARIOS_SUPPORT_CAPTURED_WORK_H_
#define HOLDFAST_SCENARIOS_SUPPORT_CAPTURED_WORK_H_

#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "harness/scenario/context.h"
#include "lib/handles/resources.h"

namespace holdfast::scenarios {

// Asks below the shim: no fault of the plan disturbs it.
CUstreamCaptureStatus CaptureStatus(const harness::Context& context, const StreamHandle& stream);

inline bool IsCapturing(const harness::Context& context, const StreamHandle& stream) {
  return CaptureStatus(context, stream) == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

// Enqueues a fill of the first `size_bytes`; nobody but the caller keeps the memory.
void EnqueueFill(const StreamHandle& stream, const DeviceMemoryHandle& memory, std::uint8_t value,
                 std::size_t size_bytes);

// Does what a stream in a capture must not be asked, which invalidates the capture.
void InvalidateCapture(const StreamHandle& stream);

// How many nodes a graph has, asked below the shim.
std::size_t NodeCount(const harness::Context& context, CUgraph graph);

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_CAPTURED_WORK_H_
