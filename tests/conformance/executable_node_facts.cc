// More of what executables do with single nodes and whole updates: every kind of node, whose nodes they know, how an
// update pairs nodes, and their flags.
#include <functional>
#include <string>
#include <vector>

#include "tests/conformance/fact.h"
#include "tests/conformance/node_tools.h"

namespace holdfast::conformance {
namespace {

constexpr CUresult kInvalid = CUDA_ERROR_INVALID_VALUE;

const std::string kSuccess = "CUDA_SUCCESS";

CUgraphNode AddEmpty(const Driver& driver, Report& report, CUgraph graph) {
  CUgraphNode node = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddEmptyNode(&node, graph, nullptr, 0));
  return node;
}

void AddEdge(const Driver& driver, Report& report, CUgraph graph, CUgraphNode from, CUgraphNode to) {
  HOLDFAST_NEED(report, driver.GraphAddDependencies(graph, &from, &to, nullptr, 1));
}

// A node of a kind, and parameters of that kind.
struct Kind {
  std::string name;
  CUgraphNode node;
  CUgraphNodeParams parameters;
};

CUgraphNodeParams ParametersOf(CUgraphNodeType type) {
  CUgraphNodeParams parameters{};
  parameters.type = type;
  return parameters;
}

void EachKindTakesItsOwn(const Driver& driver, Report& report) {
  static char host[64];
  const Kernels kernels(driver, report);
  const CUdeviceptr memory = MakeMemory(driver, report);
  CUevent event = nullptr;
  HOLDFAST_NEED(report, driver.EventCreate(&event, 0));
  const CUgraph child = MakeGraph(driver, report);
  AddFill(driver, report, child, memory, 1);
  const CUgraph graph = MakeGraph(driver, report);
  std::vector<Kind> kinds;
  Kind kind{"kernel", kernels.AddNothing(graph), ParametersOf(CU_GRAPH_NODE_TYPE_KERNEL)};
  kind.parameters.kernel.func = kernels.Find("holdfast_nothing_else");
  kind.parameters.kernel.gridDimX = kind.parameters.kernel.gridDimY = kind.parameters.kernel.gridDimZ = 1;
  kind.parameters.kernel.blockDimX = kind.parameters.kernel.blockDimY = kind.parameters.kernel.blockDimZ = 1;
  kinds.push_back(kind);
  kind = Kind{"memset", AddFill(driver, report, graph, memory, 1), ParametersOf(CU_GRAPH_NODE_TYPE_MEMSET)};
  kind.parameters.memset = CUDA_MEMSET_NODE_PARAMS_v2{memory, 0, 2, 1, 4, 1, driver.context};
  kinds.push_back(kind);
  kind = Kind{"memcpy", nullptr, ParametersOf(CU_GRAPH_NODE_TYPE_MEMCPY)};
  CUDA_MEMCPY3D& copy = kind.parameters.memcpy.copyParams;
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = memory;
  copy.WidthInBytes = 8;
  copy.Height = copy.Depth = 1;
  kind.parameters.memcpy.copyCtx = driver.context;
  HOLDFAST_NEED(report, driver.GraphAddMemcpyNode(&kind.node, graph, nullptr, 0, &copy, driver.context));
  kinds.push_back(kind);
  kind = Kind{"host", AddHost(driver, report, graph), ParametersOf(CU_GRAPH_NODE_TYPE_HOST)};
  kind.parameters.host.fn = &DoNothing;
  kinds.push_back(kind);
  kinds.push_back({"empty", AddEmpty(driver, report, graph), ParametersOf(CU_GRAPH_NODE_TYPE_EMPTY)});
  kind = Kind{"child graph", AddChild(driver, report, graph, child), ParametersOf(CU_GRAPH_NODE_TYPE_GRAPH)};
  kind.parameters.graph.graph = child;
  kinds.push_back(kind);
  kind = Kind{"event record", nullptr, ParametersOf(CU_GRAPH_NODE_TYPE_EVENT_RECORD)};
  kind.parameters.eventRecord.event = event;
  HOLDFAST_NEED(report, driver.GraphAddEventRecordNode(&kind.node, graph, nullptr, 0, event));
  kinds.push_back(kind);
  kind = Kind{"event wait", nullptr, ParametersOf(CU_GRAPH_NODE_TYPE_WAIT_EVENT)};
  kind.parameters.eventWait.event = event;
  HOLDFAST_NEED(report, driver.GraphAddEventWaitNode(&kind.node, graph, nullptr, 0, event));
  kinds.push_back(kind);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  for (Kind& changed : kinds) {
    for (Kind& given : kinds) {
      const CUresult expected = changed.node == given.node ? CUDA_SUCCESS : kInvalid;
      const std::string question = "parameters of a node: " + given.name + ", for a node: " + changed.name;
      report.Expect("in the executable, " + question, expected,
                    driver.GraphExecNodeSetParams(executable, changed.node, &given.parameters));
      report.Expect("in the definition, " + question, expected,
                    driver.GraphNodeSetParams(changed.node, &given.parameters));
    }
  }
  report.Expect("null in the executable", kInvalid,
                driver.GraphExecNodeSetParams(executable, kinds.front().node, nullptr));
  report.Expect("null in the definition", kInvalid, driver.GraphNodeSetParams(kinds.front().node, nullptr));
  LaunchAndWait(driver, report, executable);
}

void UnusedMembersAreZero(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode node = AddHost(driver, report, graph);
  const auto both = [&](const std::function<void(CUgraphNodeParams&)>& spoil) {
    CUgraphNodeParams parameters = ParametersOf(CU_GRAPH_NODE_TYPE_HOST);
    parameters.host.fn = &DoNothing;
    spoil(parameters);
    CUgraphNode made = nullptr;
    const CUresult added = driver.GraphAddNode(&made, graph, nullptr, nullptr, 0, &parameters);
    return NameOf(driver, added) + ", " + NameOf(driver, driver.GraphNodeSetParams(node, &parameters));
  };
  const std::string refused = "CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE";
  report.Expect("all zero", "CUDA_SUCCESS, CUDA_SUCCESS", both([](CUgraphNodeParams&) {}));
  report.Expect("reserved at the end", refused, both([](auto& given) { given.reserved2 = 1; }));
  report.Expect("what the kind leaves unused", refused, both([](auto& given) { given.reserved1[20] = 1; }));
  CUgraphNodeParams parameters = ParametersOf(static_cast<CUgraphNodeType>(77));
  CUgraphNode made = nullptr;
  report.Expect("an unknown kind", kInvalid, driver.GraphAddNode(&made, graph, nullptr, nullptr, 0, &parameters));
  parameters = ParametersOf(CU_GRAPH_NODE_TYPE_HOST);
  parameters.host.fn = &DoNothing;
  report.Expect("null node", kInvalid, driver.GraphAddNode(nullptr, graph, nullptr, nullptr, 0, &parameters));
}

void OwnNodesAreKnown(const Driver& driver, Report& report) {
  const CUdeviceptr memory = MakeMemory(driver, report);
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraph unrelated = MakeGraph(driver, report);
  const CUgraphNode own = AddFill(driver, report, graph, memory, 1);
  const CUgraphNode foreign = AddFill(driver, report, unrelated, memory, 2);
  CUgraph clone = nullptr;
  CUgraphNode twin = nullptr;
  HOLDFAST_NEED(report, driver.GraphClone(&clone, graph));
  HOLDFAST_NEED(report, driver.GraphNodeFindInClone(&twin, own, clone));
  const CUgraphExec executable = Instantiate(driver, report, graph);
  const CUDA_MEMSET_NODE_PARAMS parameters{memory, 0, 3, 1, 1, 1};
  const auto set = [&](CUgraphNode node) {
    return driver.GraphExecMemsetNodeSetParams(executable, node, &parameters, driver.context);
  };
  report.Expect("a node of an unrelated graph", kInvalid, set(foreign));
  report.Expect("a clone's", kInvalid, set(twin));
  report.Expect("a node that was added later", kInvalid, set(AddFill(driver, report, graph, memory, 4)));
  report.Expect("update from the unrelated graph", kSuccess, TryUpdate(driver, executable, unrelated));
  report.Expect("then a node of that", kInvalid, set(foreign));
  report.Expect("then its own", CUDA_SUCCESS, set(own));
  unsigned int enabled = 0;
  report.Expect("switch a node of an unrelated graph", kInvalid, driver.GraphNodeSetEnabled(executable, foreign, 0));
  report.Expect("ask for it", kInvalid, driver.GraphNodeGetEnabled(executable, foreign, &enabled));
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  report.Expect("its own, when the graph is gone", kInvalid, set(own));
}

// How an update of what one of them builds by what the other builds goes.
using Build = std::function<void(CUgraph)>;
std::string UpdateAnswer(const Driver& driver, Report& report, const Build& before, const Build& after) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraph source = MakeGraph(driver, report);
  before(graph);
  after(source);
  return TryUpdate(driver, Instantiate(driver, report, graph), source);
}

