// Facts N1 to N9: handles of nodes, refusals that change nothing, and kinds of graph that cannot be cloned.
#include <chrono>
#include <string>

#include "tests/conformance/fact.h"

namespace holdfast::conformance {
namespace {

void CUDA_CB DoNothingElse(void*) {}

CUgraphNodeParams HostParameters(CUhostFn function) {
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_HOST;
  parameters.host.fn = function;
  return parameters;
}

void NextNodeGetsTheHandle(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode first = AddHost(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphDestroyNode(first));
  report.Expect("the next node has the same handle", true, AddHost(driver, report, graph) == first);
}

void DestroyedTwice(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode node = AddHost(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphDestroyNode(node));
  driver.GraphDestroyNode(node);
}

void SetParamsOfDestroyed(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode node = AddHost(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphDestroyNode(node));
  CUgraphNodeParams parameters = HostParameters(&DoNothing);
  report.Expect("set params", CUDA_ERROR_INVALID_VALUE, driver.GraphNodeSetParams(node, &parameters));
}

void RefusedHostChange(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode node = AddHost(driver, report, graph, &DoNothingElse);
  CUgraphNodeParams parameters = HostParameters(&DoNothing);
  parameters.type = CU_GRAPH_NODE_TYPE_MEMSET;
  report.Expect("wrong type", CUDA_ERROR_INVALID_VALUE, driver.GraphNodeSetParams(node, &parameters));
  parameters = HostParameters(nullptr);
  report.Expect("null function", CUDA_ERROR_INVALID_VALUE, driver.GraphNodeSetParams(node, &parameters));
  CUDA_HOST_NODE_PARAMS now{};
  HOLDFAST_NEED(report, driver.GraphHostNodeGetParams(node, &now));
  report.Expect("the node is unchanged", true, now.fn == &DoNothingElse);
}

void RefusedMemsetChange(const Driver& driver, Report& report) {
  CUdeviceptr memory = 0;
  HOLDFAST_NEED(report, driver.MemAlloc(&memory, 1024));
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode node = AddMemset(driver, report, graph, memory, 16);
  const auto set = [&](CUdeviceptr address, unsigned int element, std::size_t width, std::size_t height,
                       std::size_t pitch, CUcontext context) {
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_MEMSET;
    parameters.memset = CUDA_MEMSET_NODE_PARAMS_v2{address, pitch, 1, element, width, height, context};
    return driver.GraphNodeSetParams(node, &parameters);
  };
  constexpr CUresult kInvalid = CUDA_ERROR_INVALID_VALUE;
  report.Expect("null destination", kInvalid, set(0, 1, 16, 1, 0, driver.context));
  report.Expect("element size 3", kInvalid, set(memory, 3, 16, 1, 0, driver.context));
  report.Expect("no allocation", kInvalid, set(memory + (1ull << 40), 1, 16, 1, 0, driver.context));
  report.Expect("width 0", kInvalid, set(memory, 1, 0, 1, 0, driver.context));
  report.Expect("height 0", kInvalid, set(memory, 1, 16, 0, 0, driver.context));
  report.Expect("misaligned", kInvalid, set(memory + 1, 4, 4, 1, 0, driver.context));
  report.Expect("pitch below width", kInvalid, set(memory, 1, 16, 2, 8, driver.context));
  CUDA_MEMSET_NODE_PARAMS now{};
  HOLDFAST_NEED(report, driver.GraphMemsetNodeGetParams(node, &now));
  report.Expect("the node is unchanged", true, now.dst == memory && now.width == 16 && now.value == 7);
  report.Expect("null context", CUDA_SUCCESS, set(memory, 1, 32, 1, 0, nullptr));
  report.Expect("two rows", CUDA_SUCCESS, set(memory, 1, 16, 2, 32, driver.context));
}

void RefusedEventChange(const Driver& driver, Report& report) {
  CUevent event = nullptr;
  HOLDFAST_NEED(report, driver.EventCreate(&event, 0));
  const CUgraph graph = MakeGraph(driver, report);
  CUgraphNode node = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddEventRecordNode(&node, graph, nullptr, 0, event));
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  report.Expect("null event", CUDA_ERROR_INVALID_VALUE, driver.GraphNodeSetParams(node, &parameters));
  CUevent now = nullptr;
  HOLDFAST_NEED(report, driver.GraphEventRecordNodeGetEvent(node, &now));
  report.Expect("the node is unchanged", true, now == event);
}

void OriginalGraphGone(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode node = AddHost(driver, report, graph);
  CUgraph clone = nullptr;
  HOLDFAST_NEED(report, driver.GraphClone(&clone, graph));
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  CUgraphNode found = nullptr;
  driver.GraphNodeFindInClone(&found, node, clone);
}

CUgraphNode AddConditional(const Driver& driver, Report& report, CUgraph graph, CUgraph* body) {
  CUgraphConditionalHandle handle = 0;
  HOLDFAST_NEED(report,
                driver.GraphConditionalHandleCreate(&handle, graph, driver.context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  parameters.conditional.handle = handle;
  parameters.conditional.type = CU_GRAPH_COND_TYPE_IF;
  parameters.conditional.size = 1;
  parameters.conditional.ctx = driver.context;
  CUgraphNode node = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters));
  if (parameters.conditional.phGraph_out != nullptr) *body = parameters.conditional.phGraph_out[0];
  return node;
}

CUgraphNode AddAllocation(const Driver& driver, Report& report, CUgraph graph) {
  CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
  parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  parameters.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  parameters.bytesize = 4096;
  CUgraphNode node = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddMemAllocNode(&node, graph, nullptr, 0, &parameters));
  return node;
}

