#include "lib/graph/topology.h"

#include <algorithm>
#include <cstddef>
#include <exception>

#include "lib/driver/driver.h"
#include "lib/driver/status.h"

namespace holdfast::graph {
namespace {

using driver::Check;
using driver::GetDriver;

constexpr const char* kDoing = "listing the nodes and edges of a graph";

// The driver's way with lists: asked with a null array it gives the count. Asked without room for edge data it refuses
// a list in which any edge has some.
template <typename List>
std::vector<CUgraphNode> ListNeighbours(const List& list, CUgraphNode node) {
  std::size_t count = 0;
  Check(list.name(), list(node, static_cast<CUgraphNode*>(nullptr), static_cast<CUgraphEdgeData*>(nullptr), &count),
        kDoing);
  std::vector<CUgraphNode> nodes(count);
  if (count > 0) {
    std::vector<CUgraphEdgeData> data(count);
    Check(list.name(), list(node, nodes.data(), data.data(), &count), kDoing);
  }
  return nodes;
}

}  // namespace

std::vector<CUgraphNode> ListNodes(CUgraph graph) {
  std::size_t count = 0;
  Check("cuGraphGetNodes", GetDriver().cuGraphGetNodes(graph, nullptr, &count), kDoing);
  std::vector<CUgraphNode> nodes(count);
  if (count > 0) {
    Check("cuGraphGetNodes", GetDriver().cuGraphGetNodes(graph, nodes.data(), &count), kDoing);
  }
  return nodes;
}

std::vector<RawEdge> ListEdges(CUgraph graph) {
  std::size_t count = 0;
  Check("cuGraphGetEdges", GetDriver().cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count), kDoing);
  std::vector<CUgraphNode> from(count);
  std::vector<CUgraphNode> to(count);
  std::vector<RawEdge> edges(count);
  if (count > 0) {
    std::vector<CUgraphEdgeData> data(count);
    Check("cuGraphGetEdges", GetDriver().cuGraphGetEdges(graph, from.data(), to.data(), data.data(), &count), kDoing);
  }
  for (std::size_t i = 0; i < edges.size(); ++i) {
    edges[i] = {from[i], to[i]};
  }
  return edges;
}

std::vector<CUgraphNode> ListPredecessors(CUgraphNode node) {
  return ListNeighbours(GetDriver().cuGraphNodeGetDependencies, node);
}

std::vector<CUgraphNode> ListSuccessors(CUgraphNode node) {
  return ListNeighbours(GetDriver().cuGraphNodeGetDependentNodes, node);
}

Destruction DestroyNode(CUgraph graph, CUgraphNode node) noexcept {
  const CUresult result = GetDriver().cuGraphDestroyNode(node);
  if (result == CUDA_SUCCESS) {
    return {result, true};
  }
  try {
    const std::vector<CUgraphNode> nodes = ListNodes(graph);
    return {result, std::find(nodes.begin(), nodes.end(), node) == nodes.end()};
  } catch (const std::exception&) {
    return {result, false};
  }
}

}  // namespace holdfast::graph