void NodesArePairedFromTheSinks(const Driver& driver, Report& report) {
  const CUdeviceptr memory = MakeMemory(driver, report);
  const auto host = [&](CUgraph graph) { return AddHost(driver, report, graph); };
  const auto fill = [&](CUgraph graph) { return AddFill(driver, report, graph, memory, 1); };
  const auto edge = [&](CUgraph graph, CUgraphNode from, CUgraphNode to) { AddEdge(driver, report, graph, from, to); };
  const auto answer = [&](const Build& before, const Build& after) {
    return UpdateAnswer(driver, report, before, after);
  };
  const std::string other_type = "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE 3";
  const Build join = [&](CUgraph graph) {
    const CUgraphNode a = host(graph);
    const CUgraphNode b = fill(graph);
    const CUgraphNode sink = host(graph);
    edge(graph, a, sink);
    edge(graph, b, sink);
  };
  report.Expect("a join whose nodes were added in another order", kSuccess, answer(join, [&](CUgraph graph) {
                  const CUgraphNode sink = host(graph);
                  const CUgraphNode b = fill(graph);
                  const CUgraphNode a = host(graph);
                  edge(graph, a, sink);
                  edge(graph, b, sink);
                }));
  report.Expect("a join whose edges were added in another order", other_type, answer(join, [&](CUgraph graph) {
                  const CUgraphNode a = host(graph);
                  const CUgraphNode b = fill(graph);
                  const CUgraphNode sink = host(graph);
                  edge(graph, b, sink);
                  edge(graph, a, sink);
                }));
  const auto fork = [&](bool other_nodes, bool other_edges) {
    return [&, other_nodes, other_edges](CUgraph graph) {
      const CUgraphNode root = AddEmpty(driver, report, graph);
      CUgraphNode sinks[2] = {};
      sinks[other_nodes ? 1 : 0] = other_nodes ? fill(graph) : host(graph);
      sinks[other_nodes ? 0 : 1] = other_nodes ? host(graph) : fill(graph);
      edge(graph, root, sinks[other_edges ? 1 : 0]);
      edge(graph, root, sinks[other_edges ? 0 : 1]);
    };
  };
  report.Expect("a fork whose sinks were added in another order", other_type,
                answer(fork(false, false), fork(true, false)));
  report.Expect("a fork whose edges were added in another order", kSuccess,
                answer(fork(false, false), fork(false, true)));
  const auto crossed = [&](bool cross) {
    return [&, cross](CUgraph graph) {
      const CUgraphNode a = host(graph);
      const CUgraphNode b = host(graph);
      const CUgraphNode c = host(graph);
      const CUgraphNode d = host(graph);
      edge(graph, cross ? b : a, c);
      edge(graph, cross ? a : b, d);
    };
  };
  report.Expect("edges that cross", kSuccess, answer(crossed(false), crossed(true)));
}

