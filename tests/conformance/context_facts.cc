// Memory, streams, events, the primary context, and how entry points are looked up.
#include <string>

#include "tests/conformance/fact.h"

namespace holdfast::conformance {
namespace {

constexpr CUresult kInvalid = CUDA_ERROR_INVALID_VALUE;

void MemoryIsChecked(const Driver& driver, Report& report) {
  CUdeviceptr memory = 0;
  void* pinned = nullptr;
  char bytes[4] = {};
  unsigned int type = 0;
  report.Expect("allocate nothing", kInvalid, driver.MemAlloc(&memory, 0));
  report.Expect("allocate too much", CUDA_ERROR_OUT_OF_MEMORY, driver.MemAlloc(&memory, 1ull << 50));
  HOLDFAST_NEED(report, driver.MemAlloc(&memory, 1024));
  HOLDFAST_NEED(report, driver.MemAllocHost(&pinned, 64));
  const auto attribute = [&](CUdeviceptr address) {
    return driver.PointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
  };
  report.Expect("attribute of host memory", kInvalid, attribute(reinterpret_cast<CUdeviceptr>(bytes)));
  report.Expect("attribute inside", CUDA_SUCCESS, attribute(memory + 1023));
  report.Expect("type", long{CU_MEMORYTYPE_DEVICE}, long{type});
  report.Expect("attribute at the end", kInvalid, attribute(memory + 1024));
  report.Expect("attribute of pinned memory", CUDA_SUCCESS, attribute(reinterpret_cast<CUdeviceptr>(pinned)));
  report.Expect("type", long{CU_MEMORYTYPE_HOST}, long{type});
  report.Expect("fill nothing", CUDA_SUCCESS, driver.MemsetD8(memory, 1, 0));
  report.Expect("fill too much", kInvalid, driver.MemsetD8(memory, 1, 1u << 26));
  report.Expect("copy nothing", CUDA_SUCCESS, driver.MemcpyHtoD(memory, bytes, 0));
  report.Expect("copy to null", kInvalid, driver.MemcpyHtoD(0, bytes, 4));
  report.Expect("copy from null", kInvalid, driver.MemcpyHtoD(memory, nullptr, 4));
  report.Expect("free null", CUDA_SUCCESS, driver.MemFree(0));
  report.Expect("free inside", kInvalid, driver.MemFree(memory + 4));
  report.Expect("free pinned as device", kInvalid, driver.MemFree(reinterpret_cast<CUdeviceptr>(pinned)));
  report.Expect("free device as pinned", kInvalid, driver.MemFreeHost(reinterpret_cast<void*>(memory)));
  report.Expect("free null as pinned", CUDA_SUCCESS, driver.MemFreeHost(nullptr));
  report.Expect("free", CUDA_SUCCESS, driver.MemFree(memory));
  report.Expect("free twice", kInvalid, driver.MemFree(memory));
  report.Expect("fill after free", kInvalid, driver.MemsetD8(memory, 1, 4));
}

void StreamsAndEventsAreChecked(const Driver& driver, Report& report) {
  Gate gate;
  CUevent event = nullptr;
  CUstream stream = nullptr;
  HOLDFAST_NEED(report, driver.EventCreate(&event, CU_EVENT_DISABLE_TIMING));
  HOLDFAST_NEED(report, driver.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  report.Expect("query of an event without record", CUDA_SUCCESS, driver.EventQuery(event));
  report.Expect("wait for an event without record", CUDA_SUCCESS, driver.EventSynchronize(event));
  report.Expect("unknown event flag", kInvalid, driver.EventCreate(&event, 64));
  report.Expect("unknown stream flag", kInvalid, driver.StreamCreate(&stream, 8));
  report.Expect("record null", CUDA_ERROR_INVALID_HANDLE, driver.EventRecord(nullptr, stream));
  report.Expect("stream waits for null", CUDA_ERROR_INVALID_HANDLE, driver.StreamWaitEvent(stream, nullptr, 0));
  report.Expect("null host function", kInvalid, driver.LaunchHostFunc(stream, nullptr, nullptr));
  report.Expect("destroy the null stream", CUDA_ERROR_INVALID_HANDLE, driver.StreamDestroy(nullptr));
  report.Expect("destroy a null event", CUDA_ERROR_INVALID_HANDLE, driver.EventDestroy(nullptr));
  HOLDFAST_NEED(report, driver.LaunchHostFunc(stream, &Gate::Wait, &gate));
  HOLDFAST_NEED(report, driver.EventRecord(event, stream));
  report.Expect("query of a stream that works", CUDA_ERROR_NOT_READY, driver.StreamQuery(stream));
  report.Expect("query of an event that is due", CUDA_ERROR_NOT_READY, driver.EventQuery(event));
  report.Expect("destroy a stream that works", CUDA_SUCCESS, driver.StreamDestroy(stream));
  gate.open = true;
  report.Expect("its work goes on", CUDA_SUCCESS, driver.EventSynchronize(event));
}

void DeadStream(const Driver& driver, Report& report) {
  CUstream stream = nullptr;
  HOLDFAST_NEED(report, driver.StreamCreate(&stream, 0));
  HOLDFAST_NEED(report, driver.StreamDestroy(stream));
  driver.StreamSynchronize(stream);
}

void DeadEvent(const Driver& driver, Report& report) {
  CUevent event = nullptr;
  HOLDFAST_NEED(report, driver.EventCreate(&event, 0));
  HOLDFAST_NEED(report, driver.EventDestroy(event));
  driver.EventQuery(event);
}

void ContextIsReset(const Driver& driver, Report& report) {
  Payload payload;
  CUdeviceptr memory = 0;
  CUcontext context = nullptr;
  const CUgraph graph = MakeOwner(driver, report, &payload);
  report.Expect("reset", CUDA_SUCCESS, driver.DevicePrimaryCtxReset(0));
  report.Expect("get current", CUDA_SUCCESS, driver.CtxGetCurrent(&context));
  report.Expect("allocate", CUDA_ERROR_CONTEXT_IS_DESTROYED, driver.MemAlloc(&memory, 16));
  report.Expect("destroy a graph", CUDA_SUCCESS, driver.GraphDestroy(graph));
  report.Expect("its object ran", true, payload.ran_here());
  report.Expect("retain again", CUDA_SUCCESS, driver.DevicePrimaryCtxRetain(&context, 0));
  report.Expect("the handle is the same", true, context == driver.context);
  report.Expect("allocate again", CUDA_SUCCESS, driver.MemAlloc(&memory, 16));
  report.Expect("release", CUDA_SUCCESS, driver.DevicePrimaryCtxRelease(0));
  report.Expect("release what was retained before the reset", CUDA_SUCCESS, driver.DevicePrimaryCtxRelease(0));
  report.Expect("release once more", CUDA_ERROR_INVALID_CONTEXT, driver.DevicePrimaryCtxRelease(0));
}

void NoContextIsNeeded(const Driver& driver, Report& report) {
  HOLDFAST_NEED(report, driver.CtxSetCurrent(nullptr));
  CUgraphNode node = nullptr;
  CUdeviceptr memory = 0;
  CUevent event = nullptr;
  CUgraphExec executable = nullptr;
  const CUgraph graph = MakeGraph(driver, report);
  report.Expect("add a node", CUDA_SUCCESS, driver.GraphAddEmptyNode(&node, graph, nullptr, 0));
  report.Expect("instantiate", CUDA_ERROR_INVALID_CONTEXT, driver.GraphInstantiateWithFlags(&executable, graph, 0));
  report.Expect("allocate", CUDA_ERROR_INVALID_CONTEXT, driver.MemAlloc(&memory, 16));
  report.Expect("make an event", CUDA_ERROR_INVALID_CONTEXT, driver.EventCreate(&event, 0));
  report.Expect("synchronize the null stream", CUDA_ERROR_INVALID_CONTEXT, driver.StreamSynchronize(nullptr));
  report.Expect("synchronize a stream", CUDA_SUCCESS, driver.StreamSynchronize(driver.stream));
}

void NamesAreLookedUp(const Driver& driver, Report& report) {
  const auto ask = [&driver](const char* name, int version, cuuint64_t flags) {
    void* function = nullptr;
    CUdriverProcAddressQueryResult status{};
    const CUresult result = driver.GetProcAddress(name, &function, version, flags, &status);
    if (result != CUDA_SUCCESS) return NameOf(driver, result);
    return std::string(function == nullptr ? "null " : "found ") + std::to_string(status);
  };
  report.Expect("a name", std::string("found 0"), ask("cuGraphCreate", 12000, 0));
  report.Expect("no such name", std::string("null 1"), ask("cuNoSuchName", 12000, 0));
  report.Expect("a name with its version", std::string("null 1"), ask("cuMemAlloc_v2", 12000, 0));
  report.Expect("a name with its stream", std::string("null 1"), ask("cuGraphLaunch_ptsz", 12000, 0));
  report.Expect("a version before it", std::string("null 2"), ask("cuGraphCreate", 9000, 0));
  report.Expect("a version beyond the driver", std::string("CUDA_ERROR_INVALID_VALUE"), ask("cuInit", 99000, 0));
  report.Expect("an unknown flag", std::string("CUDA_ERROR_INVALID_VALUE"), ask("cuInit", 12000, 8));
  report.Expect("of the thread's stream", std::string("found 0"), ask("cuGraphLaunch", 12000, 2));
  void* old_form = nullptr;
  void* new_form = nullptr;
  HOLDFAST_NEED(report, driver.GetProcAddress("cuMemAlloc", &old_form, 2000, 0, nullptr));
  HOLDFAST_NEED(report, driver.GetProcAddress("cuMemAlloc", &new_form, 12000, 0, nullptr));
  report.Expect("two versions are two functions", true, old_form != nullptr && old_form != new_form);
}

void ErrorsAreNamed(const Driver& driver, Report& report) {
  const char* text = nullptr;
  report.Expect("name", std::string("CUDA_ERROR_NOT_PERMITTED"), NameOf(driver, CUDA_ERROR_NOT_PERMITTED));
  HOLDFAST_NEED(report, driver.GetErrorString(CUDA_ERROR_NOT_PERMITTED, &text));
  report.Expect("text", std::string("operation not permitted"), std::string(text != nullptr ? text : ""));
  report.Expect("no such error", kInvalid, driver.GetErrorName(static_cast<CUresult>(12345), &text));
  report.Expect("null is given back", true, text == nullptr);
}

}  // namespace

std::vector<Fact> ContextFacts() {
  return {
      {"X1", "memory is checked", &MemoryIsChecked},
      {"X2", "streams and events are checked", &StreamsAndEventsAreChecked},
      {"X3", "use of a destroyed stream is a crash", &DeadStream, Ending::kCrashes},
      {"X4", "use of a destroyed event is a crash", &DeadEvent, Ending::kCrashes},
      {"X5", "a reset ends what the primary context has, and leaves graphs alone", &ContextIsReset},
      {"X6", "definitions need no context, what runs does", &NoContextIsNeeded},
      {"X7", "entry points are found by name and version", &NamesAreLookedUp},
      {"X8", "errors have names and texts", &ErrorsAreNamed},
  };
}

}  // namespace holdfast::conformance
