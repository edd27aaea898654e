// Details of nodes that the facts do not ask of both drivers: edges in constant time, files for Graphviz, what is not
// modelled.
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fault/model/driver_fixture.h"

namespace holdfast::fault {
namespace {

using NodeKindTest = DriverTest;

TEST_F(NodeKindTest, DotFileNamesNodesGraphsAndEdges) {
  const CUgraph child = MakeGraph();
  AddHost(child);
  const CUgraph graph = MakeGraph();
  const CUgraphNode first = AddHost(graph);
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddChildGraphNode(&node, graph, &first, 1, child), CUDA_SUCCESS);
  const std::string path = testing::TempDir() + "/holdfast_dot_" + std::to_string(::getpid());
  ASSERT_EQ(cuGraphDebugDotPrint(graph, path.c_str(), 0), CUDA_SUCCESS);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  ::unlink(path.c_str());
  EXPECT_EQ(text.str(),
            "digraph dot {\n"
            "subgraph cluster_1 {\n"
            "label=\"graph_1\" graph[style=\"dashed\"];\n"
            "\"graph_1_node_0\"[style=\"solid\" shape=\"rectangle\" label=\"0\\nHOST\"];\n"
            "\"graph_1_node_1\"[style=\"solid\" shape=\"rectangle\" label=\"1\\nGRAPH\\ngraph_2\"];\n"
            "\"graph_1_node_0\" -> \"graph_1_node_1\";\n"
            "}\n"
            "subgraph cluster_2 {\n"
            "label=\"graph_2\" graph[style=\"dashed\"];\n"
            "\"graph_2_node_0\"[style=\"solid\" shape=\"rectangle\" label=\"0\\nHOST\"];\n"
            "}\n"
            "}\n");
  cuGraphDestroy(graph);
  cuGraphDestroy(child);
}

TEST_F(NodeKindTest, PartsThatAreNotModelledAreWrittenDown) {
  const CUgraph graph = MakeGraph();
  const CUgraph source = MakeGraph();
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, source), CUDA_SUCCESS);
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_GRAPH;
  parameters.graph.graph = source;
  parameters.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
  EXPECT_EQ(cuGraphNodeSetParams(node, &parameters), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_NE(std::string(control().unmodelled()).find("cuGraphNodeSetParams"), std::string::npos);
  cuGraphDestroy(graph);
  cuGraphDestroy(source);
}

// Processor time of this thread for a star of `leaves` leaves whose nodes go one by one, from the middle outwards.
double SecondsForAStar(CUgraph graph, std::size_t leaves) {
  CUDA_HOST_NODE_PARAMS host{};
  host.fn = &DoNothing;
  std::vector<CUgraphNode> nodes(leaves);
  CUgraphNode hub = nullptr;
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  const double start = now();
  EXPECT_EQ(cuGraphAddEmptyNode(&hub, graph, nullptr, 0), CUDA_SUCCESS);
  for (CUgraphNode& node : nodes) EXPECT_EQ(cuGraphAddHostNode(&node, graph, &hub, 1, &host), CUDA_SUCCESS);
  for (std::size_t i = 0; i < leaves; ++i) {
    const std::size_t step = (i + 1) / 2;
    const std::size_t place = leaves / 2 + (i % 2 == 0 ? step : 0 - step);
    EXPECT_EQ(cuGraphDestroyNode(nodes[place % leaves]), CUDA_SUCCESS);
  }
  EXPECT_EQ(cuGraphDestroyNode(hub), CUDA_SUCCESS);
  return now() - start;
}

// Eight times the nodes may take some 8 times as long, never some 64 times.
TEST_F(NodeKindTest, ANodeLeavesAHubInConstantTime) {
  const CUgraph graph = MakeGraph();
  SecondsForAStar(graph, 1000);
  const double few = SecondsForAStar(graph, 4'000);
  const double many = SecondsForAStar(graph, 32'000);
  EXPECT_LT(many, few * 28);
  cuGraphDestroy(graph);
}

}  // namespace
}  // namespace holdfast::fault
