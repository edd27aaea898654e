// Facts C14 to C20: what becomes a node of the captured graph, what does not, and what makes the capture invalid.
#include <algorithm>
#include <string>

#include "tests/conformance/capture.h"

namespace holdfast::conformance {
namespace {

// Types of the nodes that `steps` captures, in order, and the graph, which stays alive.
std::vector<CUgraphNodeType> Capture(const Driver& driver, Report& report, const std::function<void()>& steps,
                                     CUgraph* graph) {
  Begin(driver, report, driver.stream);
  steps();
  HOLDFAST_NEED(report, driver.StreamEndCapture(driver.stream, graph));
  std::vector<CUgraphNodeType> types;
  for (const CUgraphNode node : NodesOf(driver, report, *graph)) {
    CUgraphNodeType& type = types.emplace_back();
    HOLDFAST_NEED(report, driver.GraphNodeGetType(node, &type));
  }
  return types;
}

void KernelsBecomeNodes(const Driver& driver, Report& report) {
  const CUfunction function = LoadKernel(driver, report, "holdfast_arguments");
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = driver.stream;
  CUdeviceptr first = 0x5000;
  unsigned int second = 7;
  void* arguments[] = {&first, &second};
  CUgraph graph = nullptr;
  const auto steps = [&] {
    report.Expect("launch", CUDA_SUCCESS,
                  driver.LaunchKernel(function, 2, 3, 4, 5, 6, 7, 128, driver.stream, arguments, nullptr));
    report.Expect("launch with a configuration", CUDA_SUCCESS,
                  driver.LaunchKernelEx(&config, function, arguments, nullptr));
    report.Expect("without one", std::string("CUDA_ERROR_INVALID_VALUE, active"),
                  Answered(driver, driver.LaunchKernelEx(nullptr, function, arguments, nullptr), driver.stream));
    second = 8;
  };
  const std::vector<CUgraphNodeType> types = Capture(driver, report, steps, &graph);
  report.Expect("two kernel nodes", true, types == std::vector(2, CU_GRAPH_NODE_TYPE_KERNEL));
  report.Expect("edges", std::string("0>1"), Edges(driver, report, graph));
  CUDA_KERNEL_NODE_PARAMS node{};
  HOLDFAST_NEED(report, driver.GraphKernelNodeGetParams(NodesOf(driver, report, graph).front(), &node));
  report.Expect("function", true, node.func == function && node.kern == nullptr && node.ctx == driver.context);
  report.Expect("shape", true, node.gridDimX == 2 && node.gridDimZ == 4 && node.blockDimY == 6);
  report.Expect("shared memory", 128L, static_cast<long>(node.sharedMemBytes));
  report.Expect("argument as it was at the launch", 7L,
                static_cast<long>(*static_cast<unsigned int*>(node.kernelParams[1])));
}

std::string CopyText(const Driver& driver, Report& report, CUgraphNode node) {
  CUDA_MEMCPY3D copy{};
  HOLDFAST_NEED(report, driver.GraphMemcpyNodeGetParams(node, &copy));
  const auto side = [](CUmemorytype type, const void* host, CUdeviceptr device) {
    return std::to_string(type) + (host != nullptr ? "h" : "") + (device != 0 ? "d" : "");
  };
  return side(copy.srcMemoryType, copy.srcHost, copy.srcDevice) + " " +
         side(copy.dstMemoryType, copy.dstHost, copy.dstDevice) + " " + std::to_string(copy.WidthInBytes) + "x" +
         std::to_string(copy.Height) + "x" + std::to_string(copy.Depth) + " " + std::to_string(copy.srcPitch);
}

std::string FillText(const Driver& driver, Report& report, CUgraphNode node) {
  CUDA_MEMSET_NODE_PARAMS fill{};
  HOLDFAST_NEED(report, driver.GraphMemsetNodeGetParams(node, &fill));
  return std::to_string(fill.value) + " " + std::to_string(fill.elementSize) + " " + std::to_string(fill.width) + "x" +
         std::to_string(fill.height) + " " + std::to_string(fill.pitch);
}

void CopiesAndFillsBecomeNodes(const Driver& driver, Report& report) {
  char host[64] = {};
  CUdeviceptr memory = 0;
  HOLDFAST_NEED(report, driver.MemAlloc(&memory, 8192));
  const auto as_device = [](void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); };
  CUgraph graph = nullptr;
  const auto steps = [&] {
    HOLDFAST_NEED(report, driver.MemcpyHtoDAsync(memory, host, 64, driver.stream));
    HOLDFAST_NEED(report, driver.MemcpyDtoHAsync(host, memory, 64, driver.stream));
    HOLDFAST_NEED(report, driver.MemcpyDtoDAsync(memory, memory + 4096, 64, driver.stream));
    HOLDFAST_NEED(report, driver.MemcpyAsync(as_device(host), memory, 64, driver.stream));
    HOLDFAST_NEED(report, driver.MemsetD8Async(memory, 127, 33, driver.stream));
    HOLDFAST_NEED(report, driver.MemsetD16Async(memory, 4660, 33, driver.stream));
    HOLDFAST_NEED(report, driver.MemsetD32Async(memory, 305419896, 33, driver.stream));
    HOLDFAST_NEED(report, driver.MemsetD2D8Async(memory, 128, 9, 16, 4, driver.stream));
  };
  const std::vector<CUgraphNodeType> types = Capture(driver, report, steps, &graph);
  report.Expect("eight nodes", 8L, static_cast<long>(types.size()));
  const std::vector<CUgraphNode> nodes = NodesOf(driver, report, graph);
  if (nodes.size() != 8) return;
  report.Expect("host to device", std::string("1h 2d 64x1x1 0"), CopyText(driver, report, nodes[0]));
  report.Expect("device to host", std::string("2d 1h 64x1x1 0"), CopyText(driver, report, nodes[1]));
  report.Expect("device to device", std::string("2d 2d 64x1x1 0"), CopyText(driver, report, nodes[2]));
  report.Expect("unified", std::string("4d 4d 64x1x1 0"), CopyText(driver, report, nodes[3]));
  report.Expect("fill of bytes", std::string("127 1 33x1 0"), FillText(driver, report, nodes[4]));
  report.Expect("fill of words", std::string("4660 2 33x1 0"), FillText(driver, report, nodes[5]));
  report.Expect("fill of double words", std::string("305419896 4 33x1 0"), FillText(driver, report, nodes[6]));
  report.Expect("fill of rows", std::string("9 1 16x4 128"), FillText(driver, report, nodes[7]));
  report.Expect("edges", std::string("0>1 1>2 2>3 3>4 4>5 5>6 6>7"), Edges(driver, report, graph));
}

void RefusedWork(const Driver& driver, Report& report) {
  const CUfunction function = LoadKernel(driver, report);
  const CUfunction with_arguments = LoadKernel(driver, report, "holdfast_arguments");
  CUdeviceptr memory = 0;
  HOLDFAST_NEED(report, driver.MemAlloc(&memory, 8192));
  const CUevent event = MakeEvent(driver, report);
  const CUstream own = driver.stream;
  const auto grid = [&](unsigned int x, unsigned int threads) {
    return driver.LaunchKernel(function, x, 1, 1, threads, 1, 1, 0, own, nullptr, nullptr);
  };
  struct Case {
    const char* question;
    const char* expected;  // the answer, the status after it, and how many nodes there are
    std::function<CUresult()> call;
  };
  const Case cases[] = {
      {"null host function", "CUDA_ERROR_INVALID_VALUE, active, 0",
       [&] { return driver.LaunchHostFunc(own, nullptr, nullptr); }},
      {"fill of nothing", "CUDA_SUCCESS, active, 0", [&] { return driver.MemsetD8Async(memory, 1, 0, own); }},
      {"fill of no rows", "CUDA_SUCCESS, active, 0",
       [&] { return driver.MemsetD2D8Async(memory, 128, 9, 16, 0, own); }},
      {"fill of what is no memory", "CUDA_SUCCESS, active, 1", [&] { return driver.MemsetD8Async(64, 1, 16, own); }},
      {"fill of null", "CUDA_SUCCESS, active, 1", [&] { return driver.MemsetD8Async(0, 1, 16, own); }},
      {"fill that is not aligned", "CUDA_ERROR_INVALID_VALUE, active, 0",
       [&] { return driver.MemsetD32Async(memory + 1, 1, 16, own); }},
      {"fill with a pitch too small", "CUDA_ERROR_INVALID_VALUE, active, 0",
       [&] { return driver.MemsetD2D8Async(memory, 8, 9, 16, 4, own); }},
      {"copy of nothing", "CUDA_SUCCESS, active, 0",
       [&] { return driver.MemcpyDtoDAsync(memory, memory + 64, 0, own); }},
      {"copy of what is no memory", "CUDA_ERROR_INVALID_VALUE, active, 0",
       [&] { return driver.MemcpyDtoDAsync(memory, 64, 16, own); }},
      {"copy from null", "CUDA_ERROR_INVALID_VALUE, active, 0",
       [&] { return driver.MemcpyHtoDAsync(memory, nullptr, 16, own); }},
      {"null kernel", "CUDA_ERROR_INVALID_HANDLE, active, 0",
       [&] { return driver.LaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, own, nullptr, nullptr); }},
      {"kernel with an empty grid", "CUDA_ERROR_INVALID_VALUE, invalid, 0", [&] { return grid(0, 1); }},
      {"kernel with a block too large", "CUDA_ERROR_INVALID_VALUE, invalid, 0", [&] { return grid(1, 2048); }},
      {"kernel without its arguments", "CUDA_ERROR_INVALID_VALUE, active, 0",
       [&] { return driver.LaunchKernel(with_arguments, 1, 1, 1, 1, 1, 1, 0, own, nullptr, nullptr); }},
      {"record of null", "CUDA_ERROR_INVALID_HANDLE, active, 0", [&] { return driver.EventRecord(nullptr, own); }},
      {"record with unknown flags", "CUDA_ERROR_INVALID_VALUE, active, 0",
       [&] { return driver.EventRecordWithFlags(event, own, 2); }},
      {"wait for null", "CUDA_ERROR_INVALID_HANDLE, invalid, 0",
       [&] { return driver.StreamWaitEvent(own, nullptr, 0); }},
      {"wait with unknown flags", "CUDA_ERROR_INVALID_VALUE, active, 0",
       [&] { return driver.StreamWaitEvent(own, event, 2); }},
      {"launch of no executable", "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, invalid, 0",
       [&] { return driver.GraphLaunch(nullptr, own); }},
  };
  for (const Case& each : cases) {
    Begin(driver, report, own);
    const CUgraph graph = GraphOf(driver, report, own);
    const std::string answer = Answered(driver, each.call(), own);
    const std::size_t nodes = NodesOf(driver, report, graph).size();
    report.Expect(each.question, std::string(each.expected), answer + ", " + std::to_string(nodes));
    Drop(driver, own);
  }
}

