// Facts C1 to C4: stream capture. The model driver has no captures and is not asked.
#include <cstdint>
#include <string>

#include "tests/conformance/fact.h"

namespace holdfast::conformance {
namespace {

constexpr char kNotModelled[] = "the model driver has no stream capture";

// Begins a capture on the driver's stream and moves the one reference to `payload`'s object into its graph.
CUgraph BeginWithObject(const Driver& driver, Report& report, Payload* payload) {
  HOLDFAST_NEED(report, driver.StreamBeginCapture(driver.stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  CUstreamCaptureStatus status{};
  CUgraph graph = nullptr;
  HOLDFAST_NEED(report,
                driver.StreamGetCaptureInfo(driver.stream, &status, nullptr, &graph, nullptr, nullptr, nullptr));
  const CUuserObject object = MakeObject(driver, report, payload);
  HOLDFAST_NEED(report, driver.GraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  return graph;
}

void CaptureKeepsItsGraph(const Driver& driver, Report& report) {
  Payload payload;
  const CUgraph captured = BeginWithObject(driver, report, &payload);
  HOLDFAST_NEED(report, driver.LaunchHostFunc(driver.stream, &DoNothing, nullptr));
  CUgraph graph = nullptr;
  HOLDFAST_NEED(report, driver.StreamEndCapture(driver.stream, &graph));
  report.Expect("the handle is the same", true, graph == captured);
  report.Expect("ran", false, payload.runs.load() > 0);
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  report.Expect("ran when the graph went", true, payload.ran_here());
}

void NullGraphLeaks(const Driver& driver, Report& report) {
  Payload payload;
  BeginWithObject(driver, report, &payload);
  HOLDFAST_NEED(report, driver.LaunchHostFunc(driver.stream, &DoNothing, nullptr));
  report.Expect("end with a null graph pointer", CUDA_SUCCESS, driver.StreamEndCapture(driver.stream, nullptr));
  HOLDFAST_NEED(report, driver.LaunchHostFunc(driver.stream, &DoNothing, nullptr));
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
  HOLDFAST_NEED(report, driver.StreamDestroy(driver.stream));
  report.Expect("ran", false, payload.runs.load() > 0);
}

void SynchronizeInvalidates(const Driver& driver, Report& report) {
  Payload payload;
  BeginWithObject(driver, report, &payload);
  report.Expect("synchronize", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, driver.StreamSynchronize(driver.stream));
  auto graph = reinterpret_cast<CUgraph>(std::uintptr_t{1});
  report.Expect("end", CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, driver.StreamEndCapture(driver.stream, &graph));
  report.Expect("null is given back", true, graph == nullptr);
  report.Expect("ran", true, WaitForRuns(payload));
}

void StreamDestroyDrops(const Driver& driver, Report& report) {
  Payload payload;
  BeginWithObject(driver, report, &payload);
  report.Expect("destroy the stream", CUDA_SUCCESS, driver.StreamDestroy(driver.stream));
  report.Expect("ran", true, WaitForRuns(payload));
}

// What there is of capture on the model: no stream ever captures, and who asks is told so.
void NoCaptureIsTold(const Driver& driver, Report& report) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  report.Expect("is capturing", CUDA_SUCCESS, driver.StreamIsCapturing(driver.stream, &status));
  report.Expect("status", long{CU_STREAM_CAPTURE_STATUS_NONE}, long{status});
  report.Expect("capture info, null status", CUDA_ERROR_INVALID_VALUE,
                driver.StreamGetCaptureInfo(driver.stream, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  report.Expect("exchange", CUDA_SUCCESS, driver.ThreadExchangeStreamCaptureMode(&mode));
  report.Expect("mode before", long{CU_STREAM_CAPTURE_MODE_GLOBAL}, long{mode});
  report.Expect("exchange back", CUDA_SUCCESS, driver.ThreadExchangeStreamCaptureMode(&mode));
  report.Expect("mode between", long{CU_STREAM_CAPTURE_MODE_RELAXED}, long{mode});
}

}  // namespace

std::vector<Fact> CaptureFacts() {
  return {
      {"C1", "a capture's graph keeps its handle and its objects", &CaptureKeepsItsGraph, Ending::kReturns,
       kNotModelled},
      {"C2", "a capture ended with a null pointer leaks its objects", &NullGraphLeaks, Ending::kReturns, kNotModelled},
      {"C3", "a synchronise invalidates the capture and drops its objects", &SynchronizeInvalidates, Ending::kReturns,
       kNotModelled},
      {"C4", "a stream destroyed in mid-capture drops its objects", &StreamDestroyDrops, Ending::kReturns,
       kNotModelled},
      {"C5", "a stream that does not capture says so", &NoCaptureIsTold},
  };
}

}  // namespace holdfast::conformance
