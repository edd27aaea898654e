// Facts K1 to K9: attributes and limits of kernel nodes, what keeps them, and what an executable takes.
#include <cstring>
#include <functional>
#include <string>

#include "tests/conformance/fact.h"
#include "tests/conformance/node_tools.h"

namespace holdfast::conformance {
namespace {

constexpr CUresult kInvalid = CUDA_ERROR_INVALID_VALUE;

CUlaunchAttributeValue Cluster(unsigned int x) {
  CUlaunchAttributeValue value{};
  value.clusterDim.x = x;
  value.clusterDim.y = value.clusterDim.z = 1;
  return value;
}

CUlaunchAttributeValue Cooperative(int yes) {
  CUlaunchAttributeValue value{};
  value.cooperative = yes;
  return value;
}

CUlaunchAttributeValue Priority(int priority) {
  CUlaunchAttributeValue value{};
  value.priority = priority;
  return value;
}

// One kernel node and its attributes.
class Attributes {
 public:
  Attributes(const Driver& driver, Report& report, CUgraphNode node) : driver_(driver), report_(report), node_(node) {}

  CUresult Set(CUlaunchAttributeID id, const CUlaunchAttributeValue& value) const {
    return driver_.GraphKernelNodeSetAttribute(node_, id, &value);
  }

  CUlaunchAttributeValue Get(CUlaunchAttributeID id) const {
    CUlaunchAttributeValue value{};
    HOLDFAST_NEED(report_, driver_.GraphKernelNodeGetAttribute(node_, id, &value));
    return value;
  }