void UnansweredQuestions(const Driver& driver, Report& report) {
  const CUgraph plain = MakeGraph(driver, report);
  AddHost(driver, report, plain);
  const CUgraphExec executable = Instantiate(driver, report, plain);
  const CUstream own = driver.stream;
  unsigned int flags = 0;
  unsigned long long id = 0;
  int priority = 0;
  struct Case {
    const char* question;
    bool is_answered;
    std::function<CUresult()> call;
  };
  const Case cases[] = {
      {"synchronize", false, [&] { return driver.StreamSynchronize(own); }},
      {"query", false, [&] { return driver.StreamQuery(own); }},
      {"flags", false, [&] { return driver.StreamGetFlags(own, &flags); }},
      {"id", false, [&] { return driver.StreamGetId(own, &id); }},
      {"priority", true, [&] { return driver.StreamGetPriority(own, &priority); }},
      {"graph launch", false, [&] { return driver.GraphLaunch(executable, own); }},
      {"graph upload", false, [&] { return driver.GraphUpload(executable, own); }},
      {"synchronize the context", false, [&] { return driver.CtxSynchronize(); }},
  };
  for (const CaptureMode& mode : kCaptureModes) {
    for (const Case& each : cases) {
      Begin(driver, report, own, mode.mode);
      report.Expect(
          std::string(mode.name) + ", " + each.question,
          std::string(each.is_answered ? "CUDA_SUCCESS, active" : "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, invalid"),
          Answered(driver, each.call(), own));
      Drop(driver, own);
    }
  }
}

