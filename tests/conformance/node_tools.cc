#include "tests/conformance/node_tools.h"

namespace holdfast::conformance {
namespace {

constexpr char kPtx[] = R"(.version 7.8
.target sm_70
.address_size 64
.extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);
.visible .entry holdfast_nothing() { ret; }
.visible .entry holdfast_nothing_else() { ret; }
.visible .entry holdfast_store(.param .u64 address, .param .u32 value) {
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [address];
  ld.param.u32 %r1, [value];
  cvta.to.global.u64 %rd2, %rd1;
  st.global.u32 [%rd2], %r1;
  ret;
}
.visible .entry holdfast_set_condition(.param .u64 handle, .param .u32 value) {
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [handle];
  ld.param.u32 %r1, [value];
  {
    .param .b64 first;
    st.param.b64 [first+0], %rd1;
    .param .b32 second;
    st.param.b32 [second+0], %r1;
    call.uni cudaGraphSetConditional, (first, second);
  }
  ret;
}
.visible .entry holdfast_count_to(.param .u64 handle, .param .u64 counter, .param .u32 limit) {
  .reg .pred %p<2>;
  .reg .b32 %r<5>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [handle];
  ld.param.u64 %rd2, [counter];
  ld.param.u32 %r1, [limit];
  cvta.to.global.u64 %rd3, %rd2;
  ld.global.u32 %r2, [%rd3];
  add.s32 %r3, %r2, 1;
  st.global.u32 [%rd3], %r3;
  setp.lt.u32 %p1, %r3, %r1;
  selp.u32 %r4, 1, 0, %p1;
  {
    .param .b64 first;
    st.param.b64 [first+0], %rd1;
    .param .b32 second;
    st.param.b32 [second+0], %r4;
    call.uni cudaGraphSetConditional, (first, second);
  }
  ret;
}
)";

std::size_t CountOf(CUgraphNode node) { return node == nullptr ? 0 : 1; }

}  // namespace

Kernels::Kernels(const Driver& driver, Report& report) : driver_(driver), report_(report) {
  HOLDFAST_NEED(report, driver.ModuleLoadData(&module_, kPtx));
}

CUfunction Kernels::Find(const char* name) const {
  CUfunction function = nullptr;
  HOLDFAST_NEED(report_, driver_.ModuleGetFunction(&function, module_, name));
  return function;
}

CUDA_KERNEL_NODE_PARAMS Kernels::Parameters(CUfunction function, void** arguments, unsigned int blocks) {
  CUDA_KERNEL_NODE_PARAMS parameters{};
  parameters.func = function;
  parameters.gridDimX = blocks;
  parameters.gridDimY = parameters.gridDimZ = 1;
  parameters.blockDimX = parameters.blockDimY = parameters.blockDimZ = 1;
  parameters.kernelParams = arguments;
  return parameters;
}

CUgraphNode Kernels::Add(CUgraph graph, const char* name, void** arguments, CUgraphNode after,
                         unsigned int blocks) const {
  const CUDA_KERNEL_NODE_PARAMS parameters = Parameters(Find(name), arguments, blocks);
  CUgraphNode node = nullptr;
  HOLDFAST_NEED(report_, driver_.GraphAddKernelNode(&node, graph, &after, CountOf(after), &parameters));
  return node;
}

CUgraphNode Kernels::AddNothing(CUgraph graph, unsigned int blocks) const {
  return Add(graph, "holdfast_nothing", nullptr, nullptr, blocks);
}

CUgraphNode Kernels::AddStore(CUgraph graph, CUdeviceptr address, unsigned int value, CUgraphNode after) const {
  void* arguments[] = {&address, &value};
  return Add(graph, "holdfast_store", arguments, after);
}

CUgraphNode Kernels::AddSetCondition(CUgraph graph, CUgraphConditionalHandle handle, unsigned int value,
                                     CUgraphNode after) const {
  void* arguments[] = {&handle, &value};
  return Add(graph, "holdfast_set_condition", arguments, after);
}

CUgraphNode Kernels::AddCountTo(CUgraph graph, CUgraphConditionalHandle handle, CUdeviceptr counter, unsigned int limit,
                                CUgraphNode after) const {
  void* arguments[] = {&handle, &counter, &limit};
  return Add(graph, "holdfast_count_to", arguments, after);
}

CUgraphConditionalHandle MakeHandle(const Driver& driver, Report& report, CUgraph graph, unsigned int default_value,
                                    unsigned int flags) {
  CUgraphConditionalHandle handle = 0;
  HOLDFAST_NEED(report, driver.GraphConditionalHandleCreate(&handle, graph, driver.context, default_value, flags));
  return handle;
}

