// More of what definitions do: graphs that moved, graphs in graphs, the order of edges, files for Graphviz, and which
// calls on nodes work inside a destructor.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/conformance/fact.h"
#include "tests/conformance/node_tools.h"

namespace holdfast::conformance {
namespace {

constexpr CUresult kInvalid = CUDA_ERROR_INVALID_VALUE;
constexpr CUresult kUnsupported = CUDA_ERROR_NOT_SUPPORTED;

void MovedGraphsAreNoRoots(const Driver& driver, Report& report) {
  const CUgraph child = MakeGraph(driver, report);
  const CUgraphNode inner = AddHost(driver, report, child);
  const CUgraphExec executable = Instantiate(driver, report, child);
  const CUgraph graph = MakeGraph(driver, report);
  CUgraphNode node = nullptr;
  report.Expect("move", CUDA_SUCCESS, Move(driver, graph, child, &node));
  report.Expect("its handle is the child's", true, GraphOf(driver, report, node) == child);
  report.Expect("move again", kUnsupported, Move(driver, MakeGraph(driver, report), child));
  report.Expect("embed by copy", kUnsupported,
                driver.GraphAddChildGraphNode(&node, MakeGraph(driver, report), nullptr, 0, child));
  report.Expect("destroy", kInvalid, driver.GraphDestroy(child));
  report.Expect("instantiate", "CUDA_ERROR_NOT_SUPPORTED 1", TryInstantiate(driver, child));
  report.Expect("source of an update", kInvalid, driver.GraphExecUpdate(executable, child, nullptr));
  CUgraph clone = nullptr;
  CUgraphNode found = nullptr;
  report.Expect("clone", CUDA_SUCCESS, driver.GraphClone(&clone, child));
  report.Expect("find in that clone", CUDA_SUCCESS, driver.GraphNodeFindInClone(&found, inner, clone));
  report.Expect("destroy that clone", CUDA_SUCCESS, driver.GraphDestroy(clone));
  LaunchAndWait(driver, report, executable);
}

void EmbeddedInItself(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraph embedded = GraphOf(driver, report, AddChild(driver, report, graph, MakeGraph(driver, report)));
  CUgraphNode node = nullptr;
  driver.GraphAddChildGraphNode(&node, embedded, nullptr, 0, graph);
}

std::string PlacesOf(const std::vector<CUgraphNode>& nodes, const CUgraphNode* list, std::size_t count) {
  std::string places;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t place = 0; place < nodes.size(); ++place) {
      if (list[i] == nodes[place]) places += std::to_string(place) + " ";
    }
  }
  return places;
}

void TheLastEdgeFillsTheGap(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode root = AddHost(driver, report, graph);
  std::vector<CUgraphNode> nodes;
  for (int i = 0; i < 5; ++i) {
    nodes.push_back(AddHost(driver, report, graph));
    HOLDFAST_NEED(report, driver.GraphAddDependencies(graph, &root, &nodes.back(), nullptr, 1));
  }
  CUgraphNode list[8] = {};
  const auto dependents = [&] {
    std::size_t count = 8;
    HOLDFAST_NEED(report, driver.GraphNodeGetDependentNodes(root, list, nullptr, &count));
    return PlacesOf(nodes, list, count);
  };
  report.Expect("as they were added", "0 1 2 3 4 ", dependents());
  HOLDFAST_NEED(report, driver.GraphRemoveDependencies(graph, &root, &nodes[1], nullptr, 1));
  report.Expect("an edge was removed", "0 4 2 3 ", dependents());
  HOLDFAST_NEED(report, driver.GraphAddDependencies(graph, &root, &nodes[1], nullptr, 1));
  report.Expect("and added again", "0 4 2 3 1 ", dependents());
  HOLDFAST_NEED(report, driver.GraphDestroyNode(nodes[0]));
  report.Expect("a node was destroyed", "1 4 2 3 ", dependents());
  CUgraph clone = nullptr;
  CUgraphNode twin = nullptr;
  HOLDFAST_NEED(report, driver.GraphClone(&clone, graph));
  HOLDFAST_NEED(report, driver.GraphNodeFindInClone(&twin, root, clone));
  std::size_t count = 8;
  HOLDFAST_NEED(report, driver.GraphNodeGetDependentNodes(twin, list, nullptr, &count));
  std::vector<CUgraphNode> twins{nullptr};
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    HOLDFAST_NEED(report, driver.GraphNodeFindInClone(&twin, nodes[i], clone));
    twins.push_back(twin);
  }
  report.Expect("in a clone they are in the order of the nodes", "1 2 3 4 ", PlacesOf(twins, list, count));
}

void GraphsAreDrawn(const Driver& driver, Report& report) {
  char path[] = "/tmp/holdfast_conformance_XXXXXX";
  const int file = ::mkstemp(path);
  report.Expect("a file to write to", true, file >= 0);
  ::close(file);
  const CUgraph graph = MakeGraph(driver, report);
  AddChild(driver, report, graph, MakeGraph(driver, report));
  report.Expect("draw", CUDA_SUCCESS, driver.GraphDebugDotPrint(graph, path, 0));
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  ::unlink(path);
  report.Expect("it begins as a drawing does", true, text.str().starts_with("digraph dot {\nsubgraph cluster_1 {"));
  report.Expect("null path", kInvalid, driver.GraphDebugDotPrint(graph, nullptr, 0));
  report.Expect("no such folder", CUDA_ERROR_OPERATING_SYSTEM,
                driver.GraphDebugDotPrint(graph, "/nonexistent/holdfast.dot", 0));
  report.Expect("null graph", kInvalid, driver.GraphDebugDotPrint(nullptr, path, 0));
}

