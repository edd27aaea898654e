#include "fault/model/node_change.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "fault/model/context.h"
#include "fault/model/memory.h"

namespace holdfast::fault::model {
namespace {

Node& Add(Graph& graph, const Place& place, NodeParameters parameters, std::vector<std::unique_ptr<Graph>> owned = {}) {
  Node& node = graph.AddNode(std::move(parameters), place.dependencies, place.count, std::move(owned));
  *place.node = node.handle;
  return node;
}

bool IsAncestorOrSelf(const Graph& graph, const Graph& of) {
  for (const Graph* each = &of; each != nullptr; each = each->parent) {
    if (each == &graph) return true;
  }
  return false;
}

// An embedded graph is a clone of the source, or the source itself (fact U12).
void AddChildNode(Graph& parent, const Place& place, CUgraph child, bool move) {
  Graph& source = Graph::Require(child);
  const GraphUse use(source);
  if (IsAncestorOrSelf(source, parent)) {
    Misuse("a graph is embedded in itself (the real driver crashes, or makes a circle)");
  }
  if (source.parent != nullptr) throw Refusal{CUDA_ERROR_NOT_SUPPORTED};
  std::vector<std::unique_ptr<Graph>> owned;
  if (!move) {
    owned.push_back(source.Clone(&parent));
    Add(parent, place, ChildGraphNode{}, std::move(owned));
    return;
  }
  if (source.HasConditionalHandles() || !source.only_executable.expired()) throw Refusal{CUDA_ERROR_NOT_SUPPORTED};
  Node& node = Add(parent, place, ChildGraphNode{});
  Graph::MoveInto(child, node);
}

void AddConditionalNode(Graph& parent, const Place& place, CUDA_CONDITIONAL_NODE_PARAMS* given) {
  const bool is_switch = given->type == CU_GRAPH_COND_TYPE_SWITCH;
  const unsigned int size_max = given->type == CU_GRAPH_COND_TYPE_IF ? 2 : 1;
  Require(given->ctx != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  RequireNodeContext(given->ctx);
  Require(is_switch || given->type == CU_GRAPH_COND_TYPE_IF || given->type == CU_GRAPH_COND_TYPE_WHILE);
  Require(given->size > 0 && (is_switch || given->size <= size_max));
  ConditionalHandle* handle = parent.FindConditionalHandle(given->handle);
  Require(handle != nullptr && !handle->is_used);
  std::vector<std::unique_ptr<Graph>> bodies;
  for (unsigned int i = 0; i < given->size; ++i) bodies.push_back(Graph::Create(&parent));
  Node& node = Add(parent, place, ConditionalNode{given->handle, given->type, given->ctx}, std::move(bodies));
  handle->is_used = true;
  given->phGraph_out = node.graph_handles.data();
}

// The two forms of the parameters have the same members.
template <typename Parameters>
void AddMemAllocNode(Graph& parent, const Place& place, Parameters* given) {
  if (parent.IsEmbedded()) throw Refusal{CUDA_ERROR_NOT_SUPPORTED};
  parent.RequireOwnNodes(place.dependencies, place.count);
  std::shared_ptr<GraphMemory> memory = ReserveMemory(
      parent,
      CUDA_MEM_ALLOC_NODE_PARAMS{given->poolProps, given->accessDescs, given->accessDescCount, given->bytesize, 0});
  const CUdeviceptr address = memory->allocation().address();
  Add(parent, place, MemAllocNode{std::move(memory)});
  given->dptr = address;
}

void AddMemFreeNode(Graph& parent, const Place& place, CUdeviceptr address) {
  if (parent.IsEmbedded()) throw Refusal{CUDA_ERROR_NOT_SUPPORTED};
  parent.RequireOwnNodes(place.dependencies, place.count);
  const std::shared_ptr<GraphMemory> memory = RequireFreeable(parent, address);
  try {
    Add(parent, place, MemFreeNode{memory->allocation_pointer()});
  } catch (const Refusal&) {
    parent.CountRefusedMemoryNode();
    throw;
  }
  memory->freed_in.insert(parent.serial);
}

bool IsFreeable(const Graph& graph, const GraphMemory& memory) {
  if (memory.owner == graph.serial) return memory.freed_in.empty();
  return !memory.freed_in.contains(memory.owner) && !memory.freed_in.contains(graph.serial);
}

// The common frame: checks that all forms of adding share.
CUresult AddWith(const char* name, const Place& place, CUgraphNodeType type, const std::function<void(Graph&)>& add) {
  return Enter(name, Rule::kInCallback, [&] {
    RequirePermitted(type);
    Graph& graph = Graph::Require(place.graph);
    const GraphUse use(graph);
    Require(place.node != nullptr);
    add(graph);
  });
}

}  // namespace

std::shared_ptr<GraphMemory> ReserveMemory(Graph& graph, const CUDA_MEM_ALLOC_NODE_PARAMS& given) {
  try {
    std::shared_ptr<GraphMemory> memory = GraphMemory::Reserve(given);
    memory->owner = graph.serial;
    return memory;
  } catch (const Refusal& refusal) {
    if (refusal.result == CUDA_ERROR_OUT_OF_MEMORY) graph.CountRefusedMemoryNode();
    throw;
  }
}

std::shared_ptr<GraphMemory> RequireFreeable(Graph& graph, CUdeviceptr address) {
  std::shared_ptr<GraphMemory> memory = GraphMemory::Find(address);
  if (memory == nullptr || !IsFreeable(graph, *memory)) {
    graph.CountRefusedMemoryNode();
    throw Refusal{CUDA_ERROR_INVALID_VALUE};
  }
  return memory;
}

CUresult AddPlain(const char* name, const Place& place, CUgraphNodeType type,
                  const std::function<NodeParameters()>& make) {
  return AddWith(name, place, type, [&](Graph& graph) { Add(graph, place, make()); });
}

CUresult AddChild(const char* name, const Place& place, CUgraph graph, bool move) {
  return AddWith(name, place, CU_GRAPH_NODE_TYPE_GRAPH,
                 [&](Graph& parent) { AddChildNode(parent, place, graph, move); });
}

CUresult AddMemAlloc(const char* name, const Place& place, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  return AddWith(name, place, CU_GRAPH_NODE_TYPE_MEM_ALLOC, [&](Graph& parent) {
    Require(parameters != nullptr);
    AddMemAllocNode(parent, place, parameters);
  });
}

CUresult AddMemFree(const char* name, const Place& place, CUdeviceptr address) {
  return AddWith(name, place, CU_GRAPH_NODE_TYPE_MEM_FREE,
                 [&](Graph& parent) { AddMemFreeNode(parent, place, address); });
}

CUresult AddAny(const char* name, const Place& place, const CUgraphEdgeData* edges, CUgraphNodeParams* parameters) {
  const CUgraphNodeType type = parameters == nullptr ? CU_GRAPH_NODE_TYPE_EMPTY : parameters->type;
  return AddWith(name, place, type, [&](Graph& graph) {
    Require(parameters != nullptr);
    RequireUnusedZero(*parameters);
    for (std::size_t i = 0; edges != nullptr && i < place.count; ++i) {
      Require(std::all_of(std::begin(edges[i].reserved), std::end(edges[i].reserved),
                          [](unsigned char byte) { return byte == 0; }));
      if (edges[i].from_port != 0 || edges[i].to_port != 0 || edges[i].type != 0) throw Unmodelled{};
    }
    switch (parameters->type) {
      case CU_GRAPH_NODE_TYPE_GRAPH: {
        const bool move = parameters->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
        AddChildNode(graph, place, parameters->graph.graph, move);
        return;
      }
      case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        AddConditionalNode(graph, place, &parameters->conditional);
        return;
      case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        AddMemAllocNode(graph, place, &parameters->alloc);
        return;
      case CU_GRAPH_NODE_TYPE_MEM_FREE:
        AddMemFreeNode(graph, place, parameters->free.dptr);
        return;
      default:
        Add(graph, place, MakeParameters(*parameters));
        return;
    }
  });
}

}  // namespace holdfast::fault::model