void SpecialGraphsAreNotCloned(const Driver& driver, Report& report) {
  CUgraph clone = nullptr;
  CUgraph body = nullptr;
  const CUgraph conditional = MakeGraph(driver, report);
  AddConditional(driver, report, conditional, &body);
  report.Expect("clone with a conditional node", CUDA_ERROR_NOT_SUPPORTED, driver.GraphClone(&clone, conditional));
  const CUgraph memory = MakeGraph(driver, report);
  AddAllocation(driver, report, memory);
  report.Expect("clone with a memory-allocation node", CUDA_ERROR_NOT_SUPPORTED, driver.GraphClone(&clone, memory));
}

void AllocationNodeIsFixed(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode other = AddHost(driver, report, graph);
  const CUgraphNode node = AddAllocation(driver, report, graph);
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  report.Expect("set params", CUDA_ERROR_NOT_SUPPORTED, driver.GraphNodeSetParams(node, &parameters));
  report.Expect("destroy", CUDA_ERROR_NOT_SUPPORTED, driver.GraphDestroyNode(node));
  report.Expect("destroy another node of that graph", CUDA_ERROR_NOT_SUPPORTED, driver.GraphDestroyNode(other));
}

void HostNodeInBody(const Driver& driver, Report& report) {
  Payload payload;
  const CUgraph graph = MakeGraph(driver, report);
  CUgraph body = nullptr;
  const CUgraphNode node = AddConditional(driver, report, graph, &body);
  AddHost(driver, report, body);
  const CUuserObject object = MakeObject(driver, report, &payload);
  report.Expect("retain on the body", CUDA_SUCCESS,
                driver.GraphRetainUserObject(body, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  CUgraphExec executable = nullptr;
  report.Expect("instantiate", CUDA_ERROR_INVALID_VALUE, driver.GraphInstantiateWithFlags(&executable, graph, 0));
  report.Expect("destroy the conditional node", CUDA_SUCCESS, driver.GraphDestroyNode(node));
  report.Expect("the body's object ran", true, payload.ran_here());
}

class Stopwatch {
 public:
  std::string PerCall(int calls) const {
    const auto elapsed = std::chrono::steady_clock::now() - start_;
    return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count() / calls) + " ns";
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Times are read, not judged: two drivers on two machines need not agree on them.
void Times(const Driver& driver, Report& report) {
  constexpr int kCalls = 20'000;
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode node = AddHost(driver, report, graph);
  CUgraphNodeParams parameters = HostParameters(&DoNothing);
  const Stopwatch set;
  for (int i = 0; i < kCalls; ++i) driver.GraphNodeSetParams(node, &parameters);
  report.Note("set params of a host node", set.PerCall(kCalls));
  const Stopwatch add;
  for (int i = 0; i < kCalls; ++i) AddHost(driver, report, graph);
  report.Note("add a host node", add.PerCall(kCalls));
  CUgraph clone = nullptr;
  const Stopwatch cloning;
  HOLDFAST_NEED(report, driver.GraphClone(&clone, graph));
  report.Note("clone of 20,001 nodes", cloning.PerCall(1));
  CUgraphNode found = nullptr;
  HOLDFAST_NEED(report, driver.GraphNodeFindInClone(&found, node, clone));
  const Stopwatch find;
  for (int i = 0; i < kCalls; ++i) driver.GraphNodeFindInClone(&found, node, clone);
  report.Note("find in clone", find.PerCall(kCalls));
  const Stopwatch instantiate;
  Instantiate(driver, report, graph);
  report.Note("instantiate 20,001 host nodes", instantiate.PerCall(1));
}

}  // namespace

std::vector<Fact> NodeFacts() {
  return {
      {"N1", "the next node gets the handle of the one destroyed last", &NextNodeGetsTheHandle},
      {"N2", "a node destroyed twice is a crash", &DestroyedTwice, Ending::kCrashes},
      {"N3", "set params of a destroyed node is an invalid value", &SetParamsOfDestroyed},
      {"N4", "a refused change leaves a host node as it was", &RefusedHostChange},
      {"N4b", "a refused change leaves a memset node as it was", &RefusedMemsetChange},
      {"N4c", "a refused change leaves an event node as it was", &RefusedEventChange},
      {"N5", "find in clone with a node of a destroyed graph is a crash", &OriginalGraphGone, Ending::kCrashes},
      {"N6", "graphs with conditional or memory nodes are not cloned", &SpecialGraphsAreNotCloned},
      {"N7", "a memory-allocation node is neither changed nor destroyed", &AllocationNodeIsFixed},
      {"N8", "a host node in a conditional body can be added but not run", &HostNodeInBody},
      {"N9", "times, to read", &Times},
  };
}

}  // namespace holdfast::conformance
