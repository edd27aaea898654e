// More of what definitions do: clones, edges, embedded graphs, the parameters of kernel and memcpy nodes.
#include <string>

#include "tests/conformance/fact.h"

namespace holdfast::conformance {
namespace {

constexpr CUresult kInvalid = CUDA_ERROR_INVALID_VALUE;

void FindsInClones(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode node = AddHost(driver, report, graph);
  CUgraph clone = nullptr;
  CUgraph clone_of_clone = nullptr;
  HOLDFAST_NEED(report, driver.GraphClone(&clone, graph));
  HOLDFAST_NEED(report, driver.GraphClone(&clone_of_clone, clone));
  const CUgraphNode late = AddHost(driver, report, graph);
  CUgraphNode twin = nullptr;
  CUgraphNode found = nullptr;
  report.Expect("in the clone", CUDA_SUCCESS, driver.GraphNodeFindInClone(&twin, node, clone));
  report.Expect("in the clone of the clone", kInvalid, driver.GraphNodeFindInClone(&found, node, clone_of_clone));
  report.Expect("the twin in the clone of the clone", CUDA_SUCCESS,
                driver.GraphNodeFindInClone(&found, twin, clone_of_clone));
  report.Expect("in the graph itself", kInvalid, driver.GraphNodeFindInClone(&found, node, graph));
  report.Expect("a node added after the clone", kInvalid, driver.GraphNodeFindInClone(&found, late, clone));
  HOLDFAST_NEED(report, driver.GraphDestroyNode(twin));
  report.Expect("after the twin was destroyed", kInvalid, driver.GraphNodeFindInClone(&found, node, clone));
}

void FindsInNestedClones(const Driver& driver, Report& report) {
  const CUgraph child = MakeGraph(driver, report);
  const CUgraphNode original = AddHost(driver, report, child);
  const CUgraph graph = MakeGraph(driver, report);
  CUgraphNode owner = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddChildGraphNode(&owner, graph, nullptr, 0, child));
  CUgraph embedded = nullptr;
  HOLDFAST_NEED(report, driver.GraphChildGraphNodeGetGraph(owner, &embedded));
  CUgraph clone = nullptr;
  HOLDFAST_NEED(report, driver.GraphClone(&clone, graph));
  CUgraphNode first = nullptr;
  CUgraphNode owner_twin = nullptr;
  CUgraphNode found = nullptr;
  CUgraph embedded_twin = nullptr;
  report.Expect("from the source to the embedded graph", CUDA_SUCCESS,
                driver.GraphNodeFindInClone(&first, original, embedded));
  report.Expect("the owning node", CUDA_SUCCESS, driver.GraphNodeFindInClone(&owner_twin, owner, clone));
  HOLDFAST_NEED(report, driver.GraphChildGraphNodeGetGraph(owner_twin, &embedded_twin));
  report.Expect("level by level", CUDA_SUCCESS, driver.GraphNodeFindInClone(&found, first, embedded_twin));
  report.Expect("a nested node in the outer clone", kInvalid, driver.GraphNodeFindInClone(&found, first, clone));
  report.Expect("skipping a clone", kInvalid, driver.GraphNodeFindInClone(&found, original, embedded_twin));
}

void OriginalNodeGone(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode node = AddHost(driver, report, graph);
  CUgraph clone = nullptr;
  HOLDFAST_NEED(report, driver.GraphClone(&clone, graph));
  HOLDFAST_NEED(report, driver.GraphDestroyNode(node));
  CUgraphNode found = nullptr;
  driver.GraphNodeFindInClone(&found, node, clone);
}

void EdgesAreChecked(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraph other = MakeGraph(driver, report);
  const CUgraphNode a = AddHost(driver, report, graph);
  const CUgraphNode b = AddHost(driver, report, graph);
  const CUgraphNode c = AddHost(driver, report, graph);
  const CUgraphNode foreign = AddHost(driver, report, other);
  const CUgraphNode twice[] = {a, a};
  const CUgraphNode targets[] = {c, c};
  CUgraphNode made = nullptr;
  std::size_t count = 0;
  report.Expect("add behind the same node twice", kInvalid, driver.GraphAddEmptyNode(&made, graph, twice, 2));
  report.Expect("add behind a foreign node", kInvalid, driver.GraphAddEmptyNode(&made, graph, &foreign, 1));
  report.Expect("edge", CUDA_SUCCESS, driver.GraphAddDependencies(graph, &a, &b, nullptr, 1));
  report.Expect("the same edge", kInvalid, driver.GraphAddDependencies(graph, &a, &b, nullptr, 1));
  report.Expect("edge to itself", kInvalid, driver.GraphAddDependencies(graph, &a, &a, nullptr, 1));
  report.Expect("edge to a foreign node", kInvalid, driver.GraphAddDependencies(graph, &a, &foreign, nullptr, 1));
  report.Expect("two edges, the second the same", kInvalid,
                driver.GraphAddDependencies(graph, twice, targets, nullptr, 2));
  HOLDFAST_NEED(report, driver.GraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  report.Expect("edges: the first of the two stayed", long{2}, static_cast<long>(count));
  report.Expect("remove", CUDA_SUCCESS, driver.GraphRemoveDependencies(graph, &a, &c, nullptr, 1));
  report.Expect("remove again", kInvalid, driver.GraphRemoveDependencies(graph, &a, &c, nullptr, 1));
}

void ListsAreFilled(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  for (int i = 0; i < 3; ++i) AddHost(driver, report, graph);
  CUgraphNode room[5] = {};
  std::size_t count = 5;
  HOLDFAST_NEED(report, driver.GraphGetNodes(graph, room, &count));
  report.Expect("with more room: count", long{3}, static_cast<long>(count));
  report.Expect("with more room: nulls behind", true, room[3] == nullptr && room[4] == nullptr);
  count = 2;
  HOLDFAST_NEED(report, driver.GraphGetNodes(graph, room, &count));
  report.Expect("with less room: count", long{2}, static_cast<long>(count));
  report.Expect("null count", kInvalid, driver.GraphGetNodes(graph, nullptr, nullptr));
}

void CyclesDoNotRun(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode a = AddHost(driver, report, graph);
  const CUgraphNode b = AddHost(driver, report, graph);
  report.Expect("edge", CUDA_SUCCESS, driver.GraphAddDependencies(graph, &a, &b, nullptr, 1));
  report.Expect("edge that closes a cycle", CUDA_SUCCESS, driver.GraphAddDependencies(graph, &b, &a, nullptr, 1));
  CUgraphExec executable = nullptr;
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  report.Expect("instantiate", kInvalid, driver.GraphInstantiateWithParams(&executable, graph, &parameters));
  report.Expect("reason", long{CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE}, long{parameters.result_out});
  report.Expect("the error node is the first of the cycle", true, parameters.hErrNode_out == a);
}

void EmbeddedGraphsAreNotRoots(const Driver& driver, Report& report) {
  const CUgraph child = MakeGraph(driver, report);
  const CUgraph graph = MakeGraph(driver, report);
  CUgraphNode node = nullptr;
  CUgraph embedded = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  HOLDFAST_NEED(report, driver.GraphChildGraphNodeGetGraph(node, &embedded));
  report.Expect("destroy", kInvalid, driver.GraphDestroy(embedded));
  CUgraphExec executable = nullptr;
  report.Expect("instantiate", CUDA_ERROR_NOT_SUPPORTED, driver.GraphInstantiateWithFlags(&executable, embedded, 0));
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_GRAPH;
  parameters.graph.graph = embedded;
  report.Expect("put in its own place", CUDA_ERROR_NOT_SUPPORTED, driver.GraphNodeSetParams(node, &parameters));
  parameters.graph.graph = graph;
  report.Expect("its parent put in its place", CUDA_SUCCESS, driver.GraphNodeSetParams(node, &parameters));
  parameters.graph.graph = nullptr;
  report.Expect("null put in its place", kInvalid, driver.GraphNodeSetParams(node, &parameters));
}

void DeadGraphsAreRefused(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  std::size_t count = 0;
  report.Expect("destroy a graph twice", kInvalid, driver.GraphDestroy(graph));
  report.Expect("nodes of a dead graph", kInvalid, driver.GraphGetNodes(graph, nullptr, &count));
  report.Expect("destroy an executable twice", kInvalid, driver.GraphExecDestroy(executable));
  report.Expect("launch a dead executable", kInvalid, driver.GraphLaunch(executable, driver.stream));
  report.Expect("destroy null", kInvalid, driver.GraphDestroy(nullptr));
  report.Expect("destroy a null node", kInvalid, driver.GraphDestroyNode(nullptr));
}

constexpr char kPtx[] = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry holdfast_arguments(
  .param .u64 first,
  .param .u8 second,
  .param .align 8 .b8 third[24]
)
{
  ret;
}
.visible .entry holdfast_nothing()
{
  ret;
}
)";

void ParametersAreKnown(const Driver& driver, Report& report) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  HOLDFAST_NEED(report, driver.ModuleLoadData(&module, kPtx));
  HOLDFAST_NEED(report, driver.ModuleGetFunction(&function, module, "holdfast_arguments"));
  std::string layout;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  for (std::size_t i = 0; driver.FuncGetParamInfo(function, i, &offset, &bytes) == CUDA_SUCCESS && i < 8; ++i) {
    layout += std::to_string(offset) + "+" + std::to_string(bytes) + " ";
  }
  report.Expect("offsets and sizes", std::string("0+8 8+1 16+24 "), layout);
  report.Expect("one too many", kInvalid, driver.FuncGetParamInfo(function, 3, &offset, &bytes));
  report.Expect("null size", CUDA_SUCCESS, driver.FuncGetParamInfo(function, 0, &offset, nullptr));
  report.Expect("null offset", kInvalid, driver.FuncGetParamInfo(function, 0, nullptr, &bytes));
  report.Expect("no such function", CUDA_ERROR_NOT_FOUND, driver.ModuleGetFunction(&function, module, "none"));
  report.Expect("no image", CUDA_ERROR_INVALID_IMAGE, driver.ModuleLoadData(&module, "garbage"));
  report.Expect("broken PTX", CUDA_ERROR_INVALID_PTX,
                driver.ModuleLoadData(&module, ".version 7.0\n.target sm_70\n.entry broken( {"));
}

