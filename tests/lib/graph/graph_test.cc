// The public graph API against the model driver: arguments, misuse and its messages. Lifetimes are the scenarios'.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/attachments/attachment.h"
#include "lib/cleanup/deferred_cleanup.h"
#include "lib/cleanup/wakeups.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"

namespace holdfast {
namespace {

using cleanup::DeferredCleanup;
using driver::GetDriver;

void CUDA_CB Nothing(void*) {}

class GraphTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    // Before Start: a definition must refuse to be made.
    EXPECT_THROW(GraphDefinition(), std::logic_error);
    EXPECT_FALSE(DeferredCleanup::Process().Shutdown());
    EXPECT_THROW(DeferredCleanup::Process().Start(nullptr), std::invalid_argument);
    DeferredCleanup::Process().Start(std::make_unique<cleanup::ManualWakeup>());
    EXPECT_THROW(DeferredCleanup::Process().Start(std::make_unique<cleanup::ManualWakeup>()), std::logic_error);
  }

  void SetUp() override {
    CUdevice device = 0;
    ASSERT_EQ(GetDriver().cuDeviceGet(&device, 0), CUDA_SUCCESS);
    CUcontext context = nullptr;
    ASSERT_EQ(GetDriver().cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
    ASSERT_EQ(GetDriver().cuCtxSetCurrent(context), CUDA_SUCCESS);
  }

  void TearDown() override {
    DeferredCleanup::Process().Drain();
    EXPECT_FALSE(DeferredCleanup::Process().HasWork());
  }
};

template <typename Error, typename Function>
std::string MessageOf(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_F(GraphTest, DependencyOfAnotherGraphIsRefused) {
  GraphDefinition first, second;
  const GraphNode node = first.AddHostNode({&Nothing, nullptr, nullptr, nullptr});
  EXPECT_EQ(MessageOf<std::logic_error>([&] {
              second.AddHostNode({&Nothing, nullptr, nullptr, nullptr}, {{node}});
            }),
            "adding a host node: a dependency belongs to another graph");
}

TEST_F(GraphTest, DestroyedDependencyIsRefused) {
  GraphDefinition graph;
  GraphNode node = graph.AddHostNode({&Nothing, nullptr, nullptr, nullptr});
  node.Destroy();
  EXPECT_EQ(MessageOf<std::logic_error>([&] {
              graph.AddHostNode({&Nothing, nullptr, nullptr, nullptr}, {{node}});
            }),
            "adding a host node: a dependency has been destroyed or never was");
}

TEST_F(GraphTest, UpdateOfAnotherKindOrDestroyedNodeIsRefused) {
  GraphDefinition graph;
  GraphNode node = graph.AddHostNode({&Nothing, nullptr, nullptr, nullptr});
  const DeviceMemoryHandle memory = DeviceMemory::Allocate(16);
  EXPECT_THROW(node.UpdateMemset(MemoryOperand::Device(memory), {.width_elements = 16}), std::logic_error);
  node.Destroy();
  EXPECT_THROW(node.UpdateHost({&Nothing, nullptr, nullptr, nullptr}), std::logic_error);
  EXPECT_THROW(GraphNode().UpdateHost({&Nothing, nullptr, nullptr, nullptr}), std::logic_error);
}

TEST_F(GraphTest, DriverErrorsCarryCallAndResult) {
  GraphDefinition graph;
  const std::string message = MessageOf<driver::DriverError>([&] { graph.AddHostNode({}); });
  EXPECT_EQ(message, "cuGraphAddHostNode: CUDA_ERROR_INVALID_VALUE (while adding a host node)");
}

TEST_F(GraphTest, RefusedMemsetUpdateKeepsTheOwner) {
  GraphDefinition graph;
  DeviceMemoryHandle memory = DeviceMemory::Allocate(16);
  const std::weak_ptr<const DeviceMemory> alive = memory;
  GraphNode node = graph.AddMemsetNode(MemoryOperand::Device(memory), {.value = 1, .width_elements = 16});
  EXPECT_THROW(node.UpdateMemset(MemoryOperand::Device(memory), {.element_size_bytes = 4, .width_elements = 5}),
               driver::DriverError);
  memory = nullptr;
  DeferredCleanup::Process().Drain();
  EXPECT_FALSE(alive.expired());
  EXPECT_EQ(node.Owners().size(), 1u);
}

TEST_F(GraphTest, MemsetOnHostMemoryIsRefused) {
  GraphDefinition graph;
  std::uint8_t byte = 0;
  EXPECT_THROW(graph.AddMemsetNode(MemoryOperand::Host(&byte, nullptr), {.width_elements = 1}), std::invalid_argument);
}

TEST_F(GraphTest, OperandsAreChecked) {
  const DeviceMemoryHandle memory = DeviceMemory::Allocate(16);
  EXPECT_THROW(MemoryOperand::Device(memory, 16), std::out_of_range);
  EXPECT_EQ(MemoryOperand::Device(memory, 15).address, memory->address() + 15);
  EXPECT_THROW(MemoryOperand::Device(DeviceMemoryHandle()), std::invalid_argument);
  EXPECT_THROW(HostCallback::FromFunction({}), std::invalid_argument);
  GraphDefinition graph;
  EXPECT_THROW(graph.AddEventRecordNode(nullptr), std::invalid_argument);
  EXPECT_THROW(graph.AddKernelNode(nullptr, {}, {}), std::invalid_argument);
}

TEST_F(GraphTest, KernelArgumentsOfAnySizeKeepTheirValues) {
  struct Large {
    std::uint64_t words[5];
  };
  KernelArguments arguments;
  arguments.Add(std::uint8_t{9}).Add(Large{{1, 2, 3, 4, 5}}).Add(3.5);
  const std::vector<void*> pointers = arguments.Pointers();
  ASSERT_EQ(pointers.size(), 3u);
  EXPECT_EQ(*static_cast<std::uint8_t*>(pointers[0]), 9);
  EXPECT_EQ(static_cast<Large*>(pointers[1])->words[4], 5u);
  EXPECT_EQ(*static_cast<double*>(pointers[2]), 3.5);
}

TEST_F(GraphTest, PayloadThatCudaNeverKnewOfIsCounted) {
  const std::uint64_t before = DeferredCleanup::Process().ReleasedDirectly();
  attachments::Attachment::Create({}) = nullptr;
  EXPECT_EQ(DeferredCleanup::Process().ReleasedDirectly(), before + 1);
}

TEST_F(GraphTest, ClosedExecutableRefusesEverything) {
  GraphDefinition graph;
  graph.AddHostNode({&Nothing, nullptr, nullptr, nullptr});
  GraphExec executable(graph);
  const StreamHandle stream = Stream::Create();
  EXPECT_THROW(executable.Launch(nullptr), std::invalid_argument);
  executable.Close();
  executable.Close();
  EXPECT_EQ(executable.raw(), nullptr);
  EXPECT_EQ(MessageOf<std::logic_error>([&] { executable.Launch(stream); }),
            "GraphExec::Launch: the executable has been closed");
  EXPECT_THROW(executable.Update(graph), std::logic_error);
}

TEST_F(GraphTest, UpdateWithAnotherTopologyIsRefusedWithTheReason) {
  GraphDefinition one, two;
  one.AddHostNode({&Nothing, nullptr, nullptr, nullptr});
  two.AddHostNode({&Nothing, nullptr, nullptr, nullptr});
  two.AddHostNode({&Nothing, nullptr, nullptr, nullptr});
  GraphExec executable(one);
  const std::string message = MessageOf<driver::DriverError>([&] { executable.Update(two); });
  EXPECT_NE(message.find("CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE"), std::string::npos) << message;
}

TEST_F(GraphTest, DrainLeavesTheCaptureModeOfItsThreadAlone) {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
  ASSERT_EQ(GetDriver().cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  CUstreamCaptureMode during = CU_STREAM_CAPTURE_MODE_GLOBAL;
  {
    GraphDefinition graph;
    const OpaqueHandle owner(&during, [&during](const void*) {
      during = CU_STREAM_CAPTURE_MODE_RELAXED;
      ASSERT_EQ(GetDriver().cuThreadExchangeStreamCaptureMode(&during), CUDA_SUCCESS);
    });
    graph.AddHostNode({&Nothing, nullptr, owner, nullptr});
  }
  DeferredCleanup::Process().Drain();
  EXPECT_EQ(during, CU_STREAM_CAPTURE_MODE_RELAXED) << "owners are released in relaxed mode";
  CUstreamCaptureMode after = CU_STREAM_CAPTURE_MODE_GLOBAL;
  ASSERT_EQ(GetDriver().cuThreadExchangeStreamCaptureMode(&after), CUDA_SUCCESS);
  EXPECT_EQ(after, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) << "the thread's own mode is back";
}

}  // namespace
}  // namespace holdfast
