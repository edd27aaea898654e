// Memory of graphs beyond what the facts ask of both drivers: when it goes, and launches that share it.
#include "tests/fault/model/driver_fixture.h"

namespace holdfast::fault {
namespace {

class GraphMemoryTest : public DriverTest {
 protected:
  static CUgraphNode AddAllocation(CUgraph graph, CUdeviceptr* address, std::size_t bytes = 64) {
    CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
    parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    parameters.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    parameters.bytesize = bytes;
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &parameters), CUDA_SUCCESS);
    *address = parameters.dptr;
    return node;
  }

  static std::uint64_t Allocations() { return control().live().allocations; }
};

TEST_F(GraphMemoryTest, AddressGoesWithTheLastThatMayAllocateIt) {
  CUdeviceptr address = 0;
  const CUgraph graph = MakeGraph();
  AddAllocation(graph, &address);
  const CUgraphExec executable = Instantiate(graph);
  EXPECT_EQ(Allocations(), 1u);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(Allocations(), 1u);
  ASSERT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(Allocations(), 0u);
}

TEST_F(GraphMemoryTest, AllocatedMemoryGoesWhenItIsFreed) {
  CUdeviceptr address = 0;
  const CUgraph graph = MakeGraph();
  AddAllocation(graph, &address);
  const CUgraphExec executable = Instantiate(graph);
  LaunchAndWait(executable);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(Allocations(), 1u);
  ASSERT_EQ(cuMemFreeAsync(address, stream_), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(Allocations(), 0u);
}

// What is freed on a stream can be allocated by the next launch at once, though the work has not run yet.
TEST_F(GraphMemoryTest, OrderOfCallsDecidesWhatACallMayDo) {
  Gate gate;
  CUdeviceptr address = 0;
  const CUgraph graph = MakeGraph();
  AddAllocation(graph, &address);
  const CUgraphExec executable = Instantiate(graph);
  ASSERT_EQ(cuLaunchHostFunc(stream_, &Gate::Wait, &gate), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(executable, stream_), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemsetD8Async(address, 1, 64, stream_), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFreeAsync(address, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
  gate.open = true;
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(address), CUDA_SUCCESS);
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
}

TEST_F(GraphMemoryTest, RefusedNodeReservesNothing) {
  const CUgraph graph = MakeGraph();
  const CUgraph other = MakeGraph();
  const CUgraphNode foreign = AddHost(other);
  CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
  parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  parameters.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  parameters.bytesize = 64;
  CUgraphNode node = nullptr;
  EXPECT_EQ(cuGraphAddMemAllocNode(&node, graph, &foreign, 1, &parameters), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(parameters.dptr, 0u);
  EXPECT_EQ(Allocations(), 0u);
  EXPECT_EQ(cuGraphDestroyNode(AddHost(graph)), CUDA_SUCCESS);
  cuGraphDestroy(graph);
  cuGraphDestroy(other);
}

// Nobody gets the address of what a reset took away.
TEST_F(GraphMemoryTest, ResetTakesAllAway) {
  CUdeviceptr address = 0;
  const CUgraph graph = MakeGraph();
  AddAllocation(graph, &address);
  const CUgraphExec executable = Instantiate(graph);
  LaunchAndWait(executable);
  ASSERT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  EXPECT_EQ(Allocations(), 0u);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(Allocations(), 0u);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
}

}  // namespace
}  // namespace holdfast::fault
