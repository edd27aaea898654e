// Entry points: graphs as wholes, their edges, and questions about nodes of any kind.
#include <cuda.h>

#include <algorithm>
#include <vector>

#include "fault/model/call.h"
#include "fault/model/context.h"
#include "fault/model/graph.h"

namespace holdfast::fault::model {
namespace {

// The driver's way of returning a list: without room the count; with room as many as fit, and nulls behind them.
void GiveList(const std::vector<CUgraphNode>& list, CUgraphNode* room, size_t* count) {
  if (room == nullptr) {
    *count = list.size();
    return;
  }
  const std::size_t fits = std::min(*count, list.size());
  std::copy_n(list.begin(), fits, room);
  std::fill(room + fits, room + *count, nullptr);
  *count = fits;
}

std::vector<CUgraphNode> HandlesOf(const auto& nodes) {
  std::vector<CUgraphNode> handles;
  handles.reserve(nodes.size());
  for (const Node* node : nodes) handles.push_back(node->handle);
  return handles;
}

// Edges of the model are full dependencies alone.
void RefuseEdgeData(const CUgraphEdgeData* data, std::size_t count) {
  if (data == nullptr) return;
  for (std::size_t i = 0; i < count; ++i) {
    if (data[i].from_port != 0 || data[i].to_port != 0 || data[i].type != 0) throw Unmodelled{};
  }
}

void ClearEdgeData(CUgraphEdgeData* data, std::size_t count) {
  if (data != nullptr) std::fill_n(data, count, CUgraphEdgeData{});
}

CUresult GetEdges(const char* name, CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                  size_t* count) {
  return Enter(name, Rule::kNormal, [&] {
    Graph& owner = Graph::Require(graph);
    const GraphUse use(owner);
    Require(count != nullptr && (from == nullptr) == (to == nullptr));
    std::vector<CUgraphNode> sources;
    std::vector<CUgraphNode> targets;
    for (const Node& node : owner.nodes) {
      for (const Node* dependent : node.dependents) {
        sources.push_back(node.handle);
        targets.push_back(dependent->handle);
      }
    }
    if (from != nullptr) ClearEdgeData(data, *count);
    size_t same_count = *count;
    GiveList(sources, from, &same_count);
    GiveList(targets, to, count);
  });
}

CUresult GetNeighbours(const char* name, CUgraphNode node, auto side, CUgraphNode* room, CUgraphEdgeData* data,
                       size_t* count) {
  return Enter(name, Rule::kNormal, [&] {
    Node& asked = RequireNode(node);
    const GraphUse use(*asked.graph);
    Require(count != nullptr);
    if (room != nullptr) ClearEdgeData(data, *count);
    GiveList(HandlesOf(asked.*side), room, count);
  });
}

CUresult ChangeEdges(const char* name, CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                     const CUgraphEdgeData* data, size_t count, bool add) {
  return Enter(name, Rule::kInCallback, [&] {
    Graph& owner = Graph::Require(graph);
    const GraphUse use(owner);
    RefuseEdgeData(data, count);
    if (add) {
      owner.AddEdges(from, to, count);
    } else {
      if (owner.HasMemoryNodesOutsideBodies()) throw Refusal{CUDA_ERROR_NOT_SUPPORTED};
      owner.RemoveEdges(from, to, count);
    }
  });
}

}  // namespace

extern "C" {

CUresult cuGraphCreate(CUgraph* graph, unsigned int flags) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(graph != nullptr && flags == 0);
    *graph = Graph::Publish(Graph::Create(nullptr));
  });
}

CUresult cuGraphDestroy(CUgraph graph) {
  return Enter(__func__, Rule::kNormal, [&] {
    std::vector<Reference> dropped;
    Graph& doomed = Graph::Require(graph);
    GraphUse use(doomed);
    Require(!doomed.is_captured_into, CUDA_ERROR_ILLEGAL_STATE);
    Require(doomed.parent == nullptr);
    use.Forget();
    Graph::Destroy(graph, &dropped);
    DropAll(dropped);
  });
}

