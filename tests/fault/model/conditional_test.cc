// Conditional nodes beyond what the facts ask of both drivers: what is left of them, and kernels that misbehave.
//
// Method: the kernels are host functions that set conditions through the control, as device code would.
#include <cstdint>
#include <string>

#include "tests/fault/model/driver_fixture.h"

namespace holdfast::fault {
namespace {

constexpr char kPtx[] = R"(.version 7.8
.target sm_70
.entry set_condition(.param .u64 handle, .param .u32 value) { ret; }
)";

void SetCondition(void** parameters, const LaunchShape&) {
  holdfast_model_control()->set_conditional(*static_cast<std::uint64_t*>(parameters[0]),
                                            *static_cast<std::uint32_t*>(parameters[1]));
}

class ConditionalTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    control().register_kernel("set_condition", &SetCondition);
    ASSERT_EQ(cuMemAlloc(&memory_, 64), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD8(memory_, 0, 64), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleLoadData(&module_, kPtx), CUDA_SUCCESS);
  }

  CUgraphConditionalHandle MakeHandle(CUgraph graph, unsigned int default_value = 1) {
    CUgraphConditionalHandle handle = 0;
    EXPECT_EQ(cuGraphConditionalHandleCreate(&handle, graph, context_, default_value, CU_GRAPH_COND_ASSIGN_DEFAULT),
              CUDA_SUCCESS);
    return handle;
  }

  // The node's first body in `body`.
  CUgraphNode AddConditional(CUgraph graph, CUgraphConditionalHandle handle, CUgraphConditionalNodeType type,
                             CUgraph* body) {
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    parameters.conditional.handle = handle;
    parameters.conditional.type = type;
    parameters.conditional.size = 1;
    parameters.conditional.ctx = context_;
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters), CUDA_SUCCESS);
    *body = parameters.conditional.phGraph_out[0];
    return node;
  }

  CUgraphNode AddFill(CUgraph graph, unsigned char value) {
    CUDA_MEMSET_NODE_PARAMS parameters{};
    parameters.dst = memory_;
    parameters.value = value;
    parameters.elementSize = parameters.width = parameters.height = 1;
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &parameters, context_), CUDA_SUCCESS);
    return node;
  }

  void AddSetCondition(CUgraph graph, CUgraphConditionalHandle handle, std::uint32_t value) {
    CUDA_KERNEL_NODE_PARAMS parameters{};
    ASSERT_EQ(cuModuleGetFunction(&parameters.func, module_, "set_condition"), CUDA_SUCCESS);
    parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
    parameters.blockDimX = parameters.blockDimY = parameters.blockDimZ = 1;
    void* arguments[] = {&handle, &value};
    parameters.kernelParams = arguments;
    CUgraphNode node = nullptr;
    ASSERT_EQ(cuGraphAddKernelNode(&node, graph, nullptr, 0, &parameters), CUDA_SUCCESS);
  }

  unsigned char Written() {
    unsigned char value = 0xee;
    EXPECT_EQ(cuMemcpyDtoH(&value, memory_, 1), CUDA_SUCCESS);
    return value;
  }

  CUdeviceptr memory_ = 0;
  CUmodule module_ = nullptr;
};