  long cluster() const { return Get(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim.x; }
  long cooperative() const { return Get(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative; }
  long priority() const { return Get(CU_LAUNCH_ATTRIBUTE_PRIORITY).priority; }

  std::string All() const {
    return std::to_string(cluster()) + " " + std::to_string(cooperative()) + " " + std::to_string(priority());
  }

 private:
  const Driver& driver_;
  Report& report_;
  const CUgraphNode node_;
};

void AttributesAreChecked(const Driver& driver, Report& report) {
  const Kernels kernels(driver, report);
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode node = kernels.AddNothing(graph, 4);
  const Attributes attributes(driver, report, node);
  report.Expect("of a new node", "0 0 0", attributes.All());
  CUlaunchAttributeValue value{};
  report.Expect(
      "of a host node", kInvalid,
      driver.GraphKernelNodeGetAttribute(AddHost(driver, report, graph), CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  for (const CUlaunchAttributeID id :
       {CU_LAUNCH_ATTRIBUTE_IGNORE, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION}) {
    report.Expect("one that nodes do not have: " + std::to_string(id), kInvalid,
                  driver.GraphKernelNodeGetAttribute(node, id, &value));
    report.Expect("set it", kInvalid, attributes.Set(id, value));
  }
  const auto cluster = [&](const CUlaunchAttributeValue& to) {
    return attributes.Set(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, to);
  };
  report.Expect("a cluster of 2", CUDA_SUCCESS, cluster(Cluster(2)));
  report.Expect("one that does not divide the grid", CUDA_ERROR_INVALID_CLUSTER_SIZE, cluster(Cluster(3)));
  report.Expect("the one before stays", long{2}, attributes.cluster());
  CUlaunchAttributeValue flat = Cluster(0);
  report.Expect("one side of 0", CUDA_ERROR_INVALID_CLUSTER_SIZE, cluster(flat));
  flat.clusterDim.y = flat.clusterDim.z = 0;
  report.Expect("no cluster", CUDA_SUCCESS, cluster(flat));
  report.Expect("cooperative", CUDA_SUCCESS, attributes.Set(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, Cooperative(1)));
  value = CUlaunchAttributeValue{};
  value.sharedMemCarveout = 100;
  report.Expect("a carveout of all", CUDA_SUCCESS,
                attributes.Set(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, value));
  value.sharedMemCarveout = 101;
  report.Expect("a carveout of more", kInvalid,
                attributes.Set(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, value));
  report.Expect("priority -3", CUDA_SUCCESS, attributes.Set(CU_LAUNCH_ATTRIBUTE_PRIORITY, Priority(-3)));
  report.Expect("it reads", long{-3}, attributes.priority());
  report.Expect("priority 77", CUDA_SUCCESS, attributes.Set(CU_LAUNCH_ATTRIBUTE_PRIORITY, Priority(77)));
  report.Expect("it reads", long{0}, attributes.priority());
  report.Expect("priority -77", CUDA_SUCCESS, attributes.Set(CU_LAUNCH_ATTRIBUTE_PRIORITY, Priority(-77)));
  report.Expect("it reads", long{-5}, attributes.priority());
}

void LargeClustersAreAskedFor(const Driver& driver, Report& report) {
  const Kernels kernels(driver, report);
  const Attributes attributes(driver, report, kernels.AddNothing(MakeGraph(driver, report), 64));
  const auto cluster = [&](unsigned int blocks) {
    return attributes.Set(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, Cluster(blocks));
  };
  report.Expect("8", CUDA_SUCCESS, cluster(8));
  report.Expect("16", CUDA_ERROR_INVALID_CLUSTER_SIZE, cluster(16));
  const CUfunction function = kernels.Find("holdfast_nothing");
  report.Expect("allow them", CUDA_SUCCESS,
                driver.FuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 5));
  int value = 0;
  HOLDFAST_NEED(report, driver.FuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, function));
  report.Expect("that reads", long{1}, long{value});
  report.Expect("16 then", CUDA_SUCCESS, cluster(16));
}

void NullValue(const Driver& driver, Report& report) {
  const Kernels kernels(driver, report);
  driver.GraphKernelNodeGetAttribute(kernels.AddNothing(MakeGraph(driver, report)), CU_LAUNCH_ATTRIBUTE_PRIORITY,
                                     nullptr);
}

void AttributesRun(const Driver& driver, Report& report) {
  const Kernels kernels(driver, report);
  const CUgraph graph = MakeGraph(driver, report);
  const Attributes attributes(driver, report, kernels.AddNothing(graph, 4));
  HOLDFAST_NEED(report, attributes.Set(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, Cluster(2)));
  HOLDFAST_NEED(
      report,
      Attributes(driver, report, kernels.AddNothing(graph, 4)).Set(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, Cooperative(1)));
  LaunchAndWait(driver, report, Instantiate(driver, report, graph));
  const CUgraphNode large = kernels.AddNothing(graph, 1'000'000);
  report.Expect("cooperative, more blocks than can run at once", CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                Attributes(driver, report, large).Set(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, Cooperative(1)));
}

void AttributesStay(const Driver& driver, Report& report) {
  const Kernels kernels(driver, report);
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode node = kernels.AddNothing(graph, 4);
  const Attributes attributes(driver, report, node);
  HOLDFAST_NEED(report, attributes.Set(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, Cluster(2)));
  HOLDFAST_NEED(report, attributes.Set(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, Cooperative(1)));
  HOLDFAST_NEED(report, attributes.Set(CU_LAUNCH_ATTRIBUTE_PRIORITY, Priority(-2)));
  CUDA_KERNEL_NODE_PARAMS parameters = Kernels::Parameters(kernels.Find("holdfast_nothing_else"), nullptr, 8);
  report.Expect("set params", CUDA_SUCCESS, driver.GraphKernelNodeSetParams(node, &parameters));
  report.Expect("they stay", "2 1 -2", attributes.All());
  parameters.gridDimX = 3;
  report.Expect("a grid that the cluster does not divide", CUDA_ERROR_INVALID_CLUSTER_SIZE,
                driver.GraphKernelNodeSetParams(node, &parameters));
  CUgraphNodeParams any{};
  any.type = CU_GRAPH_NODE_TYPE_KERNEL;
  any.kernel.func = kernels.Find("holdfast_nothing");
  any.kernel.gridDimX = 8;
  any.kernel.gridDimY = any.kernel.gridDimZ = 1;
  any.kernel.blockDimX = any.kernel.blockDimY = any.kernel.blockDimZ = 1;
  report.Expect("the other set params", CUDA_SUCCESS, driver.GraphNodeSetParams(node, &any));
  report.Expect("they stay", "2 1 -2", attributes.All());
  CUgraph clone = nullptr;
  CUgraphNode twin = nullptr;
  HOLDFAST_NEED(report, driver.GraphClone(&clone, graph));
  HOLDFAST_NEED(report, driver.GraphNodeFindInClone(&twin, node, clone));
  report.Expect("of the clone's node", "2 1 -2", Attributes(driver, report, twin).All());
}

void AttributesAreCopied(const Driver& driver, Report& report) {
  const Kernels kernels(driver, report);
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode source = kernels.AddNothing(graph, 4);
  HOLDFAST_NEED(report, Attributes(driver, report, source).Set(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, Cluster(2)));
  HOLDFAST_NEED(report, Attributes(driver, report, source).Set(CU_LAUNCH_ATTRIBUTE_PRIORITY, Priority(-2)));
  const CUgraphNode target = kernels.AddNothing(MakeGraph(driver, report), 8);
  report.Expect("to a node of another graph", CUDA_SUCCESS, driver.GraphKernelNodeCopyAttributes(target, source));
  report.Expect("they are there", "2 0 -2", Attributes(driver, report, target).All());
  report.Expect("to itself", CUDA_SUCCESS, driver.GraphKernelNodeCopyAttributes(source, source));
  const CUgraphNode host = AddHost(driver, report, graph);
  report.Expect("from a host node", kInvalid, driver.GraphKernelNodeCopyAttributes(target, host));
  report.Expect("to a host node", kInvalid, driver.GraphKernelNodeCopyAttributes(host, source));
  const CUgraphNode odd = kernels.AddNothing(graph, 3);
  report.Expect("to a grid that the cluster does not divide", kInvalid,
                driver.GraphKernelNodeCopyAttributes(odd, source));
  report.Expect("nothing was copied", "0 0 0", Attributes(driver, report, odd).All());
}

void UpdatesCompareAttributes(const Driver& driver, Report& report) {
  const Kernels kernels(driver, report);
  const auto make = [&](CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
    const CUgraph graph = MakeGraph(driver, report);
    HOLDFAST_NEED(report, Attributes(driver, report, kernels.AddNothing(graph, 4)).Set(id, value));
    return graph;
  };
  const CUgraph plain = make(CU_LAUNCH_ATTRIBUTE_PRIORITY, Priority(0));
  const CUgraph cooperative = make(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, Cooperative(1));
  const CUgraph clustered = make(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, Cluster(2));
  const auto update = [&](CUgraph from, CUgraph to) {
    return TryUpdate(driver, Instantiate(driver, report, from), to);
  };
  const std::string success = "CUDA_SUCCESS";
  const std::string changed = "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE 8";
  report.Expect("plain to cooperative", changed, update(plain, cooperative));
  report.Expect("cooperative to plain", changed, update(cooperative, plain));
  report.Expect("cooperative to cooperative", success, update(cooperative, cooperative));
  report.Expect("plain to clustered", success, update(plain, clustered));
  report.Expect("clustered to plain", success, update(clustered, plain));
  report.Expect("plain to another priority", success, update(plain, make(CU_LAUNCH_ATTRIBUTE_PRIORITY, Priority(-3))));
}

void ExecutablesChangeKernels(const Driver& driver, Report& report) {
  const Kernels kernels(driver, report);
  CUdeviceptr memory = MakeMemory(driver, report);
  unsigned int value = 5;
  void* arguments[] = {&memory, &value};
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode node = kernels.AddNothing(graph);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  const auto set = [&](const char* name, void** given, unsigned int blocks) {
    const CUDA_KERNEL_NODE_PARAMS parameters = Kernels::Parameters(kernels.Find(name), given, blocks);
    return driver.GraphExecKernelNodeSetParams(executable, node, &parameters);
  };
  report.Expect("another function", CUDA_SUCCESS, set("holdfast_nothing_else", nullptr, 1));
  report.Expect("another shape", CUDA_SUCCESS, set("holdfast_nothing", nullptr, 7));
  report.Expect("a function without its arguments", kInvalid, set("holdfast_store", nullptr, 1));
  report.Expect("a function with arguments", CUDA_SUCCESS, set("holdfast_store", arguments, 1));
  LaunchAndWait(driver, report, executable);
  report.Expect("it stored", long{5}, WordAt(driver, report, memory));
  const CUgraph source = MakeGraph(driver, report);
  kernels.AddStore(source, memory, 6);
  report.Expect("a whole update", "CUDA_SUCCESS", TryUpdate(driver, executable, source));
  LaunchAndWait(driver, report, executable);
  report.Expect("it stored", long{6}, WordAt(driver, report, memory));

  const CUgraph clustered = MakeGraph(driver, report);
  const CUgraphNode cluster_node = kernels.AddNothing(clustered, 4);
  HOLDFAST_NEED(report,
                Attributes(driver, report, cluster_node).Set(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, Cluster(2)));
  const CUgraphExec of_clusters = Instantiate(driver, report, clustered);
  CUDA_KERNEL_NODE_PARAMS parameters = Kernels::Parameters(kernels.Find("holdfast_nothing"), nullptr, 3);
  report.Expect("a grid that the cluster does not divide", CUDA_ERROR_INVALID_CLUSTER_SIZE,
                driver.GraphExecKernelNodeSetParams(of_clusters, cluster_node, &parameters));
  parameters.gridDimX = 8;
  report.Expect("one that it divides", CUDA_SUCCESS,
                driver.GraphExecKernelNodeSetParams(of_clusters, cluster_node, &parameters));
}

void ShapesAreChecked(const Driver& driver, Report& report) {
  const Kernels kernels(driver, report);
  const CUfunction function = kernels.Find("holdfast_nothing");
  const CUgraphNode node = kernels.AddNothing(MakeGraph(driver, report));
  const auto set = [&](const std::function<void(CUDA_KERNEL_NODE_PARAMS&)>& change) {
    CUDA_KERNEL_NODE_PARAMS parameters = Kernels::Parameters(function);
    change(parameters);
    return driver.GraphKernelNodeSetParams(node, &parameters);
  };
  report.Expect("65536 rows of blocks", kInvalid, set([](auto& given) { given.gridDimY = 65536; }));
  report.Expect("2^31 blocks in a row", kInvalid, set([](auto& given) { given.gridDimX = 0x80000000u; }));
  report.Expect("65 threads deep", kInvalid, set([](auto& given) { given.blockDimZ = 65; }));
  report.Expect("49152 bytes of shared memory", CUDA_SUCCESS, set([](auto& given) { given.sharedMemBytes = 49152; }));
  report.Expect("one more", kInvalid, set([](auto& given) { given.sharedMemBytes = 49153; }));
  report.Expect("raise the limit", CUDA_SUCCESS,
                driver.FuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
  report.Expect("100000 bytes then", CUDA_SUCCESS, set([](auto& given) { given.sharedMemBytes = 100000; }));
  int value = 0;
  HOLDFAST_NEED(report, driver.FuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
  report.Expect("the limit reads", long{100000}, long{value});
  report.Expect("a limit that no device has", kInvalid,
                driver.FuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1000000));
  report.Expect("no shared memory", CUDA_SUCCESS,
                driver.FuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0));
  report.Expect("one byte then", kInvalid, set([](auto& given) { given.sharedMemBytes = 1; }));
  report.Expect("set what is fixed", kInvalid, driver.FuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, 5));
  report.Expect("an attribute that there is not", kInvalid,
                driver.FuncGetAttribute(&value, static_cast<CUfunction_attribute>(99), function));
}

void ArgumentsInABuffer(const Driver& driver, Report& report) {
  const Kernels kernels(driver, report);
  struct {
    CUdeviceptr address;
    unsigned int value;
  } buffer{MakeMemory(driver, report), 77};
  std::size_t bytes = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  CUDA_KERNEL_NODE_PARAMS parameters = Kernels::Parameters(kernels.Find("holdfast_store"));
  parameters.extra = extra;
  const CUgraph graph = MakeGraph(driver, report);
  CUgraphNode node = nullptr;
  report.Expect("as long as the arguments", CUDA_SUCCESS,
                driver.GraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
  CUDA_KERNEL_NODE_PARAMS now{};
  HOLDFAST_NEED(report, driver.GraphKernelNodeGetParams(node, &now));
  report.Expect("the getter gives a buffer", true, now.extra != nullptr && now.kernelParams == nullptr);
  LaunchAndWait(driver, report, Instantiate(driver, report, graph));
  report.Expect("the kernel found its arguments", long{77}, WordAt(driver, report, buffer.address));
  bytes = 8;
  report.Expect("shorter", CUDA_SUCCESS, driver.GraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
  bytes = 16;
  report.Expect("longer", kInvalid, driver.GraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
  void* arguments[] = {&buffer.address, &buffer.value};
  bytes = 12;
  parameters.kernelParams = arguments;
  report.Expect("a buffer and pointers", kInvalid, driver.GraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
}

void LaunchesHaveAttributes(const Driver& driver, Report& report) {
  const Kernels kernels(driver, report);
  const CUfunction function = kernels.Find("holdfast_nothing");
  CUlaunchConfig config{};
  config.gridDimX = 4;
  config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = driver.stream;
  CUlaunchAttribute attribute{};
  config.attrs = &attribute;
  config.numAttrs = 1;
  const auto launch = [&](CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
    attribute.id = id;
    attribute.value = value;
    return driver.LaunchKernelEx(&config, function, nullptr, nullptr);
  };
  report.Expect("ignored", CUDA_SUCCESS, launch(CU_LAUNCH_ATTRIBUTE_IGNORE, Cluster(1)));
  report.Expect("a cluster", CUDA_SUCCESS, launch(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, Cluster(2)));
  report.Expect("one that does not divide the grid", CUDA_ERROR_INVALID_CLUSTER_SIZE,
                launch(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, Cluster(3)));
  report.Expect("cooperative", CUDA_SUCCESS, launch(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, Cooperative(1)));
  report.Expect("unknown", kInvalid, launch(static_cast<CUlaunchAttributeID>(99), Cooperative(1)));
  config.attrs = nullptr;
  report.Expect("counted and not given", kInvalid, driver.LaunchKernelEx(&config, function, nullptr, nullptr));
  report.Expect("null", kInvalid, driver.LaunchKernelEx(nullptr, function, nullptr, nullptr));
  const auto cooperative = [&](unsigned int blocks) {
    return driver.LaunchCooperativeKernel(function, blocks, 1, 1, 1, 1, 1, 0, driver.stream, nullptr);
  };
  report.Expect("a cooperative launch", CUDA_SUCCESS, cooperative(4));
  report.Expect("with more blocks than can run at once", CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                cooperative(1'000'000));
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
}

}  // namespace

std::vector<Fact> KernelNodeFacts() {
  return {
      {"K1", "attributes of kernel nodes are checked, or brought into range", &AttributesAreChecked},
      {"K1c", "clusters of more than 8 blocks are asked for", &LargeClustersAreAskedFor},
      {"K1b", "a null value of an attribute is a crash", &NullValue, Ending::kCrashes},
      {"K2", "clusters and cooperative kernels run", &AttributesRun},
      {"K3", "attributes stay when parameters change, and in clones", &AttributesStay},
      {"K4", "attributes are copied from node to node", &AttributesAreCopied},
      {"K5", "a whole update wants cooperative kernels to stay so", &UpdatesCompareAttributes},
      {"K6", "executables take other functions, arguments and shapes", &ExecutablesChangeKernels},
      {"K7", "shapes and limits are checked", &ShapesAreChecked},
      {"K8", "arguments may come in a buffer", &ArgumentsInABuffer},
      {"K9", "launches have attributes too", &LaunchesHaveAttributes},
  };
}

}  // namespace holdfast::conformance
