// Handles: reuse at once and never, and that what is no handle is refused and not followed.
#include <set>
#include <vector>

#include "tests/fault/model/driver_fixture.h"

namespace holdfast::fault {
namespace {

using HandleTest = DriverTest;

TEST_F(HandleTest, AtOnceTheLastDestroyedComesFirst) {
  const CUgraph graph = MakeGraph();
  const CUgraphNode first = AddHost(graph);
  const CUgraphNode second = AddHost(graph);
  cuGraphDestroyNode(first);
  cuGraphDestroyNode(second);
  EXPECT_EQ(AddHost(graph), second);
  EXPECT_EQ(AddHost(graph), first);
  cuGraphDestroy(graph);
}

TEST_F(HandleTest, AtOnceCrossesGraphs) {
  const CUgraph graph = MakeGraph();
  const CUgraph other = MakeGraph();
  const CUgraphNode node = AddHost(graph);
  cuGraphDestroy(graph);
  EXPECT_EQ(AddHost(other), node);
  const CUgraph next = MakeGraph();
  EXPECT_EQ(next, graph);
  cuGraphDestroy(next);
  cuGraphDestroy(other);
}

TEST_F(HandleTest, NeverGivesEachOnce) {
  control().set_handle_reuse(HandleReuse::kNever);
  const CUgraph graph = MakeGraph();
  std::set<CUgraphNode> seen;
  for (int i = 0; i < 1000; ++i) {
    const CUgraphNode node = AddHost(graph);
    EXPECT_TRUE(seen.insert(node).second);
    cuGraphDestroyNode(node);
  }
  cuGraphDestroy(graph);
  std::set<CUuserObject> objects;
  for (int i = 0; i < 1000; ++i) {
    Payload payload;
    const CUuserObject object = MakeObject(&payload);
    EXPECT_TRUE(objects.insert(object).second);
    cuUserObjectRelease(object, 1);
  }
}

TEST_F(HandleTest, ReplacedChildGraphHasAnotherHandleAndGivesItsOwnBack) {
  const CUgraph source = MakeGraph();
  AddHost(source);
  const CUgraph graph = MakeGraph();
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, source), CUDA_SUCCESS);
  CUgraph before = nullptr;
  CUgraph after = nullptr;
  cuGraphChildGraphNodeGetGraph(node, &before);
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_GRAPH;
  parameters.graph.graph = source;
  ASSERT_EQ(cuGraphNodeSetParams(node, &parameters), CUDA_SUCCESS);
  cuGraphChildGraphNodeGetGraph(node, &after);
  EXPECT_NE(before, after);
  const CUgraph next = MakeGraph();
  EXPECT_EQ(next, before);
  for (const CUgraph each : {next, graph, source}) cuGraphDestroy(each);
}

TEST_F(HandleTest, MadeUpHandlesAreRefused) {
  int on_stack = 0;
  const CUgraph graph = MakeGraph();
  for (const std::uintptr_t value :
       {std::uintptr_t{1}, std::uintptr_t{0x1234560}, ~std::uintptr_t{0}, reinterpret_cast<std::uintptr_t>(&on_stack),
        reinterpret_cast<std::uintptr_t>(graph) + 1, reinterpret_cast<std::uintptr_t>(graph) + (1u << 30)}) {
    EXPECT_EQ(cuGraphDestroy(reinterpret_cast<CUgraph>(value)), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuGraphDestroyNode(reinterpret_cast<CUgraphNode>(value)), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuGraphExecDestroy(reinterpret_cast<CUgraphExec>(value)), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuUserObjectRelease(reinterpret_cast<CUuserObject>(value), 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuEventQuery(reinterpret_cast<CUevent>(value)), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuModuleUnload(reinterpret_cast<CUmodule>(value)), CUDA_ERROR_INVALID_HANDLE);
  }
  EXPECT_EQ(cuGraphDestroyNode(reinterpret_cast<CUgraphNode>(graph)), CUDA_ERROR_INVALID_VALUE);
  cuGraphDestroy(graph);
}

}  // namespace
}  // namespace holdfast::fault