TEST_F(ConditionalTest, ReferencesOfABodyLastAsLongAsTheExecutable) {
  Payload payload;
  const CUgraph graph = MakeGraph();
  CUgraph body = nullptr;
  const CUgraphNode node = AddConditional(graph, MakeHandle(graph), CU_GRAPH_COND_TYPE_IF, &body);
  ASSERT_EQ(cuGraphRetainUserObject(body, MakeObject(&payload), 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
  const CUgraphExec executable = Instantiate(graph);
  ASSERT_EQ(cuGraphDestroyNode(node), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  LaunchAndWait(executable);
  EXPECT_EQ(payload.runs.load(), 0);
  ASSERT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_TRUE(Eventually([&] { return payload.runs.load() == 1; }));
}

TEST_F(ConditionalTest, HandlesOfBodiesDieWithTheNode) {
  control().set_handle_reuse(HandleReuse::kNever);
  const CUgraph graph = MakeGraph();
  CUgraph body = nullptr;
  const CUgraphNode node = AddConditional(graph, MakeHandle(graph), CU_GRAPH_COND_TYPE_IF, &body);
  const CUgraphNode inner = AddHost(body);
  ASSERT_EQ(cuGraphDestroyNode(node), CUDA_SUCCESS);
  std::size_t count = 0;
  EXPECT_EQ(cuGraphGetNodes(body, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
  CUgraphNodeType type{};
  EXPECT_EQ(cuGraphNodeGetType(inner, &type), CUDA_ERROR_INVALID_VALUE);
  cuGraphDestroy(graph);
}

TEST_F(ConditionalTest, UpdateTakesTheDefaultAndTheBodyOfTheSource) {
  const CUgraph graph = MakeGraph();
  const CUgraph source = MakeGraph();
  CUgraph body = nullptr;
  AddConditional(graph, MakeHandle(graph, 0), CU_GRAPH_COND_TYPE_IF, &body);
  AddFill(body, 1);
  AddConditional(source, MakeHandle(source, 1), CU_GRAPH_COND_TYPE_IF, &body);
  AddFill(body, 2);
  const CUgraphExec executable = Instantiate(graph);
  LaunchAndWait(executable);
  EXPECT_EQ(Written(), 0);
  ASSERT_EQ(cuGraphExecUpdate(executable, source, nullptr), CUDA_SUCCESS);
  LaunchAndWait(executable);
  EXPECT_EQ(Written(), 2);
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
  cuGraphDestroy(source);
}

// The launch in flight goes on with the bodies that it began with.
TEST_F(ConditionalTest, ChangesDoNotReachALaunchInFlight) {
  Gate gate;
  const CUgraph graph = MakeGraph();
  const CUgraphConditionalHandle handle = MakeHandle(graph);
  const CUgraphNode blocker = AddHost(graph, &Gate::Wait, &gate);
  CUgraph body = nullptr;
  const CUgraphNode node = AddConditional(graph, handle, CU_GRAPH_COND_TYPE_IF, &body);
  ASSERT_EQ(cuGraphAddDependencies(graph, &blocker, &node, nullptr, 1), CUDA_SUCCESS);
  const CUgraphNode fill = AddFill(body, 1);
  const CUgraphExec executable = Instantiate(graph);
  ASSERT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
  CUDA_MEMSET_NODE_PARAMS parameters{};
  parameters.dst = memory_;
  parameters.value = 2;
  parameters.elementSize = parameters.width = parameters.height = 1;
  ASSERT_EQ(cuGraphExecMemsetNodeSetParams(executable, fill, &parameters, context_), CUDA_SUCCESS);
  gate.open = true;
  ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(Written(), 1);
  LaunchAndWait(executable);
  EXPECT_EQ(Written(), 2);
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
}

class LostContextTest : public ConditionalTest {
 protected:
  // The process is not usable afterwards, so that it happens in one that dies: exit code 7 says that it went as it
  // should.
  void SetUp() override {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    ConditionalTest::SetUp();
  }
};

using LostContextDeathTest = LostContextTest;

// The loop's kernel sets a handle that is not its own, so that nothing but the lost context ends the loop.
TEST_F(LostContextDeathTest, EndsALoop) {
  const auto run = [&] {
    const CUgraph graph = MakeGraph();
    const CUgraphConditionalHandle handle = MakeHandle(graph);
    CUgraph body = nullptr;
    AddConditional(graph, handle, CU_GRAPH_COND_TYPE_WHILE, &body);
    AddSetCondition(body, handle + 100, 0);
    const CUgraphExec executable = Instantiate(graph);
    if (cuGraphLaunch(executable, stream_) != CUDA_SUCCESS) std::_Exit(1);
    std::_Exit(cuStreamSynchronize(stream_) == CUDA_ERROR_ILLEGAL_ADDRESS ? 7 : 2);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(7), "the context is lost: a kernel sets a conditional handle");
}

TEST_F(LostContextDeathTest, KernelOutsideOfAGraphSetsNothing) {
  const auto run = [&] {
    CUfunction function = nullptr;
    if (cuModuleGetFunction(&function, module_, "set_condition") != CUDA_SUCCESS) std::_Exit(1);
    std::uint64_t handle = MakeHandle(MakeGraph());
    std::uint32_t value = 1;
    void* arguments[] = {&handle, &value};
    if (cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr) != CUDA_SUCCESS) std::_Exit(1);
    std::_Exit(cuStreamSynchronize(stream_) == CUDA_ERROR_ILLEGAL_ADDRESS ? 7 : 2);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(7), "the context is lost: a kernel sets a conditional handle");
}

}  // namespace
}  // namespace holdfast::fault