void KernelNodesAreChecked(const Driver& driver, Report& report) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUmodule module = nullptr;
  CUfunction with_arguments = nullptr;
  CUfunction nothing = nullptr;
  HOLDFAST_NEED(report, driver.LibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  HOLDFAST_NEED(report, driver.LibraryGetKernel(&kernel, library, "holdfast_nothing"));
  HOLDFAST_NEED(report, driver.ModuleLoadData(&module, kPtx));
  HOLDFAST_NEED(report, driver.ModuleGetFunction(&with_arguments, module, "holdfast_arguments"));
  HOLDFAST_NEED(report, driver.ModuleGetFunction(&nothing, module, "holdfast_nothing"));
  const CUgraph graph = MakeGraph(driver, report);
  CUgraphNode node = nullptr;
  const auto add = [&](CUfunction function, CUkernel by_kernel, unsigned int grid, unsigned int block) {
    CUDA_KERNEL_NODE_PARAMS parameters{};
    parameters.func = function;
    parameters.kern = by_kernel;
    parameters.gridDimX = grid;
    parameters.blockDimX = block;
    parameters.gridDimY = parameters.gridDimZ = parameters.blockDimY = parameters.blockDimZ = 1;
    return driver.GraphAddKernelNode(&node, graph, nullptr, 0, &parameters);
  };
  report.Expect("no arguments where some are wanted", kInvalid, add(with_arguments, nullptr, 1, 1));
  report.Expect("grid 0", kInvalid, add(nothing, nullptr, 0, 1));
  report.Expect("4096 threads in a block", kInvalid, add(nothing, nullptr, 1, 4096));
  report.Expect("neither function nor kernel", CUDA_ERROR_INVALID_HANDLE, add(nullptr, nullptr, 1, 1));
  report.Expect("a kernel as a function", CUDA_ERROR_INVALID_HANDLE,
                add(reinterpret_cast<CUfunction>(kernel), nullptr, 1, 1));
  report.Expect("function and kernel", CUDA_SUCCESS, add(nothing, kernel, 1, 1));
  report.Expect("function", CUDA_SUCCESS, add(nothing, nullptr, 1, 1));
  report.Expect("kernel", CUDA_SUCCESS, add(nullptr, kernel, 1, 1));
  CUDA_KERNEL_NODE_PARAMS now{};
  HOLDFAST_NEED(report, driver.GraphKernelNodeGetParams(node, &now));
  report.Expect("kernel given: kernel back", true, now.kern == kernel);
  report.Expect("kernel given: function back too", true, now.func != nullptr);
  report.Expect("context filled in", true, now.ctx == driver.context);
  report.Expect(
      "launch of a kernel as a function", CUDA_SUCCESS,
      driver.LaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 1, 1, 1, 0, driver.stream, nullptr, nullptr));
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
}