Conditional TryConditional(const Driver& driver, CUgraph graph, CUgraphConditionalHandle handle,
                           CUgraphConditionalNodeType type, unsigned int size, CUgraphNode after) {
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  parameters.conditional.handle = handle;
  parameters.conditional.type = type;
  parameters.conditional.size = size;
  parameters.conditional.ctx = driver.context;
  Conditional made;
  made.result = driver.GraphAddNode(&made.node, graph, &after, nullptr, CountOf(after), &parameters);
  const CUgraph* bodies = parameters.conditional.phGraph_out;
  if (made.result == CUDA_SUCCESS && bodies != nullptr) made.bodies.assign(bodies, bodies + size);
  return made;
}

Conditional AddConditional(const Driver& driver, Report& report, CUgraph graph, CUgraphConditionalHandle handle,
                           CUgraphConditionalNodeType type, unsigned int size, CUgraphNode after) {
  Conditional made = TryConditional(driver, graph, handle, type, size, after);
  report.Need("add a conditional node", made.result);
  made.bodies.resize(size);
  return made;
}

CUdeviceptr MakeMemory(const Driver& driver, Report& report, std::size_t bytes) {
  CUdeviceptr address = 0;
  HOLDFAST_NEED(report, driver.MemAlloc(&address, bytes));
  HOLDFAST_NEED(report, driver.MemsetD8(address, 0, bytes));
  return address;
}

CUgraphNode AddFill(const Driver& driver, Report& report, CUgraph graph, CUdeviceptr address, unsigned char value,
                    CUgraphNode after) {
  CUDA_MEMSET_NODE_PARAMS parameters{};
  parameters.dst = address;
  parameters.value = value;
  parameters.elementSize = 1;
  parameters.width = 1;
  parameters.height = 1;
  CUgraphNode node = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddMemsetNode(&node, graph, &after, CountOf(after), &parameters, driver.context));
  return node;
}

long ByteAt(const Driver& driver, Report& report, CUdeviceptr address) {
  unsigned char value = 0xee;
  HOLDFAST_NEED(report, driver.MemcpyDtoH(&value, address, sizeof(value)));
  return value;
}

long WordAt(const Driver& driver, Report& report, CUdeviceptr address) {
  unsigned int value = 0xeeeeeeee;
  HOLDFAST_NEED(report, driver.MemcpyDtoH(&value, address, sizeof(value)));
  return value;
}

CUgraphNode AddChild(const Driver& driver, Report& report, CUgraph graph, CUgraph child) {
  CUgraphNode node = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  return node;
}

CUgraph GraphOf(const Driver& driver, Report& report, CUgraphNode child) {
  CUgraph graph = nullptr;
  HOLDFAST_NEED(report, driver.GraphChildGraphNodeGetGraph(child, &graph));
  return graph;
}

CUresult Move(const Driver& driver, CUgraph graph, CUgraph child, CUgraphNode* node) {
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_GRAPH;
  parameters.graph.graph = child;
  parameters.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
  CUgraphNode made = nullptr;
  return driver.GraphAddNode(node != nullptr ? node : &made, graph, nullptr, nullptr, 0, &parameters);
}

CUDA_MEM_ALLOC_NODE_PARAMS AllocationOf(std::size_t bytes) {
  CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
  parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  parameters.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  parameters.bytesize = bytes;
  return parameters;
}

CUgraphNode AddAllocation(const Driver& driver, Report& report, CUgraph graph, CUdeviceptr* address,
                          std::size_t bytes) {
  CUDA_MEM_ALLOC_NODE_PARAMS parameters = AllocationOf(bytes);
  CUgraphNode node = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddMemAllocNode(&node, graph, nullptr, 0, &parameters));
  *address = parameters.dptr;
  return node;
}

CUgraphNode AddFree(const Driver& driver, Report& report, CUgraph graph, CUdeviceptr address, CUgraphNode after) {
  CUgraphNode node = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddMemFreeNode(&node, graph, &after, CountOf(after), address));
  return node;
}

void LaunchAndWait(const Driver& driver, Report& report, CUgraphExec executable) {
  HOLDFAST_NEED(report, driver.GraphLaunch(executable, driver.stream));
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
}

std::string TryUpdate(const Driver& driver, CUgraphExec executable, CUgraph graph) {
  CUgraphExecUpdateResultInfo info{};
  const CUresult result = driver.GraphExecUpdate(executable, graph, &info);
  const std::string name = NameOf(driver, result);
  return result == CUDA_SUCCESS ? name : name + " " + std::to_string(info.result);
}

std::string TryInstantiate(const Driver& driver, CUgraph graph, CUgraphExec* executable, CUgraphNode* error_node) {
  CUgraphExec made = nullptr;
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  const CUresult result = driver.GraphInstantiateWithParams(&made, graph, &parameters);
  if (executable != nullptr) *executable = made;
  if (error_node != nullptr) *error_node = parameters.hErrNode_out;
  const std::string name = NameOf(driver, result);
  return result == CUDA_SUCCESS ? name : name + " " + std::to_string(parameters.result_out);
}

}  // namespace holdfast::conformance
