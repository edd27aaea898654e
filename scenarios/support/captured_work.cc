#include "scenarios/support/captured_work.h"

#include <stdexcept>
#include <string>

#include "lib/driver/driver.h"
#include "lib/driver/status.h"

namespace holdfast::scenarios {
namespace {

using driver::Check;
using driver::GetDriver;

// An entry point of the driver below the shim. What it refuses is a fault of the scenario.
template <typename Function, typename... Arguments>
void AskBelowShim(const harness::Context& context, const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<Function*>(context.shim().driver_symbol(name));
  if (function == nullptr) {
    throw std::runtime_error(std::string("the driver has no ") + name);
  }
  Check(name, function(arguments...), "looking at a capture");
}

}  // namespace

CUstreamCaptureStatus CaptureStatus(const harness::Context& context, const StreamHandle& stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  AskBelowShim<decltype(cuStreamIsCapturing)>(context, "cuStreamIsCapturing", stream->raw(), &status);
  return status;
}

void EnqueueFill(const StreamHandle& stream, const DeviceMemoryHandle& memory, std::uint8_t value,
                 std::size_t size_bytes) {
  Check("cuMemsetD8Async", GetDriver().cuMemsetD8Async(memory->address(), value, size_bytes, stream->raw()),
        "enqueuing a fill");
}

void InvalidateCapture(const StreamHandle& stream) {
  const CUresult result = GetDriver().cuStreamSynchronize(stream->raw());
  if (result != CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) {
    throw std::runtime_error("waiting for a capturing stream did not invalidate the capture: the driver answered " +
                             driver::ResultName(result));
  }
}

std::size_t NodeCount(const harness::Context& context, CUgraph graph) {
  std::size_t count = 0;
  AskBelowShim<decltype(cuGraphGetNodes)>(context, "cuGraphGetNodes", graph, nullptr, &count);
  return count;
}

}  // namespace holdfast::scenarios