void CopyNodesAreChecked(const Driver& driver, Report& report) {
  CUdeviceptr memory = 0;
  HOLDFAST_NEED(report, driver.MemAlloc(&memory, 1024));
  static char host[1024];
  const CUgraph graph = MakeGraph(driver, report);
  const auto add = [&](void* source, CUdeviceptr target, std::size_t width, std::size_t height, CUcontext context) {
    CUDA_MEMCPY3D parameters{};
    parameters.srcMemoryType = CU_MEMORYTYPE_HOST;
    parameters.srcHost = source;
    parameters.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    parameters.dstDevice = target;
    parameters.WidthInBytes = width;
    parameters.Height = height;
    parameters.Depth = 1;
    CUgraphNode node = nullptr;
    return driver.GraphAddMemcpyNode(&node, graph, nullptr, 0, &parameters, context);
  };
  report.Expect("host to device", CUDA_SUCCESS, add(host, memory, 64, 1, driver.context));
  report.Expect("null context", CUDA_SUCCESS, add(host, memory, 64, 1, nullptr));
  report.Expect("width 0", kInvalid, add(host, memory, 0, 1, driver.context));
  report.Expect("height 0", kInvalid, add(host, memory, 64, 0, driver.context));
  report.Expect("null source", kInvalid, add(nullptr, memory, 64, 1, driver.context));
  report.Expect("null destination", kInvalid, add(host, 0, 64, 1, driver.context));
  report.Expect("no allocation", kInvalid, add(host, memory + (1ull << 40), 64, 1, driver.context));
}

}  // namespace

std::vector<Fact> GraphFacts() {
  return {
      {"G1", "find in clone goes one clone deep", &FindsInClones},
      {"G2", "find in clone goes level by level", &FindsInNestedClones},
      {"G3", "find in clone with a destroyed node is a crash", &OriginalNodeGone, Ending::kCrashes},
      {"G4", "edges are checked one by one", &EdgesAreChecked},
      {"G5", "lists are cut or filled up", &ListsAreFilled},
      {"G6", "a cycle can be built and not instantiated", &CyclesDoNotRun},
      {"G7", "embedded graphs are not destroyed or instantiated by themselves", &EmbeddedGraphsAreNotRoots},
      {"G8", "dead graphs and executables are invalid values", &DeadGraphsAreRefused},
      {"G9", "parameters of functions are known from their PTX", &ParametersAreKnown},
      {"G10", "kernel nodes are checked", &KernelNodesAreChecked},
      {"G11", "memcpy nodes are checked", &CopyNodesAreChecked},
  };
}

}  // namespace holdfast::conformance
