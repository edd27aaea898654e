// Many threads, each with graphs of its own, against the driver's shared state; and size, for what must stay linear.
#include <vector>

#include "tests/fault/model/driver_fixture.h"

namespace holdfast::fault {
namespace {

class StressTest : public DriverTest, public testing::WithParamInterface<std::pair<Delivery, HandleReuse>> {};

// Each thread builds, clones, instantiates, launches, updates and destroys. Every destructor runs once, and nothing is
// left.
TEST_P(StressTest, ThreadsWithGraphsOfTheirOwn) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 60;
  constexpr int kObjectsARound = 3;
  control().set_delivery(GetParam().first);
  control().set_handle_reuse(GetParam().second);
  std::vector<Payload> payloads(kThreads * kRounds * kObjectsARound);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
      CUstream stream = nullptr;
      ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
      for (int round = 0; round < kRounds; ++round) {
        Payload* mine = &payloads[(thread * kRounds + round) * kObjectsARound];
        const CUgraph graph = MakeOwner(&mine[0]);
        const CUgraph source = MakeOwner(&mine[1]);
        const CUuserObject shared = MakeObject(&mine[2]);
        ASSERT_EQ(cuGraphRetainUserObject(source, shared, 1, 0), CUDA_SUCCESS);
        CUgraph clone = nullptr;
        ASSERT_EQ(cuGraphClone(&clone, graph), CUDA_SUCCESS);
        const CUgraphExec executable = Instantiate(clone);
        ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
        ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
        CUgraphExecUpdateResultInfo info{};
        ASSERT_EQ(cuGraphExecUpdate(executable, source, &info), CUDA_SUCCESS);
        ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
        ASSERT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
        ASSERT_EQ(cuGraphDestroy(clone), CUDA_SUCCESS);
        ASSERT_EQ(cuUserObjectRelease(shared, 1), CUDA_SUCCESS);
        ASSERT_EQ(cuGraphDestroy(source), CUDA_SUCCESS);
      }
      ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
      ASSERT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
  control().quiesce();
  control().release_held();
  control().quiesce();
  for (const Payload& payload : payloads) EXPECT_EQ(payload.runs.load(), 1);
}

INSTANTIATE_TEST_SUITE_P(Knobs, StressTest,
                         testing::Values(std::pair{Delivery::kInline, HandleReuse::kAtOnce},
                                         std::pair{Delivery::kThread, HandleReuse::kAtOnce},
                                         std::pair{Delivery::kHeld, HandleReuse::kNever},
                                         std::pair{Delivery::kMixed, HandleReuse::kAtOnce}));

using ScaleTest = DriverTest;

// Quadratic work at this size would take minutes; the limit on the whole test is Bazel's.
TEST_F(ScaleTest, HundredThousandNodesAndObjects) {
  constexpr int kCount = 100'000;
  std::vector<Payload> payloads(kCount);
  const CUgraph graph = MakeGraph();
  std::vector<CUgraphNode> nodes(kCount);
  const CUgraphNode root = AddHost(graph);
  for (int i = 0; i < kCount; ++i) {
    nodes[i] = AddHost(graph, &DoNothing, nullptr, &root);
    ASSERT_EQ(cuGraphRetainUserObject(graph, MakeObject(&payloads[i]), 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
  }
  CUgraph clone = nullptr;
  ASSERT_EQ(cuGraphClone(&clone, graph), CUDA_SUCCESS);
  for (int i = 0; i < kCount; i += 100) {
    CUgraphNode found = nullptr;
    ASSERT_EQ(cuGraphNodeFindInClone(&found, nodes[i], clone), CUDA_SUCCESS);
  }
  const CUgraphExec executable = Instantiate(clone);
  LaunchAndWait(executable);
  CUDA_HOST_NODE_PARAMS parameters{};
  parameters.fn = &DoNothing;
  for (int i = 0; i < kCount; i += 100) {
    CUgraphNode found = nullptr;
    ASSERT_EQ(cuGraphNodeFindInClone(&found, nodes[i], clone), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphExecHostNodeSetParams(executable, found, &parameters), CUDA_SUCCESS);
  }
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphDestroy(clone), CUDA_SUCCESS);
  EXPECT_EQ(payloads[0].runs.load(), 0);
  ASSERT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  control().quiesce();
  for (const Payload& payload : payloads) ASSERT_EQ(payload.runs.load(), 1);
}

// An object released and retained over and over on a graph that holds many.
TEST_F(ScaleTest, SupersedingReferencesOneByOne) {
  constexpr int kCount = 20'000;
  std::vector<Payload> payloads(2 * kCount);
  const CUgraph graph = MakeGraph();
  std::vector<CUuserObject> objects(kCount);
  for (int i = 0; i < kCount; ++i) {
    objects[i] = MakeObject(&payloads[i]);
    ASSERT_EQ(cuGraphRetainUserObject(graph, objects[i], 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
  }
  for (int i = 0; i < kCount; ++i) {
    const CUuserObject next = MakeObject(&payloads[kCount + i]);
    ASSERT_EQ(cuGraphRetainUserObject(graph, next, 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphReleaseUserObject(graph, objects[i], 1), CUDA_SUCCESS);
    EXPECT_EQ(payloads[i].runs.load(), 1);
  }
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  for (const Payload& payload : payloads) ASSERT_EQ(payload.runs.load(), 1);
}

}  // namespace
}  // namespace holdfast::fault