// What decides which node of the executable gets what: the order of the edges, not that of the nodes.
void PairsGetEachOthersParameters(const Driver& driver, Report& report) {
  const CUdeviceptr memory = MakeMemory(driver, report);
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode first = AddFill(driver, report, graph, memory, 1);
  const CUgraphNode second = AddFill(driver, report, graph, memory + 1, 1);
  const CUgraphNode sink = AddHost(driver, report, graph);
  AddEdge(driver, report, graph, first, sink);
  AddEdge(driver, report, graph, second, sink);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  const CUgraph source = MakeGraph(driver, report);
  const CUgraphNode new_second = AddFill(driver, report, source, memory + 1, 22);
  const CUgraphNode new_first = AddFill(driver, report, source, memory, 11);
  const CUgraphNode new_sink = AddHost(driver, report, source);
  AddEdge(driver, report, source, new_first, new_sink);
  AddEdge(driver, report, source, new_second, new_sink);
  report.Expect("update", kSuccess, TryUpdate(driver, executable, source));
  HOLDFAST_NEED(report, driver.GraphNodeSetEnabled(executable, first, 0));
  LaunchAndWait(driver, report, executable);
  report.Expect("what the first would have written", long{0}, ByteAt(driver, report, memory));
  report.Expect("what the second wrote", long{22}, ByteAt(driver, report, memory + 1));
}

void RefusedCopiesSayParameters(const Driver& driver, Report& report) {
  const CUdeviceptr memory = MakeMemory(driver, report);
  static char host[8];
  const auto copy = [&](CUmemorytype type) {
    return [&, type](CUgraph graph) {
      CUDA_MEMCPY3D parameters{};
      parameters.srcMemoryType = type;
      parameters.srcHost = host;
      parameters.srcDevice = memory + 64;
      parameters.dstMemoryType = CU_MEMORYTYPE_DEVICE;
      parameters.dstDevice = memory;
      parameters.WidthInBytes = 8;
      parameters.Height = parameters.Depth = 1;
      CUgraphNode node = nullptr;
      HOLDFAST_NEED(report, driver.GraphAddMemcpyNode(&node, graph, nullptr, 0, &parameters, driver.context));
    };
  };
  report.Expect("another kind of memory", "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE 5",
                UpdateAnswer(driver, report, copy(CU_MEMORYTYPE_DEVICE), copy(CU_MEMORYTYPE_HOST)));
}

