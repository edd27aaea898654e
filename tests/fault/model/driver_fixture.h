// A test of the model driver: linked to it, with the primary context current, and with nothing left alive at the end.
#ifndef HOLDFAST_TESTS_FAULT_MODEL_DRIVER_FIXTURE_H_
#define HOLDFAST_TESTS_FAULT_MODEL_DRIVER_FIXTURE_H_

#include <cuda.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "fault/model/control.h"

extern "C" const holdfast::fault::ModelControl* holdfast_model_control();

namespace holdfast::fault {

// A payload that counts the runs of its destructor and notes where the last one ran.
struct Payload {
  std::atomic<int> runs{0};
  std::atomic<std::thread::id> thread{};

  static void Destroy(void* payload) {
    auto* self = static_cast<Payload*>(payload);
    self->thread.store(std::this_thread::get_id());
    self->runs.fetch_add(1);
  }
  bool ran_here() const { return runs.load() > 0 && thread.load() == std::this_thread::get_id(); }
};

// A host function that returns once the gate is open.
struct Gate {
  std::atomic<bool> open{false};
  static void Wait(void* gate) {
    while (!static_cast<Gate*>(gate)->open.load()) std::this_thread::yield();
  }
};

inline void DoNothing(void*) {}

// False if the condition does not come to hold within the deadline.
inline bool Eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

class DriverTest : public testing::Test {
 protected:
  void SetUp() override {
    control().set_delivery(Delivery::kInline);
    control().set_handle_reuse(HandleReuse::kAtOnce);
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }

  // A test leaves no graph, executable or user object behind; what belongs to the context goes with it.
  void TearDown() override {
    control().release_held();
    control().quiesce();
    EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    const ModelObjects live = control().live();
    EXPECT_EQ(live.user_objects, 0u);
    EXPECT_EQ(live.graphs, 0u);
    EXPECT_EQ(live.executables, 0u);
    EXPECT_EQ(live.streams, 0u);
    EXPECT_EQ(live.events, 0u);
    EXPECT_EQ(live.allocations, 0u);
    EXPECT_EQ(live.libraries, 0u);
  }

  static const ModelControl& control() { return *holdfast_model_control(); }

  static CUuserObject MakeObject(Payload* payload, unsigned int count = 1) {
    CUuserObject object = nullptr;
    EXPECT_EQ(cuUserObjectCreate(&object, payload, &Payload::Destroy, count, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
              CUDA_SUCCESS);
    return object;
  }

  static CUgraph MakeGraph() {
    CUgraph graph = nullptr;
    EXPECT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    return graph;
  }

  static CUgraphNode AddHost(CUgraph graph, CUhostFn function = &DoNothing, void* payload = nullptr,
                             const CUgraphNode* after = nullptr) {
    CUDA_HOST_NODE_PARAMS parameters{};
    parameters.fn = function;
    parameters.userData = payload;
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddHostNode(&node, graph, after, after == nullptr ? 0 : 1, &parameters), CUDA_SUCCESS);
    return node;
  }

  static CUgraph MakeOwner(Payload* payload, CUhostFn function = &DoNothing, void* argument = nullptr) {
    const CUgraph graph = MakeGraph();
    AddHost(graph, function, argument);
    EXPECT_EQ(cuGraphRetainUserObject(graph, MakeObject(payload), 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
    return graph;
  }

  static CUgraphExec Instantiate(CUgraph graph) {
    CUgraphExec executable = nullptr;
    EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_SUCCESS);
    return executable;
  }

  void LaunchAndWait(CUgraphExec executable) {
    ASSERT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  }

  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
};

}  // namespace holdfast::fault

#endif  // HOLDFAST_TESTS_FAULT_MODEL_DRIVER_FIXTURE_H_
