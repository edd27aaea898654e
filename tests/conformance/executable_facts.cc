// More of what executables do: updates, changes of single nodes, what they keep alive and what they do not.
#include <functional>
#include <string>

#include "tests/conformance/fact.h"

namespace holdfast::conformance {
namespace {

constexpr CUresult kInvalid = CUDA_ERROR_INVALID_VALUE;

// "CUDA_SUCCESS" or the reason's number for an update of what `before` builds by what `after` builds.
std::string UpdateAnswer(const Driver& driver, Report& report, const std::function<void(CUgraph)>& before,
                         const std::function<void(CUgraph)>& after) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraph source = MakeGraph(driver, report);
  before(graph);
  after(source);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  CUgraphExecUpdateResultInfo info{};
  const CUresult result = driver.GraphExecUpdate(executable, source, &info);
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  HOLDFAST_NEED(report, driver.GraphDestroy(source));
  return result == CUDA_SUCCESS ? "CUDA_SUCCESS" : NameOf(driver, result) + " " + std::to_string(info.result);
}

void UpdatesAreCompared(const Driver& driver, Report& report) {
  CUdeviceptr memory = 0;
  HOLDFAST_NEED(report, driver.MemAlloc(&memory, 1024));
  const auto hosts = [&](int count) {
    return [&, count](CUgraph graph) {
      for (int i = 0; i < count; ++i) AddHost(driver, report, graph);
    };
  };
  const auto memset = [&](std::size_t width) {
    return [&, width](CUgraph graph) { AddMemset(driver, report, graph, memory, width); };
  };
  const auto chain = [&](CUgraph graph) {
    const CUgraphNode first = AddHost(driver, report, graph);
    CUgraphNode second = AddHost(driver, report, graph);
    HOLDFAST_NEED(report, driver.GraphAddDependencies(graph, &first, &second, nullptr, 1));
  };
  const auto child = [&](int count) {
    return [&, count](CUgraph graph) {
      const CUgraph embedded = MakeGraph(driver, report);
      hosts(count)(embedded);
      CUgraphNode node = nullptr;
      HOLDFAST_NEED(report, driver.GraphAddChildGraphNode(&node, graph, nullptr, 0, embedded));
    };
  };
  const std::string success = "CUDA_SUCCESS";
  const std::string failure = "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE ";
  report.Expect("the same", success, UpdateAnswer(driver, report, hosts(1), hosts(1)));
  report.Expect("one node more", failure + "2", UpdateAnswer(driver, report, hosts(1), hosts(2)));
  report.Expect("one node less", failure + "2", UpdateAnswer(driver, report, hosts(2), hosts(1)));
  report.Expect("another type", failure + "3", UpdateAnswer(driver, report, hosts(1), memset(4)));
  report.Expect("an edge more", failure + "2", UpdateAnswer(driver, report, hosts(2), chain));
  report.Expect("an edge less", failure + "2", UpdateAnswer(driver, report, chain, hosts(2)));
  report.Expect("another width", success, UpdateAnswer(driver, report, memset(4), memset(8)));
  report.Expect("the same child", success, UpdateAnswer(driver, report, child(2), child(2)));
  report.Expect("another child", failure + "2", UpdateAnswer(driver, report, child(1), child(2)));
}

void NodesAreChanged(const Driver& driver, Report& report) {
  CUdeviceptr memory = 0;
  HOLDFAST_NEED(report, driver.MemAlloc(&memory, 1024));
  const CUgraph child = MakeGraph(driver, report);
  const CUgraphNode source_node = AddHost(driver, report, child);
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode memset = AddMemset(driver, report, graph, memory, 16);
  const CUgraphNode host = AddHost(driver, report, graph);
  CUgraphNode owner = nullptr;
  CUgraph embedded = nullptr;
  CUgraphNode nested = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddChildGraphNode(&owner, graph, nullptr, 0, child));
  HOLDFAST_NEED(report, driver.GraphChildGraphNodeGetGraph(owner, &embedded));
  HOLDFAST_NEED(report, driver.GraphNodeFindInClone(&nested, source_node, embedded));
  const CUgraphExec executable = Instantiate(driver, report, graph);
  CUDA_HOST_NODE_PARAMS parameters{};
  parameters.fn = &DoNothing;
  const auto set = [&](CUgraphNode node) { return driver.GraphExecHostNodeSetParams(executable, node, &parameters); };
  report.Expect("a node", CUDA_SUCCESS, set(host));
  report.Expect("a nested node", CUDA_SUCCESS, set(nested));
  report.Expect("a node of the source of the child", kInvalid, set(source_node));
  report.Expect("a node of another kind", kInvalid, set(memset));
  report.Expect("null", kInvalid, set(nullptr));
  parameters.fn = nullptr;
  report.Expect("a null function", kInvalid, set(host));
  parameters.fn = &DoNothing;
  HOLDFAST_NEED(report, driver.GraphDestroyNode(host));
  report.Expect("a destroyed node", kInvalid, set(host));
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = memory;
  fill.elementSize = 4;
  fill.width = 8;
  fill.height = 1;
  report.Expect("another element size", CUDA_SUCCESS,
                driver.GraphExecMemsetNodeSetParams(executable, memset, &fill, driver.context));
  fill.height = 2;
  fill.pitch = 64;
  report.Expect("two rows instead of one", kInvalid,
                driver.GraphExecMemsetNodeSetParams(executable, memset, &fill, driver.context));
}

