// Stream capture in the model driver, as far as the facts do not ask for it (tests/conformance): what is left alive,
// who delivers destructors, what is noticed where the real driver uses freed memory, and threads.
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/fault/model/driver_fixture.h"

namespace holdfast::fault {
namespace {

class CaptureTest : public DriverTest {
 protected:
  void SetUp() override {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    DriverTest::SetUp();
    ASSERT_EQ(cuStreamCreate(&other_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }

  static void Begin(CUstream stream, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED) {
    ASSERT_EQ(cuStreamBeginCapture(stream, mode), CUDA_SUCCESS);
  }

  static CUgraph GraphOf(CUstream stream) {
    CUstreamCaptureStatus status{};
    CUgraph graph = nullptr;
    EXPECT_EQ(cuStreamGetCaptureInfo(stream, &status, nullptr, &graph, nullptr, nullptr, nullptr), CUDA_SUCCESS);
    return graph;
  }

  static void Own(CUgraph graph, Payload* payload) {
    ASSERT_EQ(cuGraphRetainUserObject(graph, MakeObject(payload), 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
  }

  static void Follow(CUstream to, CUstream from) {
    CUevent event = nullptr;
    ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuEventRecord(event, from), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWaitEvent(to, event, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  }

  static void Invalidate(CUstream stream) {
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  }

  static CUresult End(CUstream stream) {
    CUgraph graph = nullptr;
    const CUresult result = cuStreamEndCapture(stream, &graph);
    if (result == CUDA_SUCCESS) {
      EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    }
    return result;
  }

  // A parent with a conditional node; the body.
  CUgraph AddBody(CUgraph parent) {
    CUgraphConditionalHandle handle = 0;
    EXPECT_EQ(cuGraphConditionalHandleCreate(&handle, parent, context_, 0, CU_GRAPH_COND_ASSIGN_DEFAULT), CUDA_SUCCESS);
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    parameters.conditional.handle = handle;
    parameters.conditional.type = CU_GRAPH_COND_TYPE_IF;
    parameters.conditional.size = 1;
    parameters.conditional.ctx = context_;
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddNode(&node, parent, nullptr, nullptr, 0, &parameters), CUDA_SUCCESS);
    return parameters.conditional.phGraph_out[0];
  }

  CUstream other_ = nullptr;
};

using CaptureDeathTest = CaptureTest;

TEST_F(CaptureTest, OnlyANullPointerLeavesAGraphBehind) {
  const auto graphs = [] { return control().live().graphs; };
  Begin(stream_);
  EXPECT_EQ(graphs(), 1u);
  Invalidate(stream_);
  EXPECT_EQ(End(stream_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(graphs(), 0u);
  Begin(stream_);
  Follow(other_, stream_);
  ASSERT_EQ(cuLaunchHostFunc(other_, &DoNothing, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(End(stream_), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(graphs(), 0u);
  Begin(stream_);
  const CUgraph leaked = GraphOf(stream_);
  ASSERT_EQ(cuStreamEndCapture(stream_, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(graphs(), 1u);
  ASSERT_EQ(cuGraphDestroy(leaked), CUDA_SUCCESS);
}

TEST_F(CaptureTest, TheKnobSaysWhoDeliversWhatAFailedEndDrops) {
  Payload payload;
  Begin(stream_);
  Own(GraphOf(stream_), &payload);
  Invalidate(stream_);
  control().set_delivery(Delivery::kHeld);
  EXPECT_EQ(End(stream_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  control().quiesce();
  EXPECT_EQ(payload.runs.load(), 0);
  control().release_held();
  control().quiesce();
  EXPECT_EQ(payload.runs.load(), 1);
  EXPECT_FALSE(payload.ran_here());
}

// A destructor that captures.
struct CapturingPayload {
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUresult end = CUDA_ERROR_UNKNOWN;

  static void Destroy(void* payload) {
    auto* self = static_cast<CapturingPayload*>(payload);
    EXPECT_EQ(cuStreamBeginCapture(self->stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    self->end = cuStreamEndCapture(self->stream, &self->graph);
  }
};

// Destructors run once the failed end has let go of all that it held.
TEST_F(CaptureTest, ADestructorOfAFailedEndCanCapture) {
  CapturingPayload payload{other_};
  CUuserObject object = nullptr;
  ASSERT_EQ(cuUserObjectCreate(&object, &payload, &CapturingPayload::Destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
            CUDA_SUCCESS);
  Begin(stream_);
  const CUgraph failed = GraphOf(stream_);
  ASSERT_EQ(cuGraphRetainUserObject(failed, object, 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
  Invalidate(stream_);
  EXPECT_EQ(End(stream_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(payload.end, CUDA_SUCCESS);
  EXPECT_EQ(payload.graph, failed) << "the handle of the failed capture's graph was free by then";
  ASSERT_EQ(cuGraphDestroy(payload.graph), CUDA_SUCCESS);
}

TEST_F(CaptureTest, CapturedCopiesAndFillsMoveBytesWhenLaunched) {
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 64), CUDA_SUCCESS);
  std::vector<unsigned char> from(16, 5);
  std::vector<unsigned char> to(32, 0);
  Begin(stream_);
  ASSERT_EQ(cuMemsetD8Async(memory, 9, 32, stream_), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD2D8Async(memory + 16, 8, 7, 4, 2, stream_), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoDAsync(memory, from.data(), 8, stream_), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoHAsync(to.data(), memory, 32, stream_), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  ASSERT_EQ(cuStreamEndCapture(stream_, &graph), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(to, std::vector<unsigned char>(32, 0)) << "nothing runs while it is captured";
  const CUgraphExec executable = Instantiate(graph);
  LaunchAndWait(executable);
  const std::vector<unsigned char> expected = {5, 5, 5, 5, 5, 5, 5, 5, 9, 9, 9, 9, 9, 9, 9, 9,
                                               7, 7, 7, 7, 9, 9, 9, 9, 7, 7, 7, 7, 9, 9, 9, 9};
  EXPECT_EQ(to, expected);
  ASSERT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

// A thread that began a capture and ended is no other thread, whatever numbers the system gives out again.
TEST_F(CaptureTest, ThreadsThatFollowEachOtherAreDifferent) {
  for (int i = 0; i < 20; ++i) {
    std::thread([this] { Begin(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL); }).join();
    CUresult end = CUDA_SUCCESS;
    std::thread([this, &end] { end = End(stream_); }).join();
    EXPECT_EQ(end, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  }
}

// Each thread has a branch of its own and works on it while the others do.
TEST_F(CaptureTest, ThreadsCaptureIntoOneGraphAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kNodes = 500;
  Begin(stream_);
  std::vector<CUstream> branches(kThreads);
  for (CUstream& branch : branches) {
    ASSERT_EQ(cuStreamCreate(&branch, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    Follow(branch, stream_);
  }
  std::vector<std::thread> threads;
  for (const CUstream branch : branches) {
    threads.emplace_back([branch] {
      for (int i = 0; i < kNodes; ++i) EXPECT_EQ(cuLaunchHostFunc(branch, &DoNothing, nullptr), CUDA_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const CUstream branch : branches) Follow(stream_, branch);
  const CUgraph graph = GraphOf(stream_);
  std::size_t nodes = 0;
  std::size_t edges = 0;
  ASSERT_EQ(cuGraphGetNodes(graph, nullptr, &nodes), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges), CUDA_SUCCESS);
  EXPECT_EQ(nodes, std::size_t{kThreads} * kNodes);
  EXPECT_EQ(edges, std::size_t{kThreads} * (kNodes - 1));
  EXPECT_EQ(End(stream_), CUDA_SUCCESS);
}

// Unsafe calls, work and ends of many captures against each other: every one either goes through or is refused, and no
// graph is left.
TEST_F(CaptureTest, CapturesAndUnsafeCallsOfManyThreads) {
  constexpr int kRounds = 200;
  const auto capture = [this](CUstreamCaptureMode mode) {
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    CUstream stream = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    for (int i = 0; i < kRounds; ++i) {
      Begin(stream, mode);
      const CUresult work = cuLaunchHostFunc(stream, &DoNothing, nullptr);
      EXPECT_TRUE(work == CUDA_SUCCESS || work == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
      const CUresult end = End(stream);
      EXPECT_TRUE(end == CUDA_SUCCESS || end == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
  };
  const auto allocate = [this] {
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    for (int i = 0; i < kRounds; ++i) {
      CUdeviceptr memory = 0;
      const CUresult result = cuMemAlloc(&memory, 64);
      EXPECT_TRUE(result == CUDA_SUCCESS || result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
  };
  std::vector<std::thread> threads;
  threads.emplace_back(capture, CU_STREAM_CAPTURE_MODE_GLOBAL);
  threads.emplace_back(capture, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  threads.emplace_back(capture, CU_STREAM_CAPTURE_MODE_RELAXED);
  threads.emplace_back(allocate);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(control().live().graphs, 0u);
}

// With time that grows with the square it takes half a minute.
TEST_F(CaptureTest, TheTimeOfAWideJoinIsLinear) {
  Begin(stream_);
  const CUgraph graph = GraphOf(stream_);
  std::vector<CUgraphNode> nodes(200'000);
  for (CUgraphNode& node : nodes) ASSERT_EQ(cuGraphAddEmptyNode(&node, graph, nullptr, 0), CUDA_SUCCESS);
  const auto start = std::chrono::steady_clock::now();
  for (const unsigned int flags : {CU_STREAM_ADD_CAPTURE_DEPENDENCIES, CU_STREAM_SET_CAPTURE_DEPENDENCIES}) {
    ASSERT_EQ(cuStreamUpdateCaptureDependencies(stream_, nodes.data(), nullptr, nodes.size(), flags), CUDA_SUCCESS);
  }
  ASSERT_EQ(cuLaunchHostFunc(stream_, &DoNothing, nullptr), CUDA_SUCCESS);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(End(stream_), CUDA_SUCCESS);
}

TEST_F(CaptureTest, PartsThatAreNotModelledAreWrittenDown) {
  const auto is_noted = [](const char* name) {
    return std::string(control().unmodelled()).find(name) != std::string::npos;
  };
  EXPECT_EQ(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_TRUE(is_noted("cuStreamBeginCapture_v2"));
  Begin(stream_);
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddEmptyNode(&node, GraphOf(stream_), nullptr, 0), CUDA_SUCCESS);
  CUgraphEdgeData edge{};
  edge.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  EXPECT_EQ(cuStreamUpdateCaptureDependencies(stream_, &node, &edge, 1, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_TRUE(is_noted("cuStreamUpdateCaptureDependencies_v2"));
  EXPECT_EQ(End(stream_), CUDA_SUCCESS);
}

// The real driver writes to a body that is gone.
TEST_F(CaptureDeathTest, WorkIntoABodyThatWentWithItsParent) {
  const CUgraph parent = MakeGraph();
  const CUgraph body = AddBody(parent);
  ASSERT_EQ(cuStreamBeginCaptureToGraph(stream_, body, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_SUCCESS);
  const auto destroy_then = [&](const std::function<void()>& last) {
    cuGraphDestroy(parent);
    MakeGraph();  // has the parent's handle, and the next one the body's
    MakeGraph();
    last();
  };
  constexpr char kGone[] = "the capture's graph was destroyed with the graph that owns it";
  EXPECT_DEATH(destroy_then([this] { cuLaunchHostFunc(stream_, &DoNothing, nullptr); }), kGone);
  EXPECT_DEATH(destroy_then([this] { cuStreamEndCapture(stream_, nullptr); }), kGone);
  EXPECT_EQ(cuStreamEndCapture(stream_, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphDestroy(parent), CUDA_SUCCESS);
}

// Whoever comes to the body through its parent uses freed memory on the real driver; through its handle nobody does.
TEST_F(CaptureDeathTest, ABodyThatAFailedCaptureDestroyed) {
  const auto break_then = [this](const std::function<void(CUgraph)>& last) {
    const CUgraph parent = MakeGraph();
    cuStreamBeginCaptureToGraph(stream_, AddBody(parent), nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_RELAXED);
    cuStreamSynchronize(stream_);
    cuStreamEndCapture(stream_, nullptr);
    last(parent);
  };
  const auto dies = [&](const char* call) {
    return std::string(call) + ": a node owns a graph that was destroyed when a capture into it failed";
  };
  EXPECT_DEATH(break_then([](CUgraph parent) { cuGraphDestroy(parent); }), dies("cuGraphDestroy"));
  EXPECT_DEATH(break_then([](CUgraph parent) {
                 CUgraphExec executable = nullptr;
                 cuGraphInstantiateWithFlags(&executable, parent, 0);
               }),
               dies("cuGraphInstantiateWithFlags"));
  EXPECT_DEATH(break_then([](CUgraph parent) {
                 CUgraphNode node = nullptr;
                 std::size_t one = 1;
                 cuGraphGetNodes(parent, &node, &one);
                 cuGraphDestroyNode(node);
               }),
               dies("cuGraphDestroyNode"));
}

// As for graphs that are built by hand: a capture is a user of its graph.
TEST_F(CaptureDeathTest, TwoThreadsInOneCapturedGraph) {
  const auto race = [this] {
    Begin(stream_);
    const CUgraph graph = GraphOf(stream_);
    constexpr int kCalls = 200'000;
    std::thread builder([graph] {
      CUgraphNode node = nullptr;
      for (int i = 0; i < kCalls; ++i) cuGraphAddEmptyNode(&node, graph, nullptr, 0);
    });
    for (int i = 0; i < kCalls; ++i) cuLaunchHostFunc(stream_, &DoNothing, nullptr);
    builder.join();
  };
  EXPECT_DEATH(race(), "another thread is inside a call on the same graph");
}

TEST_F(CaptureDeathTest, AnEventThatIsDestroyed) {
  CUevent event = nullptr;
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  Begin(stream_);
  EXPECT_DEATH(cuStreamWaitEvent(stream_, event, 0), "cuStreamWaitEvent: the event is destroyed already");
  EXPECT_EQ(End(stream_), CUDA_SUCCESS);
}

}  // namespace
}  // namespace holdfast::fault
