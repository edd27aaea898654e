// What makes the real driver crash: the model says in one line which call misused what, and aborts.
#include <string>
#include <thread>

#include "tests/fault/model/driver_fixture.h"

namespace holdfast::fault {
namespace {

class MisuseTest : public DriverTest {
 protected:
  void SetUp() override {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    DriverTest::SetUp();
  }
};

using MisuseDeathTest = MisuseTest;

TEST_F(MisuseDeathTest, NodeDestroyedTwice) {
  const CUgraph graph = MakeGraph();
  const CUgraphNode node = AddHost(graph);
  cuGraphDestroyNode(node);
  EXPECT_DEATH(cuGraphDestroyNode(node), "cuGraphDestroyNode: the node is destroyed already");
  cuGraphDestroy(graph);
}

TEST_F(MisuseDeathTest, FindInCloneAfterTheOriginalIsGone) {
  const CUgraph graph = MakeGraph();
  const CUgraphNode node = AddHost(graph);
  CUgraph clone = nullptr;
  ASSERT_EQ(cuGraphClone(&clone, graph), CUDA_SUCCESS);
  cuGraphDestroy(graph);
  CUgraphNode found = nullptr;
  EXPECT_DEATH(cuGraphNodeFindInClone(&found, node, clone), "cuGraphNodeFindInClone: the original node");
  cuGraphDestroy(clone);
}

TEST_F(MisuseDeathTest, GraphDropsAnObjectThatDied) {
  const auto drop = [] {
    Payload payload;
    const CUuserObject object = MakeObject(&payload);
    const CUgraph holder = MakeGraph();
    const CUgraph other = MakeGraph();
    cuGraphRetainUserObject(holder, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    cuGraphReleaseUserObject(other, object, 1);
    cuGraphDestroy(holder);
  };
  EXPECT_DEATH(drop(), "cuGraphDestroy: a reference is dropped of a user object that is already destroyed");
}

// Even if its record is in use again: the reference is to the object that died.
TEST_F(MisuseDeathTest, GraphDropsAnObjectWhoseHandleIsInUseAgain) {
  const auto drop = [] {
    Payload first;
    Payload second;
    const CUuserObject object = MakeObject(&first);
    const CUgraph holder = MakeGraph();
    const CUgraph other = MakeGraph();
    cuGraphRetainUserObject(holder, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    cuGraphReleaseUserObject(other, object, 1);
    if (MakeObject(&second) != object) return;
    cuGraphDestroy(holder);
  };
  EXPECT_DEATH(drop(), "already destroyed");
}

// thread 1: set params of the node ...... mark taken ...... mark given back
// thread 2:                                     set params of the node: the mark is another's
TEST_F(MisuseDeathTest, TwoThreadsInOneGraph) {
  const auto race = [] {
    const CUgraph graph = MakeGraph();
    const CUgraphNode node = AddHost(graph);
    std::atomic<bool> stop{false};
    const auto use = [&] {
      CUgraphNodeParams parameters{};
      parameters.type = CU_GRAPH_NODE_TYPE_HOST;
      parameters.host.fn = &DoNothing;
      while (!stop.load()) cuGraphNodeSetParams(node, &parameters);
    };
    std::thread first(use);
    std::thread second(use);
    Eventually([] { return false; });
    stop = true;
    first.join();
    second.join();
  };
  EXPECT_DEATH(race(), "another thread is inside a call on the same graph");
}

TEST_F(MisuseDeathTest, GraphEmbeddedInItself) {
  const CUgraph graph = MakeGraph();
  CUgraphNode node = nullptr;
  EXPECT_DEATH(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, graph), "embedded in itself");
  cuGraphDestroy(graph);
}

TEST_F(MisuseDeathTest, KernelUnloadedBeforeItIsInstantiated) {
  control().register_kernel("nothing", [](void**, const LaunchShape&) {});
  CUDA_KERNEL_NODE_PARAMS parameters{};
  CUlibrary library = nullptr;
  ASSERT_EQ(cuLibraryLoadData(&library, ".version 7.0\n.entry nothing() { ret; }\n", nullptr, nullptr, 0, nullptr,
                              nullptr, 0),
            CUDA_SUCCESS);
  ASSERT_EQ(cuLibraryGetKernel(&parameters.kern, library, "nothing"), CUDA_SUCCESS);
  parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
  parameters.blockDimX = parameters.blockDimY = parameters.blockDimZ = 1;
  const CUgraph graph = MakeGraph();
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddKernelNode(&node, graph, nullptr, 0, &parameters), CUDA_SUCCESS);
  const CUgraphExec executable = Instantiate(graph);
  ASSERT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
  LaunchAndWait(executable);
  CUgraphExec next = nullptr;
  EXPECT_DEATH(cuGraphInstantiateWithFlags(&next, graph, 0), "kernel is unloaded");
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
}

TEST_F(MisuseTest, MemoryFreedUnderALaunchLosesTheContextAndWritesNothing) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto run = [this] {
    CUdeviceptr memory = 0;
    cuMemAlloc(&memory, 64);
    CUDA_MEMSET_NODE_PARAMS parameters{};
    parameters.dst = memory;
    parameters.elementSize = 1;
    parameters.width = 64;
    parameters.height = 1;
    const CUgraph graph = MakeGraph();
    CUgraphNode node = nullptr;
    cuGraphAddMemsetNode(&node, graph, nullptr, 0, &parameters, context_);
    const CUgraphExec executable = Instantiate(graph);
    cuMemFree(memory);
    cuGraphLaunch(executable, stream_);
    const bool lost = cuStreamSynchronize(stream_) == CUDA_ERROR_LAUNCH_FAILED &&
                      cuMemAlloc(&memory, 16) == CUDA_ERROR_LAUNCH_FAILED &&
                      cuGraphExecDestroy(executable) == CUDA_SUCCESS && cuGraphDestroy(graph) == CUDA_SUCCESS;
    std::_Exit(lost ? 0 : 1);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "the context is lost: a memset node");
}

TEST_F(MisuseTest, ThreadsMayTakeTurnsOnOneGraph) {
  const CUgraph graph = MakeGraph();
  for (int i = 0; i < 8; ++i) std::thread([&] { AddHost(graph); }).join();
  std::size_t count = 0;
  EXPECT_EQ(cuGraphGetNodes(graph, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 8u);
  cuGraphDestroy(graph);
}

}  // namespace
}  // namespace holdfast::fault