void ChildChangeSwapsReferences(const Driver& driver, Report& report) {
  Payload first;
  Payload second;
  const CUgraph child = MakeOwner(driver, report, &first);
  const CUgraph graph = MakeGraph(driver, report);
  CUgraphNode node = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  const CUgraphExec executable = Instantiate(driver, report, graph);
  const CUgraph source = MakeOwner(driver, report, &second);
  report.Expect("change", CUDA_SUCCESS, driver.GraphExecChildGraphNodeSetParams(executable, node, source));
  HOLDFAST_NEED(report, driver.GraphDestroy(source));
  report.Expect("the new object ran when its source went", false, second.runs.load() > 0);
  const CUgraph next = MakeGraph(driver, report);
  AddHost(driver, report, next);
  report.Expect("change again", CUDA_SUCCESS, driver.GraphExecChildGraphNodeSetParams(executable, node, next));
  report.Expect("the object before it ran", true, WaitForRuns(second));
  AddHost(driver, report, next);
  report.Expect("change to another shape", CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
                driver.GraphExecChildGraphNodeSetParams(executable, node, next));
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
}

void NodesAreSwitched(const Driver& driver, Report& report) {
  CUdeviceptr memory = 0;
  HOLDFAST_NEED(report, driver.MemAlloc(&memory, 64));
  HOLDFAST_NEED(report, driver.MemsetD8(memory, 0, 64));
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode memset = AddMemset(driver, report, graph, memory, 1);
  const CUgraphNode host = AddHost(driver, report, graph);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  unsigned int enabled = 9;
  report.Expect("a memset node", CUDA_SUCCESS, driver.GraphNodeGetEnabled(executable, memset, &enabled));
  report.Expect("enabled at first", long{1}, long{enabled});
  report.Expect("a host node", kInvalid, driver.GraphNodeGetEnabled(executable, host, &enabled));
  report.Expect("switch a host node", kInvalid, driver.GraphNodeSetEnabled(executable, host, 0));
  report.Expect("switch off", CUDA_SUCCESS, driver.GraphNodeSetEnabled(executable, memset, 0));
  const CUgraph source = MakeGraph(driver, report);
  AddMemset(driver, report, source, memory, 1);
  AddHost(driver, report, source);
  report.Expect("update", CUDA_SUCCESS, driver.GraphExecUpdate(executable, source, nullptr));
  HOLDFAST_NEED(report, driver.GraphNodeGetEnabled(executable, memset, &enabled));
  report.Expect("still off after an update", long{0}, long{enabled});
  HOLDFAST_NEED(report, driver.GraphLaunch(executable, driver.stream));
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
  char value = 9;
  HOLDFAST_NEED(report, driver.MemcpyDtoH(&value, memory, 1));
  report.Expect("what it would have written", long{0}, long{value});
}

void LaunchDeliversLate(const Driver& driver, Report& report) {
  Payload payload;
  const CUgraph graph = MakeOwner(driver, report, &payload);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  HOLDFAST_NEED(report, driver.GraphLaunch(executable, driver.stream));
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  report.Expect("ran in the end", true, WaitForRuns(payload));
  report.Expect("on the thread that destroyed", false, payload.ran_here());
  report.Expect("runs", long{1}, long{payload.runs.load()});
}

// Whether the destructor of an executable's object, destroyed after `use`, runs on the thread that destroys it.
bool DeliversHere(const Driver& driver, Report& report, const std::function<void(CUgraphExec)>& use) {
  Payload payload;
  const CUgraph graph = MakeOwner(driver, report, &payload);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  use(executable);
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  report.Expect("ran in the end", true, WaitForRuns(payload));
  return payload.ran_here();
}

void UploadDeliversLate(const Driver& driver, Report& report) {
  report.Expect("destroyed unused, on the thread that destroyed", true,
                DeliversHere(driver, report, [](CUgraphExec) {}));
  report.Expect("destroyed after an upload, on the thread that destroyed", false,
                DeliversHere(driver, report, [&](CUgraphExec executable) {
                  HOLDFAST_NEED(report, driver.GraphUpload(executable, driver.stream));
                }));
}