void InvalidTakesNoMore(const Driver& driver, Report& report) {
  const CUfunction function = LoadKernel(driver, report);
  CUdeviceptr memory = 0;
  HOLDFAST_NEED(report, driver.MemAlloc(&memory, 8192));
  const CUevent event = MakeEvent(driver, report);
  const CUstream own = driver.stream;
  const CUstream branch = MakeStream(driver, report);
  Begin(driver, report, own);
  const CUgraph graph = GraphOf(driver, report, own);
  Work(driver, report, own);
  Follow(driver, report, branch, own);
  Invalidate(driver, report, own);
  constexpr CUresult kInvalid = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  constexpr CUresult kNo = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  report.Expect("host function", kInvalid, driver.LaunchHostFunc(own, &DoNothing, nullptr));
  report.Expect("on the branch", kInvalid, driver.LaunchHostFunc(branch, &DoNothing, nullptr));
  report.Expect("null host function", CUDA_ERROR_INVALID_VALUE, driver.LaunchHostFunc(own, nullptr, nullptr));
  report.Expect("kernel", kInvalid, driver.LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, own, nullptr, nullptr));
  report.Expect("fill", kInvalid, driver.MemsetD8Async(memory, 1, 16, own));
  report.Expect("fill of nothing", kInvalid, driver.MemsetD8Async(memory, 1, 0, own));
  report.Expect("copy", kInvalid, driver.MemcpyDtoDAsync(memory, memory + 64, 16, own));
  report.Expect("record", kInvalid, driver.EventRecord(event, own));
  report.Expect("the event", CUDA_SUCCESS, driver.EventQuery(event));
  report.Expect("external record", kInvalid, driver.EventRecordWithFlags(event, own, CU_EVENT_RECORD_EXTERNAL));
  report.Expect("wait", kInvalid, driver.StreamWaitEvent(own, event, 0));
  report.Expect("external wait", kInvalid, driver.StreamWaitEvent(own, event, CU_EVENT_WAIT_EXTERNAL));
  report.Expect("update dependencies", kInvalid, driver.StreamUpdateCaptureDependencies(own, nullptr, nullptr, 0, 7));
  report.Expect("query", kNo, driver.StreamQuery(own));
  report.Expect("synchronize again", kNo, driver.StreamSynchronize(own));
  report.Expect("synchronize the branch", kNo, driver.StreamSynchronize(branch));
  report.Expect("begin", CUDA_ERROR_ILLEGAL_STATE, driver.StreamBeginCapture(own, CU_STREAM_CAPTURE_MODE_RELAXED));
  report.Expect("its graph is still there", 1L, static_cast<long>(NodesOf(driver, report, graph).size()));
  report.Expect("and cannot be destroyed", CUDA_ERROR_ILLEGAL_STATE, driver.GraphDestroy(graph));
  report.Expect("end on the branch", std::string("CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, null"), End(driver, branch));
  report.Expect("end", std::string("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, null"), End(driver, own));
  report.Expect("the branch", std::string("none"), Status(driver, branch));
  std::size_t count = 0;
  report.Expect("its graph is gone", CUDA_ERROR_INVALID_VALUE, driver.GraphGetNodes(graph, nullptr, &count));
  report.Expect("destroy it", CUDA_ERROR_INVALID_VALUE, driver.GraphDestroy(graph));
}

