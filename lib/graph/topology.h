// Nodes and edges as the driver lists them.
#ifndef HOLDFAST_LIB_GRAPH_TOPOLOGY_H_
#define HOLDFAST_LIB_GRAPH_TOPOLOGY_H_

#include <cuda.h>

#include <vector>

namespace holdfast::graph {

struct RawEdge {
  CUgraphNode from;
  CUgraphNode to;
};

// Each throws DriverError, std::bad_alloc. Edges that carry data are listed like others.
std::vector<CUgraphNode> ListNodes(CUgraph graph);
std::vector<RawEdge> ListEdges(CUgraph graph);
std::vector<CUgraphNode> ListPredecessors(CUgraphNode node);
std::vector<CUgraphNode> ListSuccessors(CUgraphNode node);

// Destroys a node, and says whether it is gone: a driver may answer a destruction that took place with the error of
// earlier work, so a refusal is believed only if the graph still lists the node. If that cannot be asked, it is.
struct Destruction {
  CUresult result;
  bool is_gone;
};
Destruction DestroyNode(CUgraph graph, CUgraphNode node) noexcept;

}  // namespace holdfast::graph

#endif  // HOLDFAST_LIB_GRAPH_TOPOLOGY_H_