void NestedNodesAreSwitched(const Driver& driver, Report& report) {
  const CUdeviceptr memory = MakeMemory(driver, report);
  const CUgraph child = MakeGraph(driver, report);
  const CUgraphNode inner = AddFill(driver, report, child, memory, 5);
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode owner = AddChild(driver, report, graph, child);
  CUgraphNode nested = nullptr;
  HOLDFAST_NEED(report, driver.GraphNodeFindInClone(&nested, inner, GraphOf(driver, report, owner)));
  const CUgraphExec executable = Instantiate(driver, report, graph);
  unsigned int enabled = 9;
  report.Expect("switch off a nested node", CUDA_SUCCESS, driver.GraphNodeSetEnabled(executable, nested, 0));
  LaunchAndWait(driver, report, executable);
  report.Expect("it wrote nothing", long{0}, ByteAt(driver, report, memory));
  report.Expect("switch off a child-graph node", kInvalid, driver.GraphNodeSetEnabled(executable, owner, 0));
  const CUDA_MEMSET_NODE_PARAMS parameters{memory, 0, 3, 1, 1, 1};
  report.Expect("change it while it is off", CUDA_SUCCESS,
                driver.GraphExecMemsetNodeSetParams(executable, nested, &parameters, driver.context));
  const CUgraph next = MakeGraph(driver, report);
  AddFill(driver, report, next, memory, 6);
  report.Expect("change the child graph", CUDA_SUCCESS,
                driver.GraphExecChildGraphNodeSetParams(executable, owner, next));
  HOLDFAST_NEED(report, driver.GraphNodeGetEnabled(executable, nested, &enabled));
  report.Expect("it is still off", long{0}, long{enabled});
  report.Expect("switch it on with a 7", CUDA_SUCCESS, driver.GraphNodeSetEnabled(executable, nested, 7));
  HOLDFAST_NEED(report, driver.GraphNodeGetEnabled(executable, nested, &enabled));
  report.Expect("it reads", long{1}, long{enabled});
  LaunchAndWait(driver, report, executable);
  report.Expect("it wrote what the child graph says", long{6}, ByteAt(driver, report, memory));
}

void FlagsAreTold(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  AddHost(driver, report, graph);
  CUgraphExec executable = nullptr;
  cuuint64_t flags = 99;
  const auto instantiate = [&](unsigned long long wanted) {
    return driver.GraphInstantiateWithFlags(&executable, graph, wanted);
  };
  report.Expect(
      "frees by itself, and priorities", CUDA_SUCCESS,
      instantiate(CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
  HOLDFAST_NEED(report, driver.GraphExecGetFlags(executable, &flags));
  report.Expect("the flags read", long{CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH}, static_cast<long>(flags));
  report.Expect("into null", kInvalid, driver.GraphExecGetFlags(executable, nullptr));
  report.Expect("upload, without a stream", kInvalid, instantiate(CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD));
  report.Expect("unknown", kInvalid, instantiate(64));
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  parameters.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
  parameters.hUploadStream = driver.stream;
  report.Expect("upload, with a stream", CUDA_SUCCESS,
                driver.GraphInstantiateWithParams(&executable, graph, &parameters));
  HOLDFAST_NEED(report, driver.GraphExecGetFlags(executable, &flags));
  report.Expect("the flags read", long{0}, static_cast<long>(flags));
  report.Expect("upload", CUDA_SUCCESS, driver.GraphUpload(executable, driver.stream));
  report.Expect("upload on the null stream", CUDA_SUCCESS, driver.GraphUpload(executable, nullptr));
  report.Expect("upload null", kInvalid, driver.GraphUpload(nullptr, driver.stream));
}

}  // namespace

std::vector<Fact> ExecutableNodeFacts() {
  return {
      {"E10", "each kind of node takes parameters of its kind alone", &EachKindTakesItsOwn},
      {"E11", "what parameters leave unused has to be zero", &UnusedMembersAreZero},
      {"E12", "an executable knows the nodes of its own graph alone", &OwnNodesAreKnown},
      {"E13", "a whole update pairs nodes from the sinks backwards", &NodesArePairedFromTheSinks},
      {"E13b", "paired nodes get each other's parameters", &PairsGetEachOthersParameters},
      {"E13c", "a copy that changed too much is said to have other parameters", &RefusedCopiesSayParameters},
      {"E14", "nested nodes are switched, and stay so", &NestedNodesAreSwitched},
      {"E15", "an executable tells some of its flags", &FlagsAreTold},
  };
}

}  // namespace holdfast::conformance