void UpdateAfterLaunchDeliversLate(const Driver& driver, Report& report) {
  Payload old_payload;
  Payload new_payload;
  const CUgraph graph = MakeOwner(driver, report, &old_payload);
  const CUgraph source = MakeOwner(driver, report, &new_payload);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  HOLDFAST_NEED(report, driver.GraphLaunch(executable, driver.stream));
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
  CUgraphExecUpdateResultInfo info{};
  report.Expect("update", CUDA_SUCCESS, driver.GraphExecUpdate(executable, source, &info));
  report.Expect("old object ran in the end", true, WaitForRuns(old_payload));
  report.Expect("on the thread that updated", false, old_payload.ran_here());
  HOLDFAST_NEED(report, driver.GraphDestroy(source));
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  report.Expect("new object ran in the end", true, WaitForRuns(new_payload));
}

void FreedMemoryLosesTheContext(const Driver& driver, Report& report) {
  CUdeviceptr memory = 0;
  HOLDFAST_NEED(report, driver.MemAlloc(&memory, 1 << 22));
  const CUgraph graph = MakeGraph(driver, report);
  AddMemset(driver, report, graph, memory, 4096);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.MemFree(memory));
  report.Expect("launch", CUDA_SUCCESS, driver.GraphLaunch(executable, driver.stream));
  report.Expect("synchronize", CUDA_ERROR_LAUNCH_FAILED, driver.StreamSynchronize(driver.stream));
  report.Expect("allocate", CUDA_ERROR_LAUNCH_FAILED, driver.MemAlloc(&memory, 16));
  report.Expect("destroy the executable", CUDA_SUCCESS, driver.GraphExecDestroy(executable));
  report.Expect("destroy the graph", CUDA_SUCCESS, driver.GraphDestroy(graph));
}

void DestroyedEventStillWorks(const Driver& driver, Report& report) {
  CUevent event = nullptr;
  HOLDFAST_NEED(report, driver.EventCreate(&event, 0));
  const CUgraph graph = MakeGraph(driver, report);
  CUgraphNode node = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddEventRecordNode(&node, graph, nullptr, 0, event));
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.EventDestroy(event));
  report.Expect("launch", CUDA_SUCCESS, driver.GraphLaunch(executable, driver.stream));
  report.Expect("synchronize", CUDA_SUCCESS, driver.StreamSynchronize(driver.stream));
}

void EventGoneBeforeInstantiation(const Driver& driver, Report& report) {
  CUevent event = nullptr;
  HOLDFAST_NEED(report, driver.EventCreate(&event, 0));
  const CUgraph graph = MakeGraph(driver, report);
  CUgraphNode node = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddEventRecordNode(&node, graph, nullptr, 0, event));
  HOLDFAST_NEED(report, driver.EventDestroy(event));
  CUgraphExec executable = nullptr;
  driver.GraphInstantiateWithFlags(&executable, graph, 0);
}

constexpr char kPtx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry holdfast_nothing()\n{\n  ret;\n}\n";

// A graph with one kernel node, and the library that has its kernel.
CUgraph MakeKernelGraph(const Driver& driver, Report& report, CUlibrary* library) {
  CUDA_KERNEL_NODE_PARAMS parameters{};
  HOLDFAST_NEED(report, driver.LibraryLoadData(library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  HOLDFAST_NEED(report, driver.LibraryGetKernel(&parameters.kern, *library, "holdfast_nothing"));
  parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
  parameters.blockDimX = parameters.blockDimY = parameters.blockDimZ = 1;
  const CUgraph graph = MakeGraph(driver, report);
  CUgraphNode node = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
  return graph;
}

void UnloadedKernelStillRuns(const Driver& driver, Report& report) {
  CUlibrary library = nullptr;
  const CUgraph graph = MakeKernelGraph(driver, report, &library);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.LibraryUnload(library));
  report.Expect("launch", CUDA_SUCCESS, driver.GraphLaunch(executable, driver.stream));
  report.Expect("synchronize", CUDA_SUCCESS, driver.StreamSynchronize(driver.stream));
}

}  // namespace

std::vector<Fact> ExecutableFacts() {
  return {
      {"E1", "a whole update wants the same shape", &UpdatesAreCompared},
      {"E2", "single nodes are changed through the definition's handles, at any depth", &NodesAreChanged},
      {"E3", "a change of a child graph swaps its references", &ChildChangeSwapsReferences},
      {"E4", "memset nodes can be switched off, host nodes cannot", &NodesAreSwitched},
      {"E5", "an executable destroyed after its launch delivers all the same", &LaunchDeliversLate},
      {"E5b", "an update after a launch delivers all the same", &UpdateAfterLaunchDeliversLate},
      {"E16", "an executable that was uploaded delivers late, as one that was launched does", &UploadDeliversLate},
      {"E6", "a node that writes to freed memory loses the context", &FreedMemoryLosesTheContext},
      {"E7", "an executable outlives the event that it records", &DestroyedEventStillWorks},
      {"E8", "to instantiate a node of a destroyed event is a crash", &EventGoneBeforeInstantiation, Ending::kCrashes},
      {"E9", "an executable outlives the library of its kernel", &UnloadedKernelStillRuns},
  };
}

}  // namespace holdfast::conformance
