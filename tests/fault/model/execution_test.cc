// What executables run: order, parameters as they were at the launch, contents of memory, kernels, events.
#include <array>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "tests/fault/model/driver_fixture.h"

namespace holdfast::fault {
namespace {

class ExecutionTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(cuMemAlloc(&memory_, kBytes), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD8(memory_, 0, kBytes), CUDA_SUCCESS);
  }

  static constexpr std::size_t kBytes = 256;

  CUgraphNode AddMemset(CUgraph graph, unsigned int value, unsigned int element_bytes, std::size_t width,
                        std::size_t height = 1, std::size_t pitch = 0) {
    CUDA_MEMSET_NODE_PARAMS parameters{};
    parameters.dst = memory_;
    parameters.value = value;
    parameters.elementSize = element_bytes;
    parameters.width = width;
    parameters.height = height;
    parameters.pitch = pitch;
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &parameters, context_), CUDA_SUCCESS);
    return node;
  }

  std::array<unsigned char, kBytes> Contents() {
    std::array<unsigned char, kBytes> bytes{};
    EXPECT_EQ(cuMemcpyDtoH(bytes.data(), memory_, bytes.size()), CUDA_SUCCESS);
    return bytes;
  }

  CUdeviceptr memory_ = 0;
};

// Letters appended by host nodes. One launch at a time, so that the string needs no lock.
struct Letter {
  std::string* text;
  char letter;
  static void Append(void* payload) {
    auto* self = static_cast<Letter*>(payload);
    self->text->push_back(self->letter);
  }
};

TEST_F(ExecutionTest, DependenciesComeFirstWhateverTheOrderOfAdding) {
  std::string text;
  Letter letters[] = {{&text, 'd'}, {&text, 'c'}, {&text, 'b'}, {&text, 'a'}};
  const CUgraph graph = MakeGraph();
  CUgraphNode nodes[4];
  for (int i = 0; i < 4; ++i) nodes[i] = AddHost(graph, &Letter::Append, &letters[i]);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(cuGraphAddDependencies(graph, &nodes[i + 1], &nodes[i], nullptr, 1), CUDA_SUCCESS);
  }
  const CUgraphExec executable = Instantiate(graph);
  LaunchAndWait(executable);
  EXPECT_EQ(text, "abcd");
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
}

TEST_F(ExecutionTest, ChildGraphsRunInTheirPlace) {
  std::string text;
  Letter a{&text, 'a'};
  Letter b{&text, 'b'};
  Letter c{&text, 'c'};
  const CUgraph child = MakeGraph();
  AddHost(child, &Letter::Append, &b);
  const CUgraph graph = MakeGraph();
  const CUgraphNode first = AddHost(graph, &Letter::Append, &a);
  CUgraphNode middle = nullptr;
  ASSERT_EQ(cuGraphAddChildGraphNode(&middle, graph, &first, 1, child), CUDA_SUCCESS);
  AddHost(graph, &Letter::Append, &c, &middle);
  const CUgraphExec executable = Instantiate(graph);
  LaunchAndWait(executable);
  LaunchAndWait(executable);
  EXPECT_EQ(text, "abcabc");
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
  cuGraphDestroy(child);
}

TEST_F(ExecutionTest, LaunchKeepsTheParametersThatItBeganWith) {
  std::string text;
  Letter old_letter{&text, 'o'};
  Letter new_letter{&text, 'n'};
  Gate gate;
  const CUgraph graph = MakeGraph();
  const CUgraphNode blocker = AddHost(graph, &Gate::Wait, &gate);
  const CUgraphNode node = AddHost(graph, &Letter::Append, &old_letter, &blocker);
  const CUgraphExec executable = Instantiate(graph);
  ASSERT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
  CUDA_HOST_NODE_PARAMS parameters{};
  parameters.fn = &Letter::Append;
  parameters.userData = &new_letter;
  ASSERT_EQ(cuGraphExecHostNodeSetParams(executable, node, &parameters), CUDA_SUCCESS);
  gate.open = true;
  ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(text, "o");
  LaunchAndWait(executable);
  EXPECT_EQ(text, "on");
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
}

TEST_F(ExecutionTest, MemsetNodesWriteElementsAndRows) {
  const CUgraph graph = MakeGraph();
  AddMemset(graph, 0x01020304, 4, 2, 2, 16);
  const CUgraphExec executable = Instantiate(graph);
  LaunchAndWait(executable);
  const auto bytes = Contents();
  for (const std::size_t row : {0, 16}) {
    EXPECT_EQ(bytes[row], 4);
    EXPECT_EQ(bytes[row + 7], 1);
    EXPECT_EQ(bytes[row + 8], 0) << "behind the row";
  }
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
}

TEST_F(ExecutionTest, DisabledNodeDoesNotRunAndEnabledAgainDoes) {
  const CUgraph graph = MakeGraph();
  const CUgraphNode node = AddMemset(graph, 9, 1, 1);
  const CUgraphExec executable = Instantiate(graph);
  ASSERT_EQ(cuGraphNodeSetEnabled(executable, node, 0), CUDA_SUCCESS);
  LaunchAndWait(executable);
  EXPECT_EQ(Contents()[0], 0);
  ASSERT_EQ(cuGraphNodeSetEnabled(executable, node, 1), CUDA_SUCCESS);
  LaunchAndWait(executable);
  EXPECT_EQ(Contents()[0], 9);
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
}