void MemoryBecomesNodes(const Driver& driver, Report& report) {
  CUdeviceptr memory = 0;
  CUdeviceptr plain = 0;
  HOLDFAST_NEED(report, driver.MemAlloc(&plain, 64));
  CUgraph graph = nullptr;
  const CUstream own = driver.stream;
  const auto steps = [&] {
    report.Expect("allocate", CUDA_SUCCESS, driver.MemAllocAsync(&memory, 256, own));
    report.Expect("fill", CUDA_SUCCESS, driver.MemsetD8Async(memory, 1, 16, own));
    report.Expect("free", CUDA_SUCCESS, driver.MemFreeAsync(memory, own));
    report.Expect("free again", std::string("CUDA_ERROR_INVALID_VALUE, active"),
                  Answered(driver, driver.MemFreeAsync(memory, own), own));
    report.Expect("free of what no graph allocates", std::string("CUDA_ERROR_INVALID_VALUE, active"),
                  Answered(driver, driver.MemFreeAsync(plain, own), own));
    report.Expect("allocate nowhere", std::string("CUDA_ERROR_INVALID_VALUE, active"),
                  Answered(driver, driver.MemAllocAsync(nullptr, 64, own), own));
  };
  const std::vector<CUgraphNodeType> types = Capture(driver, report, steps, &graph);
  report.Expect(
      "three nodes", true,
      types == std::vector{CU_GRAPH_NODE_TYPE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_MEM_FREE});
  const std::vector<CUgraphNode> nodes = NodesOf(driver, report, graph);
  if (nodes.size() != 3) return;
  CUDA_MEM_ALLOC_NODE_PARAMS made{};
  HOLDFAST_NEED(report, driver.GraphMemAllocNodeGetParams(nodes[0], &made));
  report.Expect("the node has the address and the size", true, made.dptr == memory && made.bytesize == 256);
  report.Expect("in the device's memory", true,
                made.poolProps.allocType == CU_MEM_ALLOCATION_TYPE_PINNED &&
                    made.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE && made.poolProps.location.id == 0);
  CUdeviceptr freed = 0;
  HOLDFAST_NEED(report, driver.GraphMemFreeNodeGetParams(nodes[2], &freed));
  report.Expect("the other frees it", true, freed == memory);
  report.Expect("destroy the graph", CUDA_SUCCESS, driver.GraphDestroy(graph));
}

