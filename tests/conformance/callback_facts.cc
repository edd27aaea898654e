// What the driver answers to calls from inside a destructor and from inside a host function: the same in both.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/fact.h"

namespace holdfast::conformance {
namespace {

// Made before the callback runs, so that a call in it can only be refused for where it comes from.
struct Things {
  const Driver* driver = nullptr;
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec executable = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUevent spare_event = nullptr;
  CUdeviceptr memory = 0;
  void* pinned = nullptr;
  CUuserObject object = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  Payload payload;
  std::vector<std::pair<std::string, std::pair<CUresult, CUresult>>> answers;  // question, expected, got
  std::atomic<bool> done{false};

  void Ask(const char* question, CUresult expected, CUresult got) { answers.push_back({question, {expected, got}}); }
};

constexpr char kPtx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry holdfast_nothing()\n{\n  ret;\n}\n";

void Prepare(const Driver& driver, Report& report, Things* things) {
  things->driver = &driver;
  things->graph = MakeGraph(driver, report);
  things->node = AddHost(driver, report, things->graph);
  things->executable = Instantiate(driver, report, things->graph);
  HOLDFAST_NEED(report, driver.StreamCreate(&things->stream, CU_STREAM_NON_BLOCKING));
  HOLDFAST_NEED(report, driver.EventCreate(&things->event, 0));
  HOLDFAST_NEED(report, driver.EventCreate(&things->spare_event, 0));
  HOLDFAST_NEED(report, driver.MemAlloc(&things->memory, 4096));
  HOLDFAST_NEED(report, driver.MemAllocHost(&things->pinned, 64));
  HOLDFAST_NEED(report, driver.ModuleLoadData(&things->module, kPtx));
  HOLDFAST_NEED(report, driver.ModuleGetFunction(&things->function, things->module, "holdfast_nothing"));
  things->object = MakeObject(driver, report, &things->payload, 5);
}

void AskRefused(Things* things) {
  const Driver& driver = *things->driver;
  constexpr CUresult kNo = CUDA_ERROR_NOT_PERMITTED;
  CUcontext context = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUdeviceptr memory = 0;
  std::size_t count = 0;
  CUgraphNodeType type{};
  int number = 0;
  void* pinned = nullptr;
  char bytes[4];
  CUgraphNode node = nullptr;
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = things->memory;
  fill.elementSize = 1;
  fill.width = 16;
  fill.height = 1;
  things->Ask("cuDeviceGetCount", kNo, driver.DeviceGetCount(&number));
  things->Ask("cuCtxGetCurrent", kNo, driver.CtxGetCurrent(&context));
  things->Ask("cuCtxSetCurrent", kNo, driver.CtxSetCurrent(driver.context));
  things->Ask("cuCtxSynchronize", kNo, driver.CtxSynchronize());
  things->Ask("cuDevicePrimaryCtxRetain", kNo, driver.DevicePrimaryCtxRetain(&context, 0));
  things->Ask("cuDevicePrimaryCtxRelease", kNo, driver.DevicePrimaryCtxRelease(0));
  things->Ask("cuGraphCreate", kNo, driver.GraphCreate(&graph, 0));
  things->Ask("cuGraphClone", kNo, driver.GraphClone(&graph, things->graph));
  things->Ask("cuGraphGetNodes", kNo, driver.GraphGetNodes(things->graph, nullptr, &count));
  things->Ask("cuGraphNodeGetType", kNo, driver.GraphNodeGetType(things->node, &type));
  things->Ask("cuGraphAddMemsetNode", kNo,
              driver.GraphAddMemsetNode(&node, things->graph, nullptr, 0, &fill, driver.context));
  things->Ask("cuLaunchKernel", kNo,
              driver.LaunchKernel(things->function, 1, 1, 1, 1, 1, 1, 0, things->stream, nullptr, nullptr));
  things->Ask("cuGraphDestroyNode", kNo, driver.GraphDestroyNode(things->node));
  things->Ask("cuGraphDestroy", kNo, driver.GraphDestroy(things->graph));
  things->Ask("cuGraphInstantiateWithFlags", kNo, driver.GraphInstantiateWithFlags(&executable, things->graph, 0));
  things->Ask("cuGraphExecDestroy", kNo, driver.GraphExecDestroy(things->executable));
  things->Ask("cuStreamCreate", kNo, driver.StreamCreate(&stream, 0));
  things->Ask("cuStreamSynchronize of the null stream", kNo, driver.StreamSynchronize(nullptr));
  things->Ask("cuEventCreate", kNo, driver.EventCreate(&event, 0));
  things->Ask("cuMemAlloc", kNo, driver.MemAlloc(&memory, 64));
  things->Ask("cuMemFree", kNo, driver.MemFree(things->memory));
  things->Ask("cuMemAllocHost", kNo, driver.MemAllocHost(&pinned, 64));
  things->Ask("cuMemFreeHost", kNo, driver.MemFreeHost(things->pinned));
  things->Ask("cuMemcpyDtoH", kNo, driver.MemcpyDtoH(bytes, things->memory, 4));
  things->Ask("cuMemsetD8", kNo, driver.MemsetD8(things->memory, 0, 4));
  things->Ask("cuModuleUnload", kNo, driver.ModuleUnload(things->module));
}

void AskAllowed(Things* things) {
  const Driver& driver = *things->driver;
  constexpr CUresult kYes = CUDA_SUCCESS;
  CUuserObject object = nullptr;
  CUgraphNode node = nullptr;
  CUstreamCaptureStatus status{};
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  CUDA_HOST_NODE_PARAMS host{};
  int number = 0;
  const char* name = nullptr;
  things->Ask("cuGetErrorName", kYes, driver.GetErrorName(CUDA_SUCCESS, &name));
  things->Ask("cuDriverGetVersion", kYes, driver.DriverGetVersion(&number));
  things->Ask("cuGraphAddEmptyNode", kYes, driver.GraphAddEmptyNode(&node, things->graph, nullptr, 0));
  things->Ask("cuGraphHostNodeGetParams", kYes, driver.GraphHostNodeGetParams(things->node, &host));
  things->Ask("cuUserObjectCreate", kYes,
              driver.UserObjectCreate(&object, nullptr, &DoNothing, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  things->Ask("cuUserObjectRetain", kYes, driver.UserObjectRetain(things->object, 1));
  things->Ask("cuUserObjectRelease", kYes, driver.UserObjectRelease(things->object, 1));
  things->Ask("cuGraphRetainUserObject", kYes, driver.GraphRetainUserObject(things->graph, things->object, 1, 0));
  things->Ask("cuGraphReleaseUserObject", kYes, driver.GraphReleaseUserObject(things->graph, things->object, 1));
  things->Ask("cuStreamIsCapturing", kYes, driver.StreamIsCapturing(things->stream, &status));
  things->Ask("cuThreadExchangeStreamCaptureMode", kYes, driver.ThreadExchangeStreamCaptureMode(&mode));
  things->Ask("cuStreamSynchronize of an idle stream", kYes, driver.StreamSynchronize(things->stream));
  things->Ask("cuGraphAddDependencies of nothing", kYes,
              driver.GraphAddDependencies(things->graph, nullptr, nullptr, nullptr, 0));
  things->Ask("cuStreamQuery", kYes, driver.StreamQuery(things->stream));
  things->Ask("cuEventQuery", kYes, driver.EventQuery(things->event));
  things->Ask("cuLaunchHostFunc", kYes, driver.LaunchHostFunc(things->stream, &DoNothing, nullptr));
  things->Ask("cuGraphLaunch", kYes, driver.GraphLaunch(things->executable, things->stream));
  things->Ask("cuEventRecord", kYes, driver.EventRecord(things->event, things->stream));
  things->Ask("cuStreamWaitEvent", kYes, driver.StreamWaitEvent(things->stream, things->event, 0));
  things->Ask("cuEventDestroy", kYes, driver.EventDestroy(things->spare_event));
  things->Ask("cuStreamDestroy", kYes, driver.StreamDestroy(things->stream));
}

void CUDA_CB AskAll(void* argument) {
  auto* things = static_cast<Things*>(argument);
  AskRefused(things);
  AskAllowed(things);
  things->done = true;
}

void Tell(Report& report, Things* things) {
  report.Expect("the callback ran", true, WaitFor([things] { return things->done.load(); }));
  if (!things->done) return;
  for (const auto& [question, answers] : things->answers) report.Expect(question, answers.first, answers.second);
}

void InDestructor(const Driver& driver, Report& report) {
  Things things;
  Prepare(driver, report, &things);
  CUuserObject object = nullptr;
  HOLDFAST_NEED(report, driver.UserObjectCreate(&object, &things, &AskAll, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  HOLDFAST_NEED(report, driver.UserObjectRelease(object, 1));
  Tell(report, &things);
}

void InDestructorOnDriverThread(const Driver& driver, Report& report) {
  Things things;
  Gate gate;
  Prepare(driver, report, &things);
  const CUgraph graph = MakeGraph(driver, report);
  AddHost(driver, report, graph, &Gate::Wait, &gate);
  CUuserObject object = nullptr;
  HOLDFAST_NEED(report, driver.UserObjectCreate(&object, &things, &AskAll, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  HOLDFAST_NEED(report, driver.GraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  HOLDFAST_NEED(report, driver.GraphLaunch(executable, driver.stream));
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  gate.open = true;
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
  Tell(report, &things);
}

void InHostNode(const Driver& driver, Report& report) {
  Things things;
  Prepare(driver, report, &things);
  const CUgraph graph = MakeGraph(driver, report);
  AddHost(driver, report, graph, &AskAll, &things);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphLaunch(executable, driver.stream));
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
  Tell(report, &things);
}

void InHostFunction(const Driver& driver, Report& report) {
  Things things;
  Prepare(driver, report, &things);
  HOLDFAST_NEED(report, driver.LaunchHostFunc(driver.stream, &AskAll, &things));
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
  Tell(report, &things);
}

}  // namespace

std::vector<Fact> CallbackFacts() {
  return {
      {"D1", "calls inside a destructor that runs inline", &InDestructor},
      {"D2", "calls inside a destructor that runs on the driver's thread", &InDestructorOnDriverThread},
      {"D3", "calls inside a host node", &InHostNode},
      {"D4", "calls inside a host function", &InHostFunction},
  };
}

}  // namespace holdfast::conformance
