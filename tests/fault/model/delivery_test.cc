// When and where destructors run under each setting of the delivery knob, and what quiesce waits for.
#include <vector>

#include "tests/fault/model/driver_fixture.h"

namespace holdfast::fault {
namespace {

using DeliveryTest = DriverTest;

TEST_F(DeliveryTest, InlineRunsOnTheCaller) {
  Payload payload;
  cuUserObjectRelease(MakeObject(&payload), 1);
  EXPECT_TRUE(payload.ran_here());
}

TEST_F(DeliveryTest, ThreadRunsElsewhereAndQuiesceWaitsForIt) {
  control().set_delivery(Delivery::kThread);
  Payload payload;
  cuUserObjectRelease(MakeObject(&payload), 1);
  control().quiesce();
  EXPECT_EQ(payload.runs.load(), 1);
  EXPECT_FALSE(payload.ran_here());
}

TEST_F(DeliveryTest, HeldRunsOnceReleased) {
  control().set_delivery(Delivery::kHeld);
  Payload payload;
  cuGraphDestroy(MakeOwner(&payload));
  control().quiesce();
  EXPECT_EQ(payload.runs.load(), 0);
  EXPECT_EQ(control().live().user_objects, 0u) << "the object is gone, its destructor is due";
  control().release_held();
  control().quiesce();
  EXPECT_EQ(payload.runs.load(), 1);
  EXPECT_FALSE(payload.ran_here());
}

TEST_F(DeliveryTest, WhatIsHeldStaysHeldWhenTheKnobIsTurned) {
  control().set_delivery(Delivery::kHeld);
  Payload held;
  Payload later;
  cuUserObjectRelease(MakeObject(&held), 1);
  control().set_delivery(Delivery::kInline);
  cuUserObjectRelease(MakeObject(&later), 1);
  EXPECT_EQ(held.runs.load(), 0);
  EXPECT_TRUE(later.ran_here());
  control().release_held();
  control().quiesce();
  EXPECT_EQ(held.runs.load(), 1);
}

TEST_F(DeliveryTest, EndOfALaunchIsHeldToo) {
  control().set_delivery(Delivery::kHeld);
  Payload payload;
  const CUgraph graph = MakeOwner(&payload);
  const CUgraphExec executable = Instantiate(graph);
  cuGraphDestroy(graph);
  LaunchAndWait(executable);
  cuGraphExecDestroy(executable);
  control().quiesce();
  EXPECT_EQ(payload.runs.load(), 0);
  control().release_held();
  control().quiesce();
  EXPECT_EQ(payload.runs.load(), 1);
}

TEST_F(DeliveryTest, MixedDoesBoth) {
  control().set_delivery(Delivery::kMixed);
  constexpr int kObjects = 200;
  std::vector<Payload> payloads(kObjects);
  for (Payload& payload : payloads) cuUserObjectRelease(MakeObject(&payload), 1);
  control().quiesce();
  int here = 0;
  for (const Payload& payload : payloads) {
    EXPECT_EQ(payload.runs.load(), 1);
    if (payload.ran_here()) ++here;
  }
  EXPECT_GT(here, 0);
  EXPECT_LT(here, kObjects);
}

TEST_F(DeliveryTest, InlineKeepsTheOrderOfRetention) {
  static std::vector<int*> order;
  order.clear();
  std::vector<int> numbers(100);
  const CUgraph graph = MakeGraph();
  for (int& number : numbers) {
    CUuserObject object = nullptr;
    ASSERT_EQ(cuUserObjectCreate(
                  &object, &number, [](void* payload) { order.push_back(static_cast<int*>(payload)); }, 1,
                  CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
              CUDA_SUCCESS);
    ASSERT_EQ(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
  }
  cuGraphDestroy(graph);
  ASSERT_EQ(order.size(), numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(order[i], &numbers[i]);
}

TEST_F(DeliveryTest, DestructorMayReleaseAnother) {
  struct Chain {
    CUuserObject next;
    static void Destroy(void* payload) { EXPECT_EQ(cuUserObjectRelease(static_cast<Chain*>(payload)->next, 1), 0); }
  };
  Payload last;
  Chain chain{MakeObject(&last)};
  CUuserObject first = nullptr;
  ASSERT_EQ(cuUserObjectCreate(&first, &chain, &Chain::Destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC), CUDA_SUCCESS);
  cuUserObjectRelease(first, 1);
  EXPECT_TRUE(last.ran_here());
}

TEST_F(DeliveryTest, QuiesceWaitsForLaunches) {
  Gate gate;
  const CUgraph graph = MakeGraph();
  AddHost(graph, &Gate::Wait, &gate);
  const CUgraphExec executable = Instantiate(graph);
  ASSERT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
  EXPECT_EQ(control().live().launches_in_flight, 1u);
  std::atomic<bool> quiet{false};
  std::thread waiter([&] {
    control().quiesce();
    quiet = true;
  });
  EXPECT_FALSE(quiet.load());
  gate.open = true;
  waiter.join();
  EXPECT_EQ(control().live().launches_in_flight, 0u);
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
}

}  // namespace
}  // namespace holdfast::fault