void CapturedWorkRuns(const Driver& driver, Report& report) {
  static std::vector<int> order;
  static int numbers[] = {0, 1, 2};
  const auto note = [](void* number) { order.push_back(*static_cast<int*>(number)); };
  const CUstream branch = MakeStream(driver, report);
  Begin(driver, report, driver.stream);
  HOLDFAST_NEED(report, driver.LaunchHostFunc(driver.stream, note, &numbers[0]));
  Follow(driver, report, branch, driver.stream);
  HOLDFAST_NEED(report, driver.LaunchHostFunc(branch, note, &numbers[1]));
  Follow(driver, report, driver.stream, branch);
  HOLDFAST_NEED(report, driver.LaunchHostFunc(driver.stream, note, &numbers[2]));
  CUgraph graph = nullptr;
  HOLDFAST_NEED(report, driver.StreamEndCapture(driver.stream, &graph));
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
  report.Expect("nothing ran", true, order.empty());
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphLaunch(executable, driver.stream));
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
  report.Expect("in order", true, order == std::vector{0, 1, 2});
}

}  // namespace

std::vector<Fact> CaptureWorkFacts() {
  return {
      {"C14", "captured kernel launches become kernel nodes", &KernelsBecomeNodes},
      {"C15", "captured copies and fills become nodes", &CopiesAndFillsBecomeNodes},
      {"C16", "work of nothing makes no node, and some refused work makes the capture invalid", &RefusedWork},
      {"C17", "a capturing stream answers no question about its progress, and to ask makes the capture invalid",
       &UnansweredQuestions},
      {"C18", "an invalid capture takes no more work and keeps its graph until its end", &InvalidTakesNoMore},
      {"C19", "captured allocations become nodes", &MemoryBecomesNodes},
      {"C20", "captured work runs when the graph is launched, and not before", &CapturedWorkRuns},
  };
}

}  // namespace holdfast::conformance
