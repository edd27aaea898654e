// Facts M1 to M12: nodes that allocate and free memory, when that memory is there, and what is refused for graphs that
// have them.
#include <functional>
#include <string>

#include "tests/conformance/fact.h"
#include "tests/conformance/node_tools.h"

namespace holdfast::conformance {
namespace {

constexpr CUresult kInvalid = CUDA_ERROR_INVALID_VALUE;
constexpr CUresult kUnsupported = CUDA_ERROR_NOT_SUPPORTED;

const std::string kSuccess = "CUDA_SUCCESS";

void AllocationsAreChecked(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  CUgraphNode node = nullptr;
  const auto add = [&](CUDA_MEM_ALLOC_NODE_PARAMS parameters) {
    return driver.GraphAddMemAllocNode(&node, graph, nullptr, 0, &parameters);
  };
  const auto with = [&](auto change) {
    CUDA_MEM_ALLOC_NODE_PARAMS parameters = AllocationOf(4096);
    change(parameters);
    return add(parameters);
  };
  report.Expect("0 bytes", kInvalid, add(AllocationOf(0)));
  report.Expect("1 byte", CUDA_SUCCESS, add(AllocationOf(1)));
  report.Expect("2^50 bytes", CUDA_ERROR_OUT_OF_MEMORY, add(AllocationOf(std::size_t{1} << 50)));
  report.Expect("no kind of allocation", kInvalid,
                with([](auto& given) { given.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_INVALID; }));
  report.Expect("on the host", kUnsupported,
                with([](auto& given) { given.poolProps.location.type = CU_MEM_LOCATION_TYPE_HOST; }));
  report.Expect("on device 77", kInvalid, with([](auto& given) { given.poolProps.location.id = 77; }));
  report.Expect("to be shared", kUnsupported,
                with([](auto& given) { given.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR; }));
  CUdeviceptr address = 0;
  const CUgraphNode made = AddAllocation(driver, report, graph, &address, 1000);
  CUDA_MEM_ALLOC_NODE_PARAMS now{};
  report.Expect("get params", CUDA_SUCCESS, driver.GraphMemAllocNodeGetParams(made, &now));
  report.Expect("the address", true, now.dptr == address);
  report.Expect("the size", long{1000}, static_cast<long>(now.bytesize));
  report.Expect("get params as of a free node", kInvalid, driver.GraphMemFreeNodeGetParams(made, &address));
  report.Expect("get params into null", kInvalid, driver.GraphMemAllocNodeGetParams(made, nullptr));
}

void AccessIsChecked(const Driver& driver, Report& report) {
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CUDA_MEM_ALLOC_NODE_PARAMS parameters = AllocationOf(64);
  parameters.accessDescs = &access;
  parameters.accessDescCount = 1;
  const CUgraph graph = MakeGraph(driver, report);
  CUgraphNode node = nullptr;
  const auto add = [&] { return driver.GraphAddMemAllocNode(&node, graph, nullptr, 0, &parameters); };
  report.Expect("of its own device", CUDA_SUCCESS, add());
  CUDA_MEM_ALLOC_NODE_PARAMS now{};
  HOLDFAST_NEED(report, driver.GraphMemAllocNodeGetParams(node, &now));
  report.Expect("get params: how many", long{1}, static_cast<long>(now.accessDescCount));
  report.Expect("get params: a list of the node's own", true, now.accessDescs != nullptr && now.accessDescs != &access);
  access.location.id = 5;
  report.Expect("of a device that there is not", CUDA_ERROR_INVALID_DEVICE, add());
  access.location.id = 0;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  report.Expect("none", kUnsupported, add());
}

void FreesAreChecked(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraph other = MakeGraph(driver, report);
  const CUgraph third = MakeGraph(driver, report);
  CUdeviceptr own = 0;
  CUdeviceptr foreign = 0;
  const CUgraphNode allocation = AddAllocation(driver, report, graph, &own);
  AddAllocation(driver, report, other, &foreign);
  CUgraphNode node = nullptr;
  const auto add = [&](CUgraph to, CUdeviceptr address) {
    return driver.GraphAddMemFreeNode(&node, to, nullptr, 0, address);
  };
  report.Expect("null", kInvalid, add(graph, 0));
  report.Expect("memory of cuMemAlloc", kInvalid, add(graph, MakeMemory(driver, report)));
  report.Expect("the middle of an allocation", kInvalid, add(graph, own + 16));
  report.Expect("its own, behind the allocation", CUDA_SUCCESS,
                driver.GraphAddMemFreeNode(&node, graph, &allocation, 1, own));
  CUdeviceptr now = 0;
  HOLDFAST_NEED(report, driver.GraphMemFreeNodeGetParams(node, &now));
  report.Expect("get params", true, now == own);
  report.Expect("the same again", kInvalid, add(graph, own));
  report.Expect("the same in another graph", kInvalid, add(other, own));
  report.Expect("what another graph allocates", CUDA_SUCCESS, add(graph, foreign));
  report.Expect("that in a third graph too", CUDA_SUCCESS, add(third, foreign));
  report.Expect("that in its own graph after all", kInvalid, add(other, foreign));
}

void AllocatedAndFreedInOneLaunch(const Driver& driver, Report& report) {
  const CUdeviceptr out = MakeMemory(driver, report);
  CUdeviceptr address = 0;
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode allocation = AddAllocation(driver, report, graph, &address);
  const CUgraphNode fill = AddFill(driver, report, graph, address, 42, allocation);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = address;
  copy.dstDevice = out;
  copy.WidthInBytes = copy.Height = copy.Depth = 1;
  CUgraphNode reader = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddMemcpyNode(&reader, graph, &fill, 1, &copy, driver.context));
  AddFree(driver, report, graph, address, reader);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  LaunchAndWait(driver, report, executable);
  LaunchAndWait(driver, report, executable);
  report.Expect("what was written there", long{42}, ByteAt(driver, report, out));
  unsigned int type = 0;
  report.Expect("a question about the address", kInvalid,
                driver.PointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
  report.Expect("a fill of it", kInvalid, driver.MemsetD8(address, 1, 1));
  report.Expect("cuMemFree", kInvalid, driver.MemFree(address));
}

void UnmatchedAllocationStays(const Driver& driver, Report& report) {
  CUdeviceptr address = 0;
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode allocation = AddAllocation(driver, report, graph, &address);
  AddFill(driver, report, graph, address, 42, allocation);
  CUgraphExec executable = nullptr;
  report.Expect("instantiate", kSuccess, TryInstantiate(driver, graph, &executable));
  report.Expect("free before a launch", kInvalid, driver.MemFree(address));
  LaunchAndWait(driver, report, executable);
  report.Expect("what was written there", long{42}, ByteAt(driver, report, address));
  report.Expect("launch again", kInvalid, driver.GraphLaunch(executable, driver.stream));
  report.Expect("free", CUDA_SUCCESS, driver.MemFree(address));
  report.Expect("launch again then", CUDA_SUCCESS, driver.GraphLaunch(executable, driver.stream));
  report.Expect("free on the stream", CUDA_SUCCESS, driver.MemFreeAsync(address, driver.stream));
  report.Expect("launch again then", CUDA_SUCCESS, driver.GraphLaunch(executable, driver.stream));
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  report.Expect("when graph and executable are gone", long{42}, ByteAt(driver, report, address));
  report.Expect("free", CUDA_SUCCESS, driver.MemFree(address));
  report.Expect("free again", kInvalid, driver.MemFree(address));
}

void AutoFreeLaunchesAgain(const Driver& driver, Report& report) {
  CUdeviceptr address = 0;
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode allocation = AddAllocation(driver, report, graph, &address);
  AddFill(driver, report, graph, address, 42, allocation);
  CUgraphExec executable = nullptr;
  HOLDFAST_NEED(report,
                driver.GraphInstantiateWithFlags(&executable, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
  LaunchAndWait(driver, report, executable);
  report.Expect("launch again", CUDA_SUCCESS, driver.GraphLaunch(executable, driver.stream));
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  report.Expect("when the executable is gone", long{42}, ByteAt(driver, report, address));
  report.Expect("free", CUDA_SUCCESS, driver.MemFree(address));
}

void AnotherGraphFrees(const Driver& driver, Report& report) {
  CUdeviceptr address = 0;
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraph other = MakeGraph(driver, report);
  AddAllocation(driver, report, graph, &address);
  AddFree(driver, report, other, address);
  const CUgraphExec allocates = Instantiate(driver, report, graph);
  const CUgraphExec frees = Instantiate(driver, report, other);
  report.Expect("free first", kInvalid, driver.GraphLaunch(frees, driver.stream));
  report.Expect("allocate", CUDA_SUCCESS, driver.GraphLaunch(allocates, driver.stream));
  report.Expect("free", CUDA_SUCCESS, driver.GraphLaunch(frees, driver.stream));
  report.Expect("free again", kInvalid, driver.GraphLaunch(frees, driver.stream));
  report.Expect("allocate again", CUDA_SUCCESS, driver.GraphLaunch(allocates, driver.stream));
  report.Expect("and again", kInvalid, driver.GraphLaunch(allocates, driver.stream));
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
}

void FreedWhenItsGraphIsGone(const Driver& driver, Report& report) {
  CUdeviceptr address = 0;
  CUgraph graph = MakeGraph(driver, report);
  CUgraph other = MakeGraph(driver, report);
  const CUgraphNode allocation = AddAllocation(driver, report, graph, &address);
  AddFree(driver, report, other, address);
  HOLDFAST_NEED(report, driver.GraphDestroy(other));
  CUgraphNode node = nullptr;
  report.Expect("own, after the other graph is gone", kInvalid,
                driver.GraphAddMemFreeNode(&node, graph, &allocation, 1, address));
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  report.Expect("in another graph, when the first is gone", kInvalid,
                driver.GraphAddMemFreeNode(&node, MakeGraph(driver, report), nullptr, 0, address));

  graph = MakeGraph(driver, report);
  AddAllocation(driver, report, graph, &address);
  CUgraphExec allocates = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  LaunchAndWait(driver, report, allocates);
  report.Expect("the same, while an executable has allocated it", CUDA_SUCCESS,
                driver.GraphAddMemFreeNode(&node, MakeGraph(driver, report), nullptr, 0, address));
  HOLDFAST_NEED(report, driver.MemFree(address));

  graph = MakeGraph(driver, report);
  other = MakeGraph(driver, report);
  AddAllocation(driver, report, graph, &address);
  AddFree(driver, report, other, address);
  allocates = Instantiate(driver, report, graph);
  const CUgraphExec frees = Instantiate(driver, report, other);
  report.Expect("a graph that frees has one executable too", "CUDA_ERROR_NOT_SUPPORTED 1",
                TryInstantiate(driver, other));
  LaunchAndWait(driver, report, allocates);
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  HOLDFAST_NEED(report, driver.GraphExecDestroy(allocates));
  report.Expect("launch the one that frees, when all of the other is gone", CUDA_SUCCESS,
                driver.GraphLaunch(frees, driver.stream));
  report.Expect("launch it again", kInvalid, driver.GraphLaunch(frees, driver.stream));
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
}

void UnallocatedMemoryLosesTheContext(const Driver& driver, Report& report) {
  CUdeviceptr address = 0;
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraph user = MakeGraph(driver, report);
  AddAllocation(driver, report, graph, &address);
  Instantiate(driver, report, graph);
  AddFill(driver, report, user, address, 5);
  CUgraphExec executable = nullptr;
  report.Expect("instantiate", kSuccess, TryInstantiate(driver, user, &executable));
  report.Expect("launch", CUDA_SUCCESS, driver.GraphLaunch(executable, driver.stream));
  report.Expect("synchronize", CUDA_ERROR_LAUNCH_FAILED, driver.StreamSynchronize(driver.stream));
}

void AllOrNothingIsClaimed(const Driver& driver, Report& report) {
  CUdeviceptr first = 0;
  CUdeviceptr second = 0;
  const CUgraph graph = MakeGraph(driver, report);
  AddAllocation(driver, report, graph, &first);
  AddAllocation(driver, report, graph, &second);
  CUgraphExec executable = Instantiate(driver, report, graph);
  LaunchAndWait(driver, report, executable);
  HOLDFAST_NEED(report, driver.MemFree(first));
  report.Expect("launch with one of two freed", kInvalid, driver.GraphLaunch(executable, driver.stream));
  report.Expect("free the other", CUDA_SUCCESS, driver.MemFree(second));
  report.Expect("launch", CUDA_SUCCESS, driver.GraphLaunch(executable, driver.stream));
  report.Expect("destroy in flight", CUDA_SUCCESS, driver.GraphExecDestroy(executable));
  report.Expect("instantiate again", kSuccess, TryInstantiate(driver, graph, &executable));
  report.Expect("launch that", kInvalid, driver.GraphLaunch(executable, driver.stream));
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
}

void OneExecutableAtATime(const Driver& driver, Report& report) {
  CUdeviceptr address = 0;
  const CUgraph graph = MakeGraph(driver, report);
  AddAllocation(driver, report, graph, &address);
  CUgraphExec executable = nullptr;
  report.Expect("the first", kSuccess, TryInstantiate(driver, graph, &executable));
  report.Expect("the second", "CUDA_ERROR_NOT_SUPPORTED 1", TryInstantiate(driver, graph));
  LaunchAndWait(driver, report, executable);
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  report.Expect("after the first was destroyed", kSuccess, TryInstantiate(driver, graph, &executable));
  report.Expect("launch while the first one's memory is there", kInvalid,
                driver.GraphLaunch(executable, driver.stream));
}

void GraphsAreFixed(const Driver& driver, Report& report) {
  CUdeviceptr address = 0;
  const auto make = [&](CUgraphNode* allocation, CUgraphNode* other) {
    const CUgraph graph = MakeGraph(driver, report);
    *allocation = AddAllocation(driver, report, graph, &address);
    *other = AddHost(driver, report, graph);
    return graph;
  };
  CUgraphNode allocation = nullptr;
  CUgraphNode other = nullptr;
  CUgraphNode node = nullptr;
  const CUgraph graph = make(&allocation, &other);
  report.Expect("embed by copy", kUnsupported,
                driver.GraphAddChildGraphNode(&node, MakeGraph(driver, report), nullptr, 0, graph));
  report.Expect("add an edge", CUDA_SUCCESS, driver.GraphAddDependencies(graph, &allocation, &other, nullptr, 1));
  report.Expect("remove it", kUnsupported, driver.GraphRemoveDependencies(graph, &allocation, &other, nullptr, 1));
  report.Expect("destroy another node", kUnsupported, driver.GraphDestroyNode(other));
  const CUgraph parent = MakeGraph(driver, report);
  const CUgraphNode sibling = AddHost(driver, report, parent);
  report.Expect("embed by move", CUDA_SUCCESS, Move(driver, parent, graph, &node));
  report.Expect("then destroy another node of the parent", kUnsupported, driver.GraphDestroyNode(sibling));
  report.Expect("destroy the child node", kUnsupported, driver.GraphDestroyNode(node));
  CUgraph clone = nullptr;
  report.Expect("clone the parent", kUnsupported, driver.GraphClone(&clone, parent));
  const CUgraphNode last = AddHost(driver, report, parent);
  report.Expect("add an edge to the parent", CUDA_SUCCESS,
                driver.GraphAddDependencies(parent, &node, &last, nullptr, 1));
  report.Expect("remove it", kUnsupported, driver.GraphRemoveDependencies(parent, &node, &last, nullptr, 1));
  report.Expect("destroy a node of the moved graph", kUnsupported, driver.GraphDestroyNode(other));
  CUgraphNodeParams plain{};
  plain.type = CU_GRAPH_NODE_TYPE_GRAPH;
  plain.graph.graph = MakeGraph(driver, report);
  report.Expect("put another in its place", kUnsupported, driver.GraphNodeSetParams(node, &plain));
  report.Expect("instantiate the parent", kSuccess, TryInstantiate(driver, parent));

  const CUgraph allocates = make(&allocation, &other);
  const CUgraph frees = MakeGraph(driver, report);
  const CUgraphNode bystander = AddHost(driver, report, frees);
  node = AddFree(driver, report, frees, address);
  report.Expect("clone of a graph that frees alone", kUnsupported, driver.GraphClone(&clone, frees));
  report.Expect("destroy a node of it", kUnsupported, driver.GraphDestroyNode(bystander));
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  parameters.free.dptr = address;
  report.Expect("set params of a free node", kUnsupported, driver.GraphNodeSetParams(node, &parameters));
  parameters = CUgraphNodeParams{};
  parameters.type = CU_GRAPH_NODE_TYPE_GRAPH;
  parameters.graph.graph = allocates;
  const CUgraphNode child = AddChild(driver, report, MakeGraph(driver, report), MakeGraph(driver, report));
  report.Expect("put in place of a child graph", kUnsupported, driver.GraphNodeSetParams(child, &parameters));
  CUDA_MEM_ALLOC_NODE_PARAMS allocation_parameters = AllocationOf(64);
  report.Expect("add an allocation to an embedded graph", kUnsupported,
                driver.GraphAddMemAllocNode(&node, GraphOf(driver, report, child), nullptr, 0, &allocation_parameters));
}

void UpdatesWantTheSameMemory(const Driver& driver, Report& report) {
  struct Made {
    CUgraph graph;
    CUgraphNode allocation;
    CUgraphNode fill;
    CUgraphNode release;
    CUdeviceptr address;
  };
  const auto make = [&] {
    Made made{};
    made.graph = MakeGraph(driver, report);
    made.allocation = AddAllocation(driver, report, made.graph, &made.address);
    made.fill = AddFill(driver, report, made.graph, made.address, 1, made.allocation);
    made.release = AddFree(driver, report, made.graph, made.address, made.fill);
    return made;
  };
  const Made made = make();
  const CUgraphExec executable = Instantiate(driver, report, made.graph);
  report.Expect("from its own graph", kSuccess, TryUpdate(driver, executable, made.graph));
  report.Expect("from a graph like it", "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE 1",
                TryUpdate(driver, executable, make().graph));
  const CUdeviceptr memory = MakeMemory(driver, report);
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_MEMSET;
  parameters.memset = CUDA_MEMSET_NODE_PARAMS_v2{memory, 0, 7, 1, 1, 1, driver.context};
  report.Expect("its memset to other memory", CUDA_SUCCESS,
                driver.GraphExecNodeSetParams(executable, made.fill, &parameters));
  parameters = CUgraphNodeParams{};
  parameters.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  report.Expect("its allocation", kUnsupported,
                driver.GraphExecNodeSetParams(executable, made.allocation, &parameters));
  parameters.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  report.Expect("its free node", kUnsupported, driver.GraphExecNodeSetParams(executable, made.release, &parameters));
  unsigned int enabled = 0;
  report.Expect("whether the allocation is on", kInvalid,
                driver.GraphNodeGetEnabled(executable, made.allocation, &enabled));
  report.Expect("switch the allocation off", kInvalid, driver.GraphNodeSetEnabled(executable, made.allocation, 0));
  LaunchAndWait(driver, report, executable);
  report.Expect("what the memset wrote", long{7}, ByteAt(driver, report, memory));
}

void PoolGrowsUntilTrimmed(const Driver& driver, Report& report) {
  const auto read = [&](CUgraphMem_attribute attribute) {
    cuuint64_t value = 0;
    HOLDFAST_NEED(report, driver.DeviceGetGraphMemAttribute(0, attribute, &value));
    return static_cast<long>(value);
  };
  CUdeviceptr address = 0;
  const CUgraph graph = MakeGraph(driver, report);
  AddAllocation(driver, report, graph, &address, 1000);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  report.Expect("before a launch", long{0}, read(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT));
  LaunchAndWait(driver, report, executable);
  report.Expect("used after a launch", long{32 << 20}, read(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT));
  HOLDFAST_NEED(report, driver.MemFree(address));
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  report.Expect("reserved when all is gone", long{32 << 20}, read(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT));
  report.Expect("trim", CUDA_SUCCESS, driver.DeviceGraphMemTrim(0));
  report.Expect("used then", long{0}, read(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT));
  report.Expect("the most that was used", long{32 << 20}, read(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH));
  cuuint64_t value = 0;
  report.Expect("set the most to 0", CUDA_SUCCESS,
                driver.DeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value));
  report.Expect("set what is used", kInvalid,
                driver.DeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value));
  report.Expect("trim device 9", CUDA_ERROR_INVALID_DEVICE, driver.DeviceGraphMemTrim(9));
}

void AccessWithoutDescriptors(const Driver& driver, Report& report) {
  CUDA_MEM_ALLOC_NODE_PARAMS parameters = AllocationOf(64);
  parameters.accessDescCount = 1;
  CUgraphNode node = nullptr;
  driver.GraphAddMemAllocNode(&node, MakeGraph(driver, report), nullptr, 0, &parameters);
}

// What the driver thinks of a graph with one plain node once `attempt` was refused.
void AfterRefused(const Driver& driver, Report& report, const std::string& what, CUresult refusal, bool counts,
                  const std::function<CUresult(CUgraph)>& attempt) {
  const CUresult expected = counts ? kUnsupported : CUDA_SUCCESS;
  CUgraphNode plain = nullptr;
  const auto make = [&] {
    const CUgraph graph = MakeGraph(driver, report);
    plain = AddHost(driver, report, graph);
    return graph;
  };
  CUgraphNode node = nullptr;
  CUgraph clone = nullptr;
  CUgraph graph = make();
  report.Expect(what, refusal, attempt(graph));
  report.Expect(what + ": clone", expected, driver.GraphClone(&clone, graph));
  report.Expect(what + ": embed by copy", expected,
                driver.GraphAddChildGraphNode(&node, MakeGraph(driver, report), nullptr, 0, graph));
  report.Expect(what + ": destroy the plain node", expected, driver.GraphDestroyNode(plain));
  const CUgraph parent = MakeGraph(driver, report);
  report.Expect(what + ": embed by move", CUDA_SUCCESS, Move(driver, parent, graph));
  report.Expect(what + ": clone the parent", expected, driver.GraphClone(&clone, parent));
  graph = make();
  static_cast<void>(attempt(graph));
  report.Expect(what + ": instantiate", kSuccess, TryInstantiate(driver, graph));
  report.Expect(what + ": instantiate a second time", counts ? "CUDA_ERROR_NOT_SUPPORTED 1" : kSuccess,
                TryInstantiate(driver, graph));
}

void RefusedNodesCount(const Driver& driver, Report& report) {
  const CUdeviceptr plain = MakeMemory(driver, report);
  CUdeviceptr address = 0;
  const CUgraph other = MakeGraph(driver, report);
  AddAllocation(driver, report, other, &address);
  CUgraphNode foreign = AddHost(driver, report, other);
  CUgraphNode node = nullptr;
  const auto allocate = [&](std::size_t bytes, CUgraphNode* dependency) {
    return [=, &driver, &node](CUgraph graph) {
      CUDA_MEM_ALLOC_NODE_PARAMS parameters = AllocationOf(bytes);
      return driver.GraphAddMemAllocNode(&node, graph, dependency, dependency == nullptr ? 0 : 1, &parameters);
    };
  };
  const auto release = [&](CUdeviceptr what, CUgraphNode* dependency) {
    return [=, &driver, &node](CUgraph graph) {
      return driver.GraphAddMemFreeNode(&node, graph, dependency, dependency == nullptr ? 0 : 1, what);
    };
  };
  const std::size_t too_much = std::size_t{1} << 50;
  AfterRefused(driver, report, "an allocation of 0 bytes", kInvalid, false, allocate(0, nullptr));
  AfterRefused(driver, report, "of 2^50 bytes", CUDA_ERROR_OUT_OF_MEMORY, true, allocate(too_much, nullptr));
  AfterRefused(driver, report, "of 2^50 bytes, behind a node of another graph", kInvalid, false,
               allocate(too_much, &foreign));
  AfterRefused(driver, report, "a free of null", kInvalid, true, release(0, nullptr));
  AfterRefused(driver, report, "of memory of cuMemAlloc", kInvalid, true, release(plain, nullptr));
  AfterRefused(driver, report, "of the middle of an allocation", kInvalid, true, release(address + 16, nullptr));
  AfterRefused(driver, report, "of an allocation, behind a node of another graph", kInvalid, false,
               release(address, &foreign));
  const auto twice = [&](CUgraph graph) {
    const CUgraphNode before = AddHost(driver, report, graph);
    const CUgraphNode dependencies[] = {before, before};
    return driver.GraphAddMemFreeNode(&node, graph, dependencies, 2, address);
  };
  AfterRefused(driver, report, "of an allocation, behind the same node twice", kInvalid, true, twice);
}

void RefusedNodesCountInBodies(const Driver& driver, Report& report) {
  CUgraphNode node = nullptr;
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode outside = AddHost(driver, report, graph);
  const Conditional conditional =
      AddConditional(driver, report, graph, MakeHandle(driver, report, graph), CU_GRAPH_COND_TYPE_IF, 1);
  const CUgraphNode inside = AddFill(driver, report, conditional.bodies[0], MakeMemory(driver, report), 1);
  report.Expect("a free of null in a body", kInvalid,
                driver.GraphAddMemFreeNode(&node, conditional.bodies[0], nullptr, 0, 0));
  report.Expect("destroy a node of the body", kUnsupported, driver.GraphDestroyNode(inside));
  report.Expect("destroy a node around it", CUDA_SUCCESS, driver.GraphDestroyNode(outside));
  report.Expect("instantiate", kSuccess, TryInstantiate(driver, graph));
}

void EmbeddedGraphsTakeNone(const Driver& driver, Report& report) {
  CUdeviceptr address = 0;
  AddAllocation(driver, report, MakeGraph(driver, report), &address);
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraph embedded = GraphOf(driver, report, AddChild(driver, report, graph, MakeGraph(driver, report)));
  CUgraphNode node = nullptr;
  CUgraph clone = nullptr;
  report.Expect("a free of an allocation", kUnsupported,
                driver.GraphAddMemFreeNode(&node, embedded, nullptr, 0, address));
  report.Expect("a free of null", kUnsupported, driver.GraphAddMemFreeNode(&node, embedded, nullptr, 0, 0));
  report.Expect("clone the parent", CUDA_SUCCESS, driver.GraphClone(&clone, graph));
}

void RefusedInACapture(const Driver& driver, Report& report) {
  const auto capture = [&](auto attempt) {
    CUgraph graph = nullptr;
    CUgraph clone = nullptr;
    HOLDFAST_NEED(report, driver.StreamBeginCapture(driver.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    attempt();
    HOLDFAST_NEED(report, driver.StreamEndCapture(driver.stream, &graph));
    return driver.GraphClone(&clone, graph);
  };
  const CUdeviceptr memory = MakeMemory(driver, report);
  report.Expect("clone after a refused free", kUnsupported, capture([&] {
                  report.Expect("a free of memory of cuMemAlloc", kInvalid, driver.MemFreeAsync(memory, driver.stream));
                }));
  report.Expect("clone after a refused allocation", kUnsupported, capture([&] {
                  CUdeviceptr address = 0;
                  report.Expect("an allocation of 2^50 bytes", CUDA_ERROR_OUT_OF_MEMORY,
                                driver.MemAllocAsync(&address, std::size_t{1} << 50, driver.stream));
                }));
}

void MovedWithoutExecutable(const Driver& driver, Report& report) {
  CUdeviceptr address = 0;
  const CUgraph graph = MakeGraph(driver, report);
  AddAllocation(driver, report, graph, &address);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  const CUgraph parent = MakeGraph(driver, report);
  report.Expect("embed by move while there is an executable", kUnsupported, Move(driver, parent, graph));
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  report.Expect("once it is destroyed", CUDA_SUCCESS, Move(driver, parent, graph));
}

}  // namespace

std::vector<Fact> MemoryNodeFacts() {
  return {
      {"M1", "allocation nodes are checked", &AllocationsAreChecked},
      {"M1b", "access to an allocation is checked", &AccessIsChecked},
      {"M2", "free nodes are checked: one graph frees, or several others", &FreesAreChecked},
      {"M3", "memory that one launch allocates and frees is there for its nodes alone", &AllocatedAndFreedInOneLaunch},
      {"M4", "memory that no node frees stays, and the graph cannot be launched again", &UnmatchedAllocationStays},
      {"M5", "an executable that frees by itself can", &AutoFreeLaunchesAgain},
      {"M6", "another graph frees, once an allocation", &AnotherGraphFrees},
      {"M6b", "who frees may outlive who allocates", &FreedWhenItsGraphIsGone},
      {"M6c", "work on memory that is not allocated loses the context", &UnallocatedMemoryLosesTheContext},
      {"M6d", "a launch allocates all or nothing", &AllOrNothingIsClaimed},
      {"M7", "a graph with memory nodes has one executable at a time", &OneExecutableAtATime},
      {"M8", "graphs with memory nodes are fixed, and moved but not copied", &GraphsAreFixed},
      {"M9", "updates want the same memory", &UpdatesWantTheSameMemory},
      {"M10", "the pool for graphs grows until it is trimmed", &PoolGrowsUntilTrimmed},
      {"M11", "access descriptors that are counted and not given are a crash", &AccessWithoutDescriptors,
       Ending::kCrashes},
      {"M12",
       "a graph counts as one with memory nodes once the driver refused one for its address or for want of memory",
       &RefusedNodesCount},
      {"M12b", "in a body that is counted in the body alone", &RefusedNodesCountInBodies},
      {"M12c", "embedded graphs take no memory nodes, and do not count those", &EmbeddedGraphsTakeNone},
      {"M12d", "in a capture it is the same", &RefusedInACapture},
      {"M13", "a graph with memory nodes is not moved while it has an executable", &MovedWithoutExecutable},
  };
}

}  // namespace holdfast::conformance