TEST_F(ExecutionTest, MemcpyNodesGoBothWays) {
  std::array<unsigned char, 16> source{};
  source.fill(5);
  std::array<unsigned char, 16> target{};
  const CUgraph graph = MakeGraph();
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = source.data();
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = memory_;
  copy.WidthInBytes = source.size();
  copy.Height = copy.Depth = 1;
  CUgraphNode up = nullptr;
  CUgraphNode down = nullptr;
  ASSERT_EQ(cuGraphAddMemcpyNode(&up, graph, nullptr, 0, &copy, context_), CUDA_SUCCESS);
  CUDA_MEMCPY3D back{};
  back.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  back.srcDevice = memory_;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = target.data();
  back.WidthInBytes = target.size();
  back.Height = back.Depth = 1;
  ASSERT_EQ(cuGraphAddMemcpyNode(&down, graph, &up, 1, &back, context_), CUDA_SUCCESS);
  const CUgraphExec executable = Instantiate(graph);
  LaunchAndWait(executable);
  EXPECT_EQ(source, target);
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
}

constexpr char kPtx[] = ".version 7.0\n.entry add_to(.param .u64 target, .param .u32 amount) { ret; }\n";

void AddTo(void** parameters, const LaunchShape& shape) {
  auto* target = *static_cast<std::uint32_t**>(parameters[0]);
  *target += *static_cast<std::uint32_t*>(parameters[1]) * shape.grid[0] * shape.block[0];
}

TEST_F(ExecutionTest, KernelNodesRunTheRegisteredBodyWithCopiedArguments) {
  control().register_kernel("add_to", &AddTo);
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  ASSERT_EQ(cuLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "add_to"), CUDA_SUCCESS);
  std::uint32_t amount = 7;
  void* arguments[] = {&memory_, &amount};
  CUDA_KERNEL_NODE_PARAMS parameters{};
  parameters.kern = kernel;
  parameters.gridDimX = 2;
  parameters.blockDimX = 3;
  parameters.gridDimY = parameters.gridDimZ = parameters.blockDimY = parameters.blockDimZ = 1;
  parameters.kernelParams = arguments;
  const CUgraph graph = MakeGraph();
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddKernelNode(&node, graph, nullptr, 0, &parameters), CUDA_SUCCESS);
  amount = 1000;
  const CUgraphExec executable = Instantiate(graph);
  LaunchAndWait(executable);
  std::uint32_t sum = 0;
  ASSERT_EQ(cuMemcpyDtoH(&sum, memory_, sizeof(sum)), CUDA_SUCCESS);
  EXPECT_EQ(sum, 42u);
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
}

TEST_F(ExecutionTest, ArgumentsInOneBuffer) {
  control().register_kernel("add_to", &AddTo);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, kPtx), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "add_to"), CUDA_SUCCESS);
  struct {
    CUdeviceptr target;
    std::uint32_t amount;
  } block{memory_, 5};
  std::size_t bytes = offsetof(decltype(block), amount) + sizeof(block.amount);  // a longer buffer is refused
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream_, nullptr, extra), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  std::uint32_t sum = 0;
  ASSERT_EQ(cuMemcpyDtoH(&sum, memory_, sizeof(sum)), CUDA_SUCCESS);
  EXPECT_EQ(sum, 5u);
}

TEST_F(ExecutionTest, KernelWithoutABodyIsNotFound) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, ".version 7.0\n.entry nobody() { ret; }\n"), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetFunction(&function, module, "nobody"), CUDA_ERROR_NOT_FOUND);
}

TEST_F(ExecutionTest, EventNodesOrderStreams) {
  CUevent event = nullptr;
  CUstream other = nullptr;
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  Gate gate;
  std::string text;
  Letter letter{&text, 'x'};
  const CUgraph graph = MakeGraph();
  const CUgraphNode blocker = AddHost(graph, &Gate::Wait, &gate);
  const CUgraphNode append = AddHost(graph, &Letter::Append, &letter, &blocker);
  CUgraphNode record = nullptr;
  ASSERT_EQ(cuGraphAddEventRecordNode(&record, graph, &append, 1, event), CUDA_SUCCESS);
  const CUgraphExec executable = Instantiate(graph);
  ASSERT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(other, event, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
  gate.open = true;
  ASSERT_EQ(cuStreamSynchronize(other), CUDA_SUCCESS);
  EXPECT_EQ(text, "x");
  ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
}

TEST_F(ExecutionTest, NullStreamWaitsForBlockingStreamsAndTheyForIt) {
  CUstream blocking = nullptr;
  ASSERT_EQ(cuStreamCreate(&blocking, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  Gate first;
  Gate second;
  ASSERT_EQ(cuLaunchHostFunc(blocking, &Gate::Wait, &first), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchHostFunc(nullptr, &Gate::Wait, &second), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchHostFunc(blocking, &DoNothing, nullptr), CUDA_SUCCESS);
  second.open = true;
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY) << "the blocking stream comes first";
  EXPECT_EQ(cuStreamQuery(stream_), CUDA_SUCCESS) << "a non-blocking stream is not concerned";
  first.open = true;
  ASSERT_EQ(cuStreamSynchronize(blocking), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_SUCCESS);
}

TEST_F(ExecutionTest, LaunchesOfOneExecutableRunOneAfterTheOther) {
  CUstream other = nullptr;
  ASSERT_EQ(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  Gate gate;
  const CUgraph graph = MakeGraph();
  AddHost(graph, &Gate::Wait, &gate);
  const CUgraphExec executable = Instantiate(graph);
  ASSERT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(executable, other), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
  gate.open = true;
  EXPECT_EQ(cuStreamSynchronize(other), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream_), CUDA_SUCCESS);
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
}

}  // namespace
}  // namespace holdfast::fault