CUresult cuGraphClone(CUgraph* clone, CUgraph original) {
  return Enter(__func__, Rule::kNormal, [&] {
    Graph& source = Graph::Require(original);
    const GraphUse use(source);
    Require(clone != nullptr);
    *clone = Graph::Publish(source.Clone(nullptr));
  });
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return Enter(__func__, Rule::kNormal, [&] {
    Graph& owner = Graph::Require(graph);
    const GraphUse use(owner);
    Require(count != nullptr);
    std::vector<CUgraphNode> handles;
    handles.reserve(owner.nodes.size());
    for (const Node& node : owner.nodes) handles.push_back(node.handle);
    GiveList(handles, nodes, count);
  });
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return Enter(__func__, Rule::kNormal, [&] {
    Graph& owner = Graph::Require(graph);
    const GraphUse use(owner);
    Require(count != nullptr);
    std::vector<CUgraphNode> handles;
    for (const Node& node : owner.nodes) {
      if (node.dependencies.empty()) handles.push_back(node.handle);
    }
    GiveList(handles, nodes, count);
  });
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return GetEdges(__func__, graph, from, to, nullptr, count);
}
CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, size_t* count) {
  return GetEdges(__func__, graph, from, to, data, count);
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* room, size_t* count) {
  return GetNeighbours(__func__, node, &Node::dependencies, room, nullptr, count);
}
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* room, CUgraphEdgeData* data, size_t* count) {
  return GetNeighbours(__func__, node, &Node::dependencies, room, data, count);
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* room, size_t* count) {
  return GetNeighbours(__func__, node, &Node::dependents, room, nullptr, count);
}
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* room, CUgraphEdgeData* data, size_t* count) {
  return GetNeighbours(__func__, node, &Node::dependents, room, data, count);
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  return ChangeEdges(__func__, graph, from, to, nullptr, count, true);
}
CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* data, size_t count) {
  return ChangeEdges(__func__, graph, from, to, data, count, true);
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  return ChangeEdges(__func__, graph, from, to, nullptr, count, false);
}
CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData* data, size_t count) {
  return ChangeEdges(__func__, graph, from, to, data, count, false);
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return Enter(__func__, Rule::kNormal, [&] {
    const Node& asked = RequireNode(node);
    const GraphUse use(*asked.graph);
    Require(type != nullptr);
    *type = TypeOf(asked.parameters);
  });
}

CUresult cuGraphNodeFindInClone(CUgraphNode* found, CUgraphNode original, CUgraph clone) {
  return Enter(__func__, Rule::kNormal, [&] {
    Graph& searched = Graph::Require(clone);
    const GraphUse use(searched);
    Require(found != nullptr);
    const HandleState state = NodeHandleState(original);
    if (state == HandleState::kDead || state == HandleState::kDeadWithOwner) {
      Misuse("the original node, or its graph, is destroyed (the real driver crashes, fact N5)");
    }
    const Node* twin = searched.FindClone(RequireNode(original));
    Require(twin != nullptr);
    *found = twin->handle;
  });
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* graph) {
  return Enter(__func__, Rule::kNormal, [&] {
    const Node& asked = RequireNode(node);
    const GraphUse use(*asked.graph);
    Require(graph != nullptr && std::holds_alternative<ChildGraphNode>(asked.parameters));
    *graph = asked.graph_handles.front();
  });
}

CUresult cuGraphDestroyNode(CUgraphNode node) {
  return Enter(__func__, Rule::kNormal, [&] {
    const HandleState state = NodeHandleState(node);
    if (state == HandleState::kDead || state == HandleState::kDeadWithOwner) {
      Misuse("the node is destroyed already (the real driver crashes, fact N2)");
    }
    Node& doomed = RequireNode(node);
    std::vector<Reference> dropped;
    {
      const GraphUse use(*doomed.graph);
      if (doomed.graph->HasMemoryNodesOutsideBodies()) throw Refusal{CUDA_ERROR_NOT_SUPPORTED};
      Require(!doomed.graph->is_captured_into, CUDA_ERROR_ILLEGAL_STATE);
      doomed.graph->RemoveNode(doomed, &dropped);
    }
    DropAll(dropped);
  });
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graph, CUcontext context,
                                        unsigned int default_value, unsigned int flags) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Graph& owner = Graph::Require(graph);
    const GraphUse use(owner);
    Require(handle != nullptr && flags <= CU_GRAPH_COND_ASSIGN_DEFAULT);
    Require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    RequireNodeContext(context);
    *handle = owner.MakeConditionalHandle(default_value, flags == CU_GRAPH_COND_ASSIGN_DEFAULT);
  });
}

}  // extern "C"
}  // namespace holdfast::fault::model
