// Facts C1 to C13: where a stream capture begins and ends, what it says of itself, and what becomes of its graph.
#include <cstdint>
#include <string>

#include "tests/conformance/capture.h"

namespace holdfast::conformance {
namespace {

// Begins a capture on the driver's stream and moves the one reference to `payload`'s object into its graph.
CUgraph BeginWithObject(const Driver& driver, Report& report, Payload* payload,
                        CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED) {
  Begin(driver, report, driver.stream, mode);
  const CUgraph graph = GraphOf(driver, report, driver.stream);
  Own(driver, report, graph, payload);
  return graph;
}

void CaptureKeepsItsGraph(const Driver& driver, Report& report) {
  Payload payload;
  const CUgraph captured = BeginWithObject(driver, report, &payload);
  Work(driver, report, driver.stream);
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
  Work(driver, report, driver.stream);
  report.Expect("end with a null graph pointer", CUDA_SUCCESS, driver.StreamEndCapture(driver.stream, nullptr));
  Work(driver, report, driver.stream);
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
  HOLDFAST_NEED(report, driver.StreamDestroy(driver.stream));
  report.Expect("ran", false, payload.runs.load() > 0);
}

void SynchronizeInvalidates(const Driver& driver, Report& report) {
  Payload payload;
  BeginWithObject(driver, report, &payload);
  report.Expect("synchronize", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, driver.StreamSynchronize(driver.stream));
  report.Expect("ran before the end", false, payload.runs.load() > 0);
  report.Expect("end", std::string("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, null"), End(driver, driver.stream));
  report.Expect("ran", true, payload.ran_here());
}

void StreamDestroyDrops(const Driver& driver, Report& report) {
  Payload payload;
  BeginWithObject(driver, report, &payload);
  report.Expect("destroy the stream", CUDA_SUCCESS, driver.StreamDestroy(driver.stream));
  report.Expect("ran", true, payload.ran_here());
}

void NoCaptureIsTold(const Driver& driver, Report& report) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  report.Expect("is capturing", CUDA_SUCCESS, driver.StreamIsCapturing(driver.stream, &status));
  report.Expect("status", long{CU_STREAM_CAPTURE_STATUS_NONE}, long{status});
  report.Expect("is capturing, null status", CUDA_ERROR_INVALID_VALUE,
                driver.StreamIsCapturing(driver.stream, nullptr));
  report.Expect("capture info, null status", CUDA_ERROR_INVALID_VALUE,
                driver.StreamGetCaptureInfo(driver.stream, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
  report.Expect("end", std::string("CUDA_ERROR_ILLEGAL_STATE, null"), End(driver, driver.stream));
  report.Expect("end of the null stream", std::string("CUDA_ERROR_ILLEGAL_STATE, null"), End(driver, nullptr));
  report.Expect("end with a null graph pointer", CUDA_ERROR_ILLEGAL_STATE,
                driver.StreamEndCapture(driver.stream, nullptr));
  report.Expect("update dependencies", CUDA_ERROR_ILLEGAL_STATE,
                driver.StreamUpdateCaptureDependencies(driver.stream, nullptr, nullptr, 0, 0));
  report.Expect("the same with unknown flags", CUDA_ERROR_ILLEGAL_STATE,
                driver.StreamUpdateCaptureDependencies(driver.stream, nullptr, nullptr, 0, 7));
}

void ThreadModeIsExchanged(const Driver& driver, Report& report) {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  report.Expect("exchange", CUDA_SUCCESS, driver.ThreadExchangeStreamCaptureMode(&mode));
  report.Expect("mode before", long{CU_STREAM_CAPTURE_MODE_GLOBAL}, long{mode});
  report.Expect("exchange back", CUDA_SUCCESS, driver.ThreadExchangeStreamCaptureMode(&mode));
  report.Expect("mode between", long{CU_STREAM_CAPTURE_MODE_RELAXED}, long{mode});
}

void BeginIsRefused(const Driver& driver, Report& report) {
  for (const int unknown : {3, -1}) {
    report.Expect("unknown mode", CUDA_ERROR_INVALID_VALUE,
                  driver.StreamBeginCapture(driver.stream, static_cast<CUstreamCaptureMode>(unknown)));
  }
  for (const CUstream null_stream : {CUstream{nullptr}, CU_STREAM_LEGACY}) {
    report.Expect("null stream", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                  driver.StreamBeginCapture(null_stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  }
  report.Expect("status", std::string("none"), Status(driver, driver.stream));
  for (const CaptureMode& mode : kCaptureModes) {
    Begin(driver, report, driver.stream, mode.mode);
    report.Expect(std::string(mode.name) + ", begin again", std::string("CUDA_ERROR_ILLEGAL_STATE, active"),
                  Answered(driver, driver.StreamBeginCapture(driver.stream, mode.mode), driver.stream));
    Drop(driver, driver.stream);
    report.Expect(std::string(mode.name) + ", after the end", std::string("none"), Status(driver, driver.stream));
  }
}

// What the question writes, by whether each place still has its mark.
std::string Told(const Driver& driver, CUstream stream) {
  const auto place = [](auto* value, std::uintptr_t mark, const char* name) {
    const auto bits = reinterpret_cast<std::uintptr_t>(value);
    return std::string(bits == mark ? "" : bits == 0 ? std::string(" no-") + name : std::string(" ") + name);
  };
  constexpr std::uintptr_t kMark = 16;
  CUstreamCaptureStatus status{};
  cuuint64_t id = kMark << 32;
  auto graph = reinterpret_cast<CUgraph>(kMark);
  auto nodes = reinterpret_cast<const CUgraphNode*>(kMark);
  auto edges = reinterpret_cast<const CUgraphEdgeData*>(kMark);
  std::size_t count = kMark;
  const CUresult result = driver.StreamGetCaptureInfo(stream, &status, &id, &graph, &nodes, &edges, &count);
  return NameOf(driver, result) + " " + std::to_string(status) + (id == kMark << 32 ? "" : " id") +
         place(graph, kMark, "graph") + place(nodes, kMark, "nodes") + place(edges, kMark, "edges") +
         (count == kMark ? "" : " " + std::to_string(count));
}

void InfoTellsWhileActive(const Driver& driver, Report& report) {
  report.Expect("no capture", std::string("CUDA_SUCCESS 0"), Told(driver, driver.stream));
  Begin(driver, report, driver.stream);
  report.Expect("empty", std::string("CUDA_SUCCESS 1 id graph no-nodes no-edges 0"), Told(driver, driver.stream));
  Work(driver, report, driver.stream);
  report.Expect("one node", std::string("CUDA_SUCCESS 1 id graph nodes edges 1"), Told(driver, driver.stream));
  CUstreamCaptureStatus status{};
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  report.Expect("edges without nodes", CUDA_ERROR_INVALID_VALUE,
                driver.StreamGetCaptureInfo(driver.stream, &status, nullptr, nullptr, nullptr, &edges, &count));
  report.Expect("count alone", CUDA_SUCCESS,
                driver.StreamGetCaptureInfo(driver.stream, &status, nullptr, nullptr, nullptr, nullptr, &count));
  report.Expect("count", 1L, static_cast<long>(count));
  Invalidate(driver, report, driver.stream);
  report.Expect("invalid", std::string("CUDA_SUCCESS 2"), Told(driver, driver.stream));
  Drop(driver, driver.stream);
  report.Expect("over", std::string("CUDA_SUCCESS 0"), Told(driver, driver.stream));
}

void IdsAreNew(const Driver& driver, Report& report) {
  const CUstream other = MakeStream(driver, report);
  const CUstream branch = MakeStream(driver, report);
  const auto id_of = [&](CUstream stream) {
    CUstreamCaptureStatus status{};
    cuuint64_t id = 0;
    HOLDFAST_NEED(report, driver.StreamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr, nullptr));
    return id;
  };
  Begin(driver, report, driver.stream);
  Begin(driver, report, other);
  Follow(driver, report, branch, driver.stream);
  const cuuint64_t first = id_of(driver.stream);
  report.Expect("a branch has the capture's", true, id_of(branch) == first);
  report.Expect("another capture has its own", false, id_of(other) == first);
  Drop(driver, driver.stream);
  Begin(driver, report, driver.stream);
  report.Expect("so has the next", false, id_of(driver.stream) == first || id_of(driver.stream) == id_of(other));
}

void OtherThreadEnds(const Driver& driver, Report& report) {
  for (const CaptureMode& mode : kCaptureModes) {
    const std::string name = mode.name;
    const bool is_relaxed = mode.mode == CU_STREAM_CAPTURE_MODE_RELAXED;
    Payload payload;
    BeginWithObject(driver, report, &payload, mode.mode);
    CUgraph graph = nullptr;
    std::string end;
    OnThread(driver, [&] {
      report.Expect(name + ", work on another thread", CUDA_SUCCESS,
                    driver.LaunchHostFunc(driver.stream, &DoNothing, nullptr));
      end = End(driver, driver.stream, &graph);
    });
    report.Expect(name + ", end on another thread",
                  std::string(is_relaxed ? "CUDA_SUCCESS, a graph" : "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, null"),
                  end);
    report.Expect(name + ", status", std::string("none"), Status(driver, driver.stream));
    report.Expect(name + ", objects dropped", !is_relaxed, payload.runs.load() > 0);
    if (graph != nullptr) HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  }
  const CUstream branch = MakeStream(driver, report);
  Begin(driver, report, driver.stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  Follow(driver, report, branch, driver.stream);
  Work(driver, report, branch);
  OnThread(driver, [&] {
    report.Expect("unjoined on another thread", std::string("CUDA_ERROR_STREAM_CAPTURE_UNJOINED, null"),
                  End(driver, driver.stream));
  });
}

void NullEndKeepsTheGraph(const Driver& driver, Report& report) {
  Payload payload;
  const CUgraph graph = BeginWithObject(driver, report, &payload);
  Work(driver, report, driver.stream);
  HOLDFAST_NEED(report, driver.StreamEndCapture(driver.stream, nullptr));
  CUgraphExec executable = nullptr;
  report.Expect("instantiate", CUDA_SUCCESS, driver.GraphInstantiateWithFlags(&executable, graph, 0));
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  report.Expect("destroy", CUDA_SUCCESS, driver.GraphDestroy(graph));
  report.Expect("ran", true, payload.ran_here());
  Payload second;
  BeginWithObject(driver, report, &second);
  Invalidate(driver, report, driver.stream);
  report.Expect("of an invalid capture", CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                driver.StreamEndCapture(driver.stream, nullptr));
  report.Expect("ran then", true, second.ran_here());
}

void OldFormForbidsNothing(const Driver& driver, Report& report) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult query{};
  HOLDFAST_NEED(report, driver.GetProcAddress("cuStreamBeginCapture", &found, 10000, 0, &query));
  if (found == nullptr) return;
  const auto begin = reinterpret_cast<CUresult(CUDAAPI*)(CUstream)>(found);
  report.Expect("begin", CUDA_SUCCESS, begin(driver.stream));
  CUdeviceptr memory = 0;
  report.Expect("allocate", std::string("CUDA_SUCCESS, active"),
                Answered(driver, driver.MemAlloc(&memory, 64), driver.stream));
  OnThread(driver, [&] {
    report.Expect("end on another thread", std::string("CUDA_SUCCESS, a graph"), End(driver, driver.stream));
  });
}

void ContextResetDrops(const Driver& driver, Report& report) {
  Payload payload;
  BeginWithObject(driver, report, &payload);
  report.Expect("reset", CUDA_SUCCESS, driver.DevicePrimaryCtxReset(0));
  report.Expect("ran", true, payload.ran_here());
}

}  // namespace

std::vector<Fact> CaptureFacts() {
  return {
      {"C1", "a capture's graph keeps its handle and its objects", &CaptureKeepsItsGraph},
      {"C2", "a capture ended with a null pointer leaks its objects", &NullGraphLeaks},
      {"C3", "a synchronise invalidates the capture, and its end drops its objects", &SynchronizeInvalidates},
      {"C4", "a stream destroyed in mid-capture drops its objects", &StreamDestroyDrops},
      {"C5", "a stream that does not capture says so", &NoCaptureIsTold},
      {"C6", "a thread's mode is exchanged", &ThreadModeIsExchanged},
      {"C7", "a capture does not begin twice, on the null stream or in an unknown mode", &BeginIsRefused},
      {"C8", "the question about a capture writes more than the status while it is active", &InfoTellsWhileActive},
      {"C9", "each capture has an id of its own", &IdsAreNew},
      {"C10", "an end on another thread ends a capture without a graph unless it is relaxed", &OtherThreadEnds},
      {"C11", "what a null pointer leaks is the graph, which can be used", &NullEndKeepsTheGraph},
      {"C12", "the form of begin without a mode forbids nothing", &OldFormForbidsNothing},
      {"C13", "a context reset drops the objects of a capture", &ContextResetDrops},
  };
}

}  // namespace holdfast::conformance