// What a destructor asks, and where it writes the answers.
struct Inside {
  std::function<void()> ask;
  static void CUDA_CB Run(void* payload) { static_cast<Inside*>(payload)->ask(); }
};

void CallsInsideADestructor(const Driver& driver, Report& report) {
  const Kernels kernels(driver, report);
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraph memory_graph = MakeGraph(driver, report);
  CUdeviceptr address = 0;
  const CUgraphNode kernel = kernels.AddNothing(graph);
  const CUgraphNode allocation = AddAllocation(driver, report, memory_graph, &address);
  const CUgraphConditionalHandle handle = MakeHandle(driver, report, graph);
  const CUgraph plain = MakeGraph(driver, report);
  const CUgraphExec executable = Instantiate(driver, report, plain);
  const CUDA_ARRAY_DESCRIPTOR flat{8, 8, CU_AD_FORMAT_UNSIGNED_INT8, 1};
  CUarray array = nullptr;
  HOLDFAST_NEED(report, driver.ArrayCreate(&array, &flat));
  Inside inside;
  inside.ask = [&] {
    const auto refused = [&](const char* call, CUresult answer) {
      report.Expect(call, CUDA_ERROR_NOT_PERMITTED, answer);
    };
    const auto permitted = [&](const char* call, CUresult answer) { report.Expect(call, CUDA_SUCCESS, answer); };
    CUlaunchAttributeValue value{};
    CUDA_ARRAY_DESCRIPTOR descriptor = flat;
    CUarray other = nullptr;
    CUDA_MEMCPY3D copy{};
    std::size_t pitch = 0;
    cuuint64_t number = 0;
    CUgraphExec made = nullptr;
    CUDA_MEM_ALLOC_NODE_PARAMS parameters = AllocationOf(64);
    CUgraphNode node = nullptr;
    CUgraphConditionalHandle new_handle = 0;
    refused("cuGraphKernelNodeGetAttribute",
            driver.GraphKernelNodeGetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    refused("cuGraphKernelNodeSetAttribute",
            driver.GraphKernelNodeSetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    refused("cuGraphKernelNodeCopyAttributes", driver.GraphKernelNodeCopyAttributes(kernel, kernel));
    refused("cuArrayCreate", driver.ArrayCreate(&other, &descriptor));
    permitted("cuArrayGetDescriptor", driver.ArrayGetDescriptor(&descriptor, array));
    refused("cuMemcpy3D", driver.Memcpy3D(&copy));
    refused("cuMemcpy3DAsync", driver.Memcpy3DAsync(&copy, driver.stream));
    refused("cuMemAllocPitch", driver.MemAllocPitch(&address, &pitch, 8, 8, 4));
    refused("cuDeviceGraphMemTrim", driver.DeviceGraphMemTrim(0));
    refused("cuGraphExecGetFlags", driver.GraphExecGetFlags(executable, &number));
    permitted("cuGraphUpload", driver.GraphUpload(executable, driver.stream));
    refused("cuGraphInstantiate", driver.GraphInstantiateWithFlags(&made, plain, 0));
    permitted("a conditional node", TryConditional(driver, graph, handle, CU_GRAPH_COND_TYPE_IF, 1).result);
    permitted("cuGraphConditionalHandleCreate",
              driver.GraphConditionalHandleCreate(&new_handle, graph, driver.context, 1, 0));
    refused("cuGraphAddMemAllocNode", driver.GraphAddMemAllocNode(&node, memory_graph, nullptr, 0, &parameters));
    refused("cuGraphAddMemFreeNode", driver.GraphAddMemFreeNode(&node, graph, nullptr, 0, address));
    permitted("cuGraphMemAllocNodeGetParams", driver.GraphMemAllocNodeGetParams(allocation, &parameters));
    permitted("cuArrayDestroy", driver.ArrayDestroy(array));
  };
  CUuserObject object = nullptr;
  HOLDFAST_NEED(report, driver.UserObjectCreate(&object, &inside, &Inside::Run, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  HOLDFAST_NEED(report, driver.UserObjectRelease(object, 1));
}

}  // namespace

std::vector<Fact> GraphShapeFacts() {
  return {
      {"G12", "a graph that was moved is no root any more", &MovedGraphsAreNoRoots},
      {"G13", "to embed a graph in a graph of its own is a crash", &EmbeddedInItself, Ending::kCrashes},
      {"G14", "a graph is drawn into a file", &GraphsAreDrawn},
      {"G15", "the last edge of a list takes the place of one that goes", &TheLastEdgeFillsTheGap},
      {"G16", "which calls on nodes and arrays work inside a destructor", &CallsInsideADestructor},
  };
}

}  // namespace holdfast::conformance
