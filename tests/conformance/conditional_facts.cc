// Facts B1 to B18: conditional handles and nodes, what their bodies may have, how they run, and what is refused for
// graphs that have them.
#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "tests/conformance/fact.h"
#include "tests/conformance/node_tools.h"

namespace holdfast::conformance {
namespace {

constexpr CUresult kInvalid = CUDA_ERROR_INVALID_VALUE;
constexpr CUresult kUnsupported = CUDA_ERROR_NOT_SUPPORTED;
constexpr CUgraphConditionalNodeType kIf = CU_GRAPH_COND_TYPE_IF;
constexpr CUgraphConditionalNodeType kWhile = CU_GRAPH_COND_TYPE_WHILE;
constexpr CUgraphConditionalNodeType kSwitch = CU_GRAPH_COND_TYPE_SWITCH;

const std::string kSuccess = "CUDA_SUCCESS";

void HandlesAreChecked(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  CUgraphConditionalHandle handle = 0;
  const auto make = [&](CUgraph of, CUcontext context, unsigned int flags) {
    return driver.GraphConditionalHandleCreate(&handle, of, context, 1, flags);
  };
  report.Expect("unknown flag", kInvalid, make(graph, driver.context, 2));
  report.Expect("null context", CUDA_ERROR_INVALID_CONTEXT, make(graph, nullptr, 0));
  report.Expect("null graph", kInvalid, make(nullptr, driver.context, 0));
  report.Expect("null handle", kInvalid, driver.GraphConditionalHandleCreate(nullptr, graph, driver.context, 1, 0));
  report.Expect("without a default", CUDA_SUCCESS, make(graph, driver.context, 0));
  report.Expect("the first handle of a graph", long{1}, static_cast<long>(handle));
  report.Expect("with a default", CUDA_SUCCESS, make(graph, driver.context, CU_GRAPH_COND_ASSIGN_DEFAULT));
  report.Expect("the second handle", long{2}, static_cast<long>(handle));
  report.Expect("instantiate with handles that no node has", "CUDA_ERROR_INVALID_VALUE 5",
                TryInstantiate(driver, graph));
  CUgraph clone = nullptr;
  CUgraphNode node = nullptr;
  const CUgraph parent = MakeGraph(driver, report);
  report.Expect("clone with a handle alone", kUnsupported, driver.GraphClone(&clone, graph));
  report.Expect("embed by copy with a handle alone", kUnsupported,
                driver.GraphAddChildGraphNode(&node, parent, nullptr, 0, graph));
  report.Expect("embed by move with a handle alone", kUnsupported, Move(driver, parent, graph));
}

void MadeUpContext(const Driver& driver, Report& report) {
  CUgraphConditionalHandle handle = 0;
  driver.GraphConditionalHandleCreate(&handle, MakeGraph(driver, report), reinterpret_cast<CUcontext>(0x10), 1, 0);
}

void NodesAreChecked(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphConditionalHandle handle = MakeHandle(driver, report, graph);
  const auto add = [&](CUgraphConditionalHandle with, CUgraphConditionalNodeType type, unsigned int size) {
    return TryConditional(driver, graph, with, type, size).result;
  };
  report.Expect("switch of 0", kInvalid, add(handle, kSwitch, 0));
  report.Expect("if of 0", kInvalid, add(handle, kIf, 0));
  report.Expect("if of 3", kInvalid, add(handle, kIf, 3));
  report.Expect("while of 0", kInvalid, add(handle, kWhile, 0));
  report.Expect("while of 2", kInvalid, add(handle, kWhile, 2));
  report.Expect("unknown type", kInvalid, add(handle, static_cast<CUgraphConditionalNodeType>(3), 1));
  report.Expect("handle 0", kInvalid, add(0, kIf, 1));
  report.Expect("a handle that was never made", kInvalid, add(0x1234567, kIf, 1));
  report.Expect("if of 1", CUDA_SUCCESS, add(handle, kIf, 1));
  report.Expect("the same handle again", kInvalid, add(handle, kIf, 1));
  report.Expect("switch of 100", CUDA_SUCCESS, add(MakeHandle(driver, report, graph), kSwitch, 100));
  std::size_t count = 0;
  HOLDFAST_NEED(report, driver.GraphGetNodes(graph, nullptr, &count));
  report.Expect("nodes", long{2}, static_cast<long>(count));
}

void HandlesComeFree(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphConditionalHandle handle = MakeHandle(driver, report, graph);
  const Conditional first = AddConditional(driver, report, graph, handle, kIf, 1);
  const CUgraphConditionalHandle of_body = MakeHandle(driver, report, first.bodies[0]);
  report.Expect("destroy the node", CUDA_SUCCESS, driver.GraphDestroyNode(first.node));
  report.Expect("the handles stay, and are unused", "CUDA_ERROR_INVALID_VALUE 5", TryInstantiate(driver, graph));
  report.Expect("use its handle again", CUDA_SUCCESS, TryConditional(driver, graph, handle, kIf, 1).result);
  report.Expect("and that of its body", CUDA_SUCCESS, TryConditional(driver, graph, of_body, kIf, 1).result);
  report.Expect("instantiate", kSuccess, TryInstantiate(driver, graph));
}

// A handle is a number of its hierarchy, and nothing more.
void HandlesOfOthersAreNumbers(const Driver& driver, Report& report) {
  const CUgraphConditionalHandle foreign = MakeHandle(driver, report, MakeGraph(driver, report));
  const CUgraph graph = MakeGraph(driver, report);
  report.Expect("a graph without handles", kInvalid, TryConditional(driver, graph, foreign, kIf, 1).result);
  const CUgraphConditionalHandle own = MakeHandle(driver, report, graph);
  report.Expect("a graph that has that number too", CUDA_SUCCESS,
                TryConditional(driver, graph, foreign, kIf, 1).result);
  report.Expect("its own handle then", kInvalid, TryConditional(driver, graph, own, kIf, 1).result);
}

void EmbeddedGraphsMayHaveThem(const Driver& driver, Report& report) {
  const CUdeviceptr memory = MakeMemory(driver, report);
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode child = AddChild(driver, report, graph, MakeGraph(driver, report));
  const CUgraph embedded = GraphOf(driver, report, child);
  const Conditional node = AddConditional(driver, report, embedded, MakeHandle(driver, report, embedded), kIf, 1);
  AddFill(driver, report, node.bodies[0], memory, 7);
  CUgraphExec executable = nullptr;
  report.Expect("instantiate", kSuccess, TryInstantiate(driver, graph, &executable));
  LaunchAndWait(driver, report, executable);
  report.Expect("what the body wrote", long{7}, ByteAt(driver, report, memory));
  CUgraph clone = nullptr;
  report.Expect("clone the parent", kUnsupported, driver.GraphClone(&clone, graph));
  report.Expect("clone the embedded graph", kUnsupported, driver.GraphClone(&clone, embedded));
  report.Expect("embed the parent by move", kUnsupported, Move(driver, MakeGraph(driver, report), graph));
  report.Expect("destroy the child node", CUDA_SUCCESS, driver.GraphDestroyNode(child));
}

// What a node of a type and size wrote with that default: 10 for the first body, 20 for the second, and so on.
long WrittenBy(const Driver& driver, Report& report, CUgraphConditionalNodeType type, unsigned int size,
               unsigned int value) {
  const CUdeviceptr memory = MakeMemory(driver, report);
  const CUgraph graph = MakeGraph(driver, report);
  const Conditional node = AddConditional(driver, report, graph, MakeHandle(driver, report, graph, value), type, size);
  for (unsigned int i = 0; i < size; ++i) {
    AddFill(driver, report, node.bodies[i], memory, static_cast<unsigned char>(10 * (i + 1)));
  }
  LaunchAndWait(driver, report, Instantiate(driver, report, graph));
  return ByteAt(driver, report, memory);
}

void DefaultsChoose(const Driver& driver, Report& report) {
  report.Expect("if, 0", long{0}, WrittenBy(driver, report, kIf, 1, 0));
  report.Expect("if, 1", long{10}, WrittenBy(driver, report, kIf, 1, 1));
  report.Expect("if, 5", long{10}, WrittenBy(driver, report, kIf, 1, 5));
  report.Expect("if and else, 0", long{20}, WrittenBy(driver, report, kIf, 2, 0));
  report.Expect("if and else, 1", long{10}, WrittenBy(driver, report, kIf, 2, 1));
  report.Expect("while, 0", long{0}, WrittenBy(driver, report, kWhile, 1, 0));
  report.Expect("switch, 0", long{10}, WrittenBy(driver, report, kSwitch, 3, 0));
  report.Expect("switch, 2", long{30}, WrittenBy(driver, report, kSwitch, 3, 2));
  report.Expect("switch, out of range", long{0}, WrittenBy(driver, report, kSwitch, 3, 3));
}

void KernelsSetConditions(const Driver& driver, Report& report) {
  const Kernels kernels(driver, report);
  const CUdeviceptr counter = MakeMemory(driver, report);
  const CUgraph loop = MakeGraph(driver, report);
  CUgraphConditionalHandle handle = MakeHandle(driver, report, loop);
  Conditional node = AddConditional(driver, report, loop, handle, kWhile, 1);
  kernels.AddCountTo(node.bodies[0], handle, counter, 5);
  CUgraphExec executable = Instantiate(driver, report, loop);
  LaunchAndWait(driver, report, executable);
  report.Expect("rounds of a while", long{5}, WordAt(driver, report, counter));
  LaunchAndWait(driver, report, executable);
  report.Expect("the default begins the next launch: one more", long{6}, WordAt(driver, report, counter));

  const CUdeviceptr memory = MakeMemory(driver, report);
  const CUgraph graph = MakeGraph(driver, report);
  handle = MakeHandle(driver, report, graph);
  const CUgraphNode before = kernels.AddSetCondition(graph, handle, 0);
  node = AddConditional(driver, report, graph, handle, kIf, 2, before);
  AddFill(driver, report, node.bodies[0], memory, 10);
  AddFill(driver, report, node.bodies[1], memory, 20);
  LaunchAndWait(driver, report, Instantiate(driver, report, graph));
  report.Expect("a kernel before the node decides", long{20}, ByteAt(driver, report, memory));
}

void ValuesStayWithoutDefault(const Driver& driver, Report& report) {
  const Kernels kernels(driver, report);
  const CUdeviceptr memory = MakeMemory(driver, report);
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphConditionalHandle handle = MakeHandle(driver, report, graph, 1, 0);
  const Conditional node = AddConditional(driver, report, graph, handle, kIf, 2);
  AddFill(driver, report, node.bodies[0], memory, 10);
  AddFill(driver, report, node.bodies[1], memory, 20);
  kernels.AddSetCondition(graph, handle, 1, node.node);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  LaunchAndWait(driver, report, executable);
  report.Expect("the first launch finds 0", long{20}, ByteAt(driver, report, memory));
  LaunchAndWait(driver, report, executable);
  report.Expect("the next one finds what the first left", long{10}, ByteAt(driver, report, memory));
  report.Expect("update", kSuccess, TryUpdate(driver, executable, graph));
  HOLDFAST_NEED(report, driver.MemsetD8(memory, 0, 1));
  LaunchAndWait(driver, report, executable);
  report.Expect("after an update too", long{10}, ByteAt(driver, report, memory));
}

void NestedNodesRun(const Driver& driver, Report& report) {
  const Kernels kernels(driver, report);
  const CUdeviceptr outer = MakeMemory(driver, report);
  const CUdeviceptr inner = MakeMemory(driver, report);
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphConditionalHandle outer_handle = MakeHandle(driver, report, graph);
  const Conditional loop = AddConditional(driver, report, graph, outer_handle, kWhile, 1);
  const CUgraphConditionalHandle inner_handle = MakeHandle(driver, report, loop.bodies[0]);
  report.Expect("handles are numbered within a hierarchy", long{2}, static_cast<long>(inner_handle));
  const Conditional nested = AddConditional(driver, report, loop.bodies[0], inner_handle, kWhile, 1);
  kernels.AddCountTo(nested.bodies[0], inner_handle, inner, 1);
  kernels.AddCountTo(loop.bodies[0], outer_handle, outer, 3, nested.node);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  LaunchAndWait(driver, report, executable);
  report.Expect("rounds of the outer", long{3}, WordAt(driver, report, outer));
  report.Expect("rounds of the inner: its default is assigned once a launch", long{1}, WordAt(driver, report, inner));
  const CUgraph other = MakeGraph(driver, report);
  const Conditional node = AddConditional(driver, report, other, MakeHandle(driver, report, other), kIf, 1);
  const CUgraphConditionalHandle of_root = MakeHandle(driver, report, other);
  const CUgraphConditionalHandle of_body = MakeHandle(driver, report, node.bodies[0]);
  report.Expect("the root's handle in a body", CUDA_SUCCESS,
                TryConditional(driver, node.bodies[0], of_root, kIf, 1).result);
  report.Expect("a body's handle in the root", CUDA_SUCCESS, TryConditional(driver, other, of_body, kIf, 1).result);
}

// Instantiates a graph whose conditional body has what `add` adds.
std::string BodyOf(const Driver& driver, Report& report, const std::function<CUgraphNode(CUgraph)>& add) {
  const CUgraph graph = MakeGraph(driver, report);
  const Conditional node = AddConditional(driver, report, graph, MakeHandle(driver, report, graph), kIf, 1);
  const CUgraphNode inner = add(node.bodies[0]);
  CUgraphExec executable = nullptr;
  CUgraphNode error_node = nullptr;
  const std::string answer = TryInstantiate(driver, graph, &executable, &error_node);
  if (executable == nullptr) return answer + (error_node == inner ? ", at that node" : ", at another node");
  LaunchAndWait(driver, report, executable);
  return answer;
}

void BodiesAreChecked(const Driver& driver, Report& report) {
  const Kernels kernels(driver, report);
  const CUdeviceptr memory = MakeMemory(driver, report);
  CUevent event = nullptr;
  HOLDFAST_NEED(report, driver.EventCreate(&event, 0));
  const auto embed = [&](CUgraph body, bool with_host) {
    const CUgraph child = MakeGraph(driver, report);
    with_host ? AddHost(driver, report, child) : AddFill(driver, report, child, memory, 1);
    return AddChild(driver, report, body, child);
  };
  CUgraphNode node = nullptr;
  const std::string refused = "CUDA_ERROR_INVALID_VALUE 3, at that node";
  report.Expect("nothing", kSuccess, BodyOf(driver, report, [](CUgraph) { return nullptr; }));
  report.Expect("an empty node", kSuccess, BodyOf(driver, report, [&](CUgraph body) {
                  HOLDFAST_NEED(report, driver.GraphAddEmptyNode(&node, body, nullptr, 0));
                  return node;
                }));
  report.Expect("a kernel", kSuccess, BodyOf(driver, report, [&](CUgraph body) { return kernels.AddNothing(body); }));
  report.Expect("a memset", kSuccess,
                BodyOf(driver, report, [&](CUgraph body) { return AddFill(driver, report, body, memory, 1); }));
  report.Expect("a child graph", kSuccess, BodyOf(driver, report, [&](CUgraph body) { return embed(body, false); }));
  report.Expect("a host node", refused,
                BodyOf(driver, report, [&](CUgraph body) { return AddHost(driver, report, body); }));
  report.Expect("an event record node", refused, BodyOf(driver, report, [&](CUgraph body) {
                  HOLDFAST_NEED(report, driver.GraphAddEventRecordNode(&node, body, nullptr, 0, event));
                  return node;
                }));
  report.Expect("an event wait node", refused, BodyOf(driver, report, [&](CUgraph body) {
                  HOLDFAST_NEED(report, driver.GraphAddEventWaitNode(&node, body, nullptr, 0, event));
                  return node;
                }));
  const CUgraph cyclic = MakeGraph(driver, report);
  const Conditional conditional = AddConditional(driver, report, cyclic, MakeHandle(driver, report, cyclic), kIf, 1);
  const CUgraphNode a = AddFill(driver, report, conditional.bodies[0], memory, 1);
  const CUgraphNode b = AddFill(driver, report, conditional.bodies[0], memory, 2);
  HOLDFAST_NEED(report, driver.GraphAddDependencies(conditional.bodies[0], &a, &b, nullptr, 1));
  HOLDFAST_NEED(report, driver.GraphAddDependencies(conditional.bodies[0], &b, &a, nullptr, 1));
  report.Expect("a cycle", "CUDA_ERROR_INVALID_VALUE 2", TryInstantiate(driver, cyclic, nullptr, &node));
  report.Expect("the error node of a cycle is null", true, node == nullptr);
  report.Expect("an allocation", refused, BodyOf(driver, report, [&](CUgraph body) {
                  CUdeviceptr address = 0;
                  return AddAllocation(driver, report, body, &address);
                }));
}

void BodiesTakeDeviceCopies(const Driver& driver, Report& report) {
  const CUdeviceptr memory = MakeMemory(driver, report);
  void* pinned = nullptr;
  static char pageable[64];
  HOLDFAST_NEED(report, driver.MemAllocHost(&pinned, 64));
  const auto copy = [&](CUmemorytype type, void* host) {
    return BodyOf(driver, report, [&](CUgraph body) {
      CUDA_MEMCPY3D parameters{};
      parameters.srcMemoryType = type;
      parameters.srcHost = host;
      parameters.srcDevice = memory + 64;
      parameters.dstMemoryType = CU_MEMORYTYPE_DEVICE;
      parameters.dstDevice = memory;
      parameters.WidthInBytes = 64;
      parameters.Height = parameters.Depth = 1;
      CUgraphNode node = nullptr;
      HOLDFAST_NEED(report, driver.GraphAddMemcpyNode(&node, body, nullptr, 0, &parameters, driver.context));
      return node;
    });
  };
  report.Expect("from device memory", kSuccess, copy(CU_MEMORYTYPE_DEVICE, nullptr));
  report.Expect("from pinned memory", kSuccess, copy(CU_MEMORYTYPE_HOST, pinned));
  report.Expect("from pageable memory", "CUDA_ERROR_INVALID_VALUE 4, at that node", copy(CU_MEMORYTYPE_HOST, pageable));
}

void NotCopiedNorMoved(const Driver& driver, Report& report) {
  const auto make = [&] {
    const CUgraph graph = MakeGraph(driver, report);
    AddConditional(driver, report, graph, MakeHandle(driver, report, graph), kIf, 1);
    return graph;
  };
  const CUgraph source = make();
  const CUgraph parent = MakeGraph(driver, report);
  CUgraph clone = nullptr;
  CUgraphNode node = nullptr;
  report.Expect("embed by copy", kUnsupported, driver.GraphAddChildGraphNode(&node, parent, nullptr, 0, source));
  report.Expect("embed by move", kUnsupported, Move(driver, parent, source));
  const CUgraphNode child = AddChild(driver, report, parent, MakeGraph(driver, report));
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_GRAPH;
  parameters.graph.graph = source;
  report.Expect("put in place of a child graph", kUnsupported, driver.GraphNodeSetParams(child, &parameters));
  const CUgraph graph = MakeGraph(driver, report);
  const Conditional conditional = AddConditional(driver, report, graph, MakeHandle(driver, report, graph), kIf, 1);
  const CUgraph body = conditional.bodies[0];
  report.Expect("clone a body", kUnsupported, driver.GraphClone(&clone, body));
  report.Expect("embed a body by copy", kUnsupported, driver.GraphAddChildGraphNode(&node, parent, nullptr, 0, body));
  report.Expect("embed a body by move", kUnsupported, Move(driver, parent, body));
  report.Expect("destroy a body", kInvalid, driver.GraphDestroy(body));
  report.Expect("instantiate a body", "CUDA_ERROR_NOT_SUPPORTED 1", TryInstantiate(driver, body));
  report.Expect("child graph of a conditional node", kInvalid,
                driver.GraphChildGraphNodeGetGraph(conditional.node, &clone));
  parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  report.Expect("set params of a conditional node", kUnsupported,
                driver.GraphNodeSetParams(conditional.node, &parameters));
}

void OneExecutableAtATime(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  AddConditional(driver, report, graph, MakeHandle(driver, report, graph), kIf, 1);
  CUgraphExec executable = nullptr;
  report.Expect("the first", kSuccess, TryInstantiate(driver, graph, &executable));
  report.Expect("the second", "CUDA_ERROR_NOT_SUPPORTED 1", TryInstantiate(driver, graph));
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  report.Expect("after the first was destroyed", kSuccess, TryInstantiate(driver, graph));
}

// An executable, a clone or an embedded copy of `graph`, and how it is destroyed.
struct Copy {
  std::string what;
  std::function<std::function<CUresult()>(CUgraph graph)> make;
};

std::vector<Copy> KindsOfCopies(const Driver& driver, Report& report) {
  return {{"an executable",
           [&](CUgraph graph) {
             const CUgraphExec made = Instantiate(driver, report, graph);
             return [&driver, made] { return driver.GraphExecDestroy(made); };
           }},
          {"a clone",
           [&](CUgraph graph) {
             CUgraph made = nullptr;
             HOLDFAST_NEED(report, driver.GraphClone(&made, graph));
             return [&driver, made] { return driver.GraphDestroy(made); };
           }},
          {"an embedded copy", [&](CUgraph graph) {
             const CUgraphNode made = AddChild(driver, report, MakeGraph(driver, report), graph);
             return [&driver, made] { return driver.GraphDestroyNode(made); };
           }}};
}

void CopiesAreInTheWay(const Driver& driver, Report& report) {
  for (const Copy& copy : KindsOfCopies(driver, report)) {
    const CUgraph graph = MakeGraph(driver, report);
    const std::function<CUresult()> destroy = copy.make(graph);
    AddConditional(driver, report, graph, MakeHandle(driver, report, graph), kIf, 1);
    report.Expect("instantiate with " + copy.what + " from before", "CUDA_ERROR_NOT_SUPPORTED 1",
                  TryInstantiate(driver, graph));
    HOLDFAST_NEED(report, destroy());
    report.Expect("instantiate without " + copy.what, kSuccess, TryInstantiate(driver, graph));
  }
}

void CopiesOfMovedGraphsAreInTheWay(const Driver& driver, Report& report) {
  for (const Copy& copy : KindsOfCopies(driver, report)) {
    const CUgraph graph = MakeGraph(driver, report);
    const CUgraph moved = MakeGraph(driver, report);
    const std::function<CUresult()> destroy = copy.make(moved);
    HOLDFAST_NEED(report, Move(driver, graph, moved));
    AddConditional(driver, report, graph, MakeHandle(driver, report, graph), kIf, 1);
    HOLDFAST_NEED(report, destroy());
    report.Expect("instantiate once " + copy.what + " of the moved graph is gone", kSuccess,
                  TryInstantiate(driver, graph));
  }
}

void CopiesOfMovedGraphsCrash(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraph moved = MakeGraph(driver, report);
  CUgraph clone = nullptr;
  HOLDFAST_NEED(report, driver.GraphClone(&clone, moved));
  HOLDFAST_NEED(report, Move(driver, graph, moved));
  AddConditional(driver, report, graph, MakeHandle(driver, report, graph), kIf, 1);
  TryInstantiate(driver, graph);
}

void DestroyedInFlightIsDestroyed(const Driver& driver, Report& report) {
  const Kernels kernels(driver, report);
  const CUdeviceptr counter = MakeMemory(driver, report);
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphConditionalHandle handle = MakeHandle(driver, report, graph);
  const Conditional node = AddConditional(driver, report, graph, handle, kWhile, 1);
  kernels.AddCountTo(node.bodies[0], handle, counter, 10'000);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphLaunch(executable, driver.stream));
  report.Expect("destroy the executable", CUDA_SUCCESS, driver.GraphExecDestroy(executable));
  report.Expect("instantiate again", kSuccess, TryInstantiate(driver, graph));
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
  report.Expect("the launch ran to its end", long{10'000}, WordAt(driver, report, counter));
}

// Whether destroying an executable returns while a launch of it waits in a host function.
bool ReturnsBeforeTheLaunch(const Driver& driver, Report& report, bool has_conditional) {
  Gate gate;
  const CUgraph graph = MakeGraph(driver, report);
  AddHost(driver, report, graph, &Gate::Wait, &gate);
  if (has_conditional) AddConditional(driver, report, graph, MakeHandle(driver, report, graph, 0), kIf, 1);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphLaunch(executable, driver.stream));
  std::future<CUresult> destroyed = std::async(std::launch::async, [&] {
    static_cast<void>(driver.CtxSetCurrent(driver.context));
    return driver.GraphExecDestroy(executable);
  });
  const bool returned = destroyed.wait_for(std::chrono::milliseconds(300)) == std::future_status::ready;
  gate.open = true;
  report.Expect("destroyed in the end", CUDA_SUCCESS, destroyed.get());
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
  return returned;
}

void DestructionWaitsForLaunches(const Driver& driver, Report& report) {
  report.Expect("without a conditional node it returns before", true, ReturnsBeforeTheLaunch(driver, report, false));
  report.Expect("with one it waits", false, ReturnsBeforeTheLaunch(driver, report, true));
}

// A graph with one conditional node, whose bodies write `value`, `value` + 1 and so on.
CUgraph MakeBranches(const Driver& driver, Report& report, CUdeviceptr memory, CUgraphConditionalNodeType type,
                     unsigned int size, unsigned char value, unsigned int default_value) {
  const CUgraph graph = MakeGraph(driver, report);
  const Conditional node =
      AddConditional(driver, report, graph, MakeHandle(driver, report, graph, default_value), type, size);
  for (unsigned int i = 0; i < size; ++i) {
    AddFill(driver, report, node.bodies[i], memory, static_cast<unsigned char>(value + i));
  }
  return graph;
}

void UpdatesReachBodies(const Driver& driver, Report& report) {
  const CUdeviceptr memory = MakeMemory(driver, report);
  const auto make = [&](CUgraphConditionalNodeType type, unsigned int size, unsigned char value, unsigned int chosen) {
    return MakeBranches(driver, report, memory, type, size, value, chosen);
  };
  const CUgraph original = make(kIf, 2, 10, 1);
  const CUgraphExec executable = Instantiate(driver, report, original);
  report.Expect("the same shape", kSuccess, TryUpdate(driver, executable, make(kIf, 2, 20, 1)));
  LaunchAndWait(driver, report, executable);
  report.Expect("then the body writes", long{20}, ByteAt(driver, report, memory));
  report.Expect("another default", kSuccess, TryUpdate(driver, executable, make(kIf, 2, 30, 0)));
  LaunchAndWait(driver, report, executable);
  report.Expect("then the other body writes", long{31}, ByteAt(driver, report, memory));
  const std::string failure = "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE ";
  report.Expect("another size", failure + "6", TryUpdate(driver, executable, make(kIf, 1, 10, 1)));
  report.Expect("another type", failure + "6", TryUpdate(driver, executable, make(kSwitch, 2, 10, 1)));
  const CUgraph odd = MakeGraph(driver, report);
  const Conditional bodies = AddConditional(driver, report, odd, MakeHandle(driver, report, odd), kIf, 2);
  AddFill(driver, report, bodies.bodies[0], memory, 1);
  report.Expect("a body of another shape", failure + "2", TryUpdate(driver, executable, odd));
  const CUgraph source = make(kIf, 2, 40, 1);
  CUgraphExec of_source = nullptr;
  report.Expect("a source of updates is instantiated", kSuccess, TryInstantiate(driver, source, &of_source));
  report.Expect("and is a source all the same", kSuccess, TryUpdate(driver, executable, source));
  report.Expect("the graph of the executable is not instantiated again", "CUDA_ERROR_NOT_SUPPORTED 1",
                TryInstantiate(driver, original));
}

void HandlesAreCompared(const Driver& driver, Report& report) {
  const auto make = [&](bool swap) {
    const CUgraph graph = MakeGraph(driver, report);
    const CUgraphConditionalHandle first = MakeHandle(driver, report, graph);
    const CUgraphConditionalHandle second = MakeHandle(driver, report, graph);
    AddConditional(driver, report, graph, swap ? second : first, kIf, 1);
    AddConditional(driver, report, graph, swap ? first : second, kIf, 1);
    return graph;
  };
  const CUgraphExec executable = Instantiate(driver, report, make(false));
  report.Expect("the same handles", kSuccess, TryUpdate(driver, executable, make(false)));
  report.Expect("swapped handles", "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE 6", TryUpdate(driver, executable, make(true)));
}

void NodesInBodiesAreChanged(const Driver& driver, Report& report) {
  const CUdeviceptr memory = MakeMemory(driver, report);
  const CUgraph graph = MakeGraph(driver, report);
  const Conditional conditional = AddConditional(driver, report, graph, MakeHandle(driver, report, graph), kIf, 1);
  const CUgraphNode inner = AddFill(driver, report, conditional.bodies[0], memory, 1);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_MEMSET;
  parameters.memset = CUDA_MEMSET_NODE_PARAMS_v2{memory, 0, 2, 1, 1, 1, driver.context};
  report.Expect("change it in the executable", CUDA_SUCCESS,
                driver.GraphExecNodeSetParams(executable, inner, &parameters));
  LaunchAndWait(driver, report, executable);
  report.Expect("it writes", long{2}, ByteAt(driver, report, memory));
  report.Expect("change it in the definition", CUDA_SUCCESS, driver.GraphNodeSetParams(inner, &parameters));
  unsigned int enabled = 9;
  report.Expect("ask whether it is on", CUDA_SUCCESS, driver.GraphNodeGetEnabled(executable, inner, &enabled));
  report.Expect("it is", long{1}, long{enabled});
  report.Expect("switch it off", CUDA_SUCCESS, driver.GraphNodeSetEnabled(executable, inner, 0));
  HOLDFAST_NEED(report, driver.MemsetD8(memory, 0, 1));
  LaunchAndWait(driver, report, executable);
  report.Expect("it writes nothing", long{0}, ByteAt(driver, report, memory));
  report.Expect("switch the conditional node off", kInvalid,
                driver.GraphNodeSetEnabled(executable, conditional.node, 0));
  parameters = CUgraphNodeParams{};
  parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  report.Expect("change the conditional node", kUnsupported,
                driver.GraphExecNodeSetParams(executable, conditional.node, &parameters));
}

// An object that writes its letter into a list when it is destroyed.
struct Letter {
  std::string* list;
  char letter;
  static void CUDA_CB Append(void* payload) {
    const auto* self = static_cast<Letter*>(payload);
    self->list->push_back(self->letter);
  }
};

void BodiesAreDroppedInOrder(const Driver& driver, Report& report) {
  std::string order;
  Letter letters[] = {{&order, 'r'}, {&order, '0'}, {&order, '1'}, {&order, 'c'}};
  const auto own = [&](CUgraph graph, Letter& letter) {
    CUuserObject object = nullptr;
    HOLDFAST_NEED(report,
                  driver.UserObjectCreate(&object, &letter, &Letter::Append, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    HOLDFAST_NEED(report, driver.GraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  };
  const auto make = [&] {
    const CUgraph graph = MakeGraph(driver, report);
    const Conditional node = AddConditional(driver, report, graph, MakeHandle(driver, report, graph), kIf, 2);
    const CUgraph child = MakeGraph(driver, report);
    own(graph, letters[0]);
    own(node.bodies[0], letters[1]);
    own(node.bodies[1], letters[2]);
    own(child, letters[3]);
    AddChild(driver, report, graph, child);
    HOLDFAST_NEED(report, driver.GraphDestroy(child));
    return graph;
  };
  HOLDFAST_NEED(report, driver.GraphDestroy(make()));
  report.Expect("of a graph: its own, then those of its nodes", "r01c", order);
  order.clear();
  const CUgraph graph = make();
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  report.Expect("while an executable holds them", "", order);
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  report.Expect("of an executable: the other way round", "c10r", order);
}

void ForeignHandleLosesTheContext(const Driver& driver, Report& report) {
  const Kernels kernels(driver, report);
  const CUgraph graph = MakeGraph(driver, report);
  kernels.AddSetCondition(graph, MakeHandle(driver, report, MakeGraph(driver, report), 0, 0), 1);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  report.Expect("launch", CUDA_SUCCESS, driver.GraphLaunch(executable, driver.stream));
  report.Expect("synchronize", CUDA_ERROR_ILLEGAL_ADDRESS, driver.StreamSynchronize(driver.stream));
}

}  // namespace

std::vector<Fact> ConditionalFacts() {
  return {
      {"B1", "conditional handles are checked, and each has to be used", &HandlesAreChecked},
      {"B1b", "a made-up context of a handle is a crash", &MadeUpContext, Ending::kCrashes},
      {"B2", "conditional nodes are checked", &NodesAreChecked},
      {"B3", "a handle comes free with its node", &HandlesComeFree},
      {"B3b", "a handle of another graph is taken for the own one of that number", &HandlesOfOthersAreNumbers},
      {"B4", "the default chooses the body", &DefaultsChoose},
      {"B5", "kernels set conditions, and each launch begins with the default", &KernelsSetConditions},
      {"B6", "without a default a condition begins with 0 and stays from launch to launch", &ValuesStayWithoutDefault},
      {"B7", "conditional nodes nest; a default is assigned once a launch", &NestedNodesRun},
      {"B8", "a body has what a device can run by itself", &BodiesAreChecked},
      {"B9", "a body copies no pageable memory", &BodiesTakeDeviceCopies},
      {"B10", "graphs with conditional nodes are not embedded, and bodies are no roots", &NotCopiedNorMoved},
      {"B11", "a graph with a conditional node has one executable at a time", &OneExecutableAtATime},
      {"B11b", "an executable destroyed in flight counts as destroyed", &DestroyedInFlightIsDestroyed},
      {"B18", "the destruction of an executable with conditional nodes waits for its launches",
       &DestructionWaitsForLaunches},
      {"B12", "a whole update reaches bodies, and wants the same branches", &UpdatesReachBodies},
      {"B12b", "a whole update wants the same handles", &HandlesAreCompared},
      {"B13", "nodes in bodies are changed and switched, conditional nodes are not", &NodesInBodiesAreChanged},
      {"B14", "references of bodies go in order", &BodiesAreDroppedInOrder},
      {"B16", "an embedded graph may have conditional nodes", &EmbeddedGraphsMayHaveThem},
      {"B17", "a graph with conditional nodes is not instantiated while a copy of it from before is there",
       &CopiesAreInTheWay},
      {"B17b", "nor is one into which a graph was moved, until the copies of that are gone",
       &CopiesOfMovedGraphsAreInTheWay},
      {"B17c", "until then it is a crash", &CopiesOfMovedGraphsCrash, Ending::kCrashes},
      {"B15", "a kernel that sets the handle of another graph loses the context", &ForeignHandleLosesTheContext},
  };
}

}  // namespace holdfast::conformance
