#include "fault/model/graph.h"

#include <algorithm>
#include <utility>

#include "fault/model/call.h"

namespace holdfast::fault::model {
namespace {

HandleTable<CUgraph, Graph, HandleKind::kGraph>& GraphHandles() {
  static auto* table = new HandleTable<CUgraph, Graph, HandleKind::kGraph>;
  return *table;
}

HandleTable<CUgraphNode, Node, HandleKind::kNode>& NodeHandles() {
  static auto* table = new HandleTable<CUgraphNode, Node, HandleKind::kNode>;
  return *table;
}

std::atomic<std::uint64_t> next_serial{1};
std::atomic<std::uint64_t> root_count{0};

bool IsMemoryNode(const Node& node) {
  return std::holds_alternative<MemAllocNode>(node.parameters) || std::holds_alternative<MemFreeNode>(node.parameters);
}

// The edge, looked for in the shorter list; null if there is none.
Edge* FindEdge(const Node& from, const Node& to) {
  const bool shorter = from.dependents.size() < to.dependencies.size();
  return shorter ? from.dependents.Find(&to) : to.dependencies.Find(&from);
}

// Strong: on a throw neither list has the edge.
void Link(Node& from, Node& to) {
  auto edge = std::make_unique<Edge>(Edge{&from, &to});
  from.dependents.Append(edge.get());
  try {
    to.dependencies.Append(edge.get());
  } catch (...) {
    from.dependents.Remove(edge.get());
    throw;
  }
  static_cast<void>(edge.release());  // The lists have it now.
}

void Unlink(Edge* edge) {
  edge->from->dependents.Remove(edge);
  edge->to->dependencies.Remove(edge);
  delete edge;
}

void UnlinkAll(Node& node) {
  while (!node.dependencies.empty()) Unlink(node.dependencies.last());
  while (!node.dependents.empty()) Unlink(node.dependents.last());
}

}  // namespace

std::unique_ptr<Graph> Graph::Create(Graph* parent) {
  std::unique_ptr<Graph> graph(new Graph);
  graph->parent = parent;
  graph->serial = next_serial.fetch_add(1, std::memory_order_relaxed);
  graph->handle = GraphHandles().Insert(graph.get());
  return graph;
}

// A graph that came to its end through Destroy or Discard has no handle any more. Others were never given out.
Graph::~Graph() {
  if (handle == nullptr) return;
  std::vector<Reference> dropped;
  CollectReferences(&dropped);
  ReleaseHandles(HandleState::kDeadWithOwner);
  DropAll(dropped);
}

void Graph::ReleaseHandles(HandleState state) {
  for (Node& node : nodes) {
    for (const std::unique_ptr<Graph>& owned : node.graphs) owned->ReleaseHandles(HandleState::kDeadWithOwner);
    if (node.handle != nullptr) NodeHandles().Erase(node.handle, HandleState::kDeadWithOwner);
  }
  GraphHandles().Erase(handle, state);
  handle = nullptr;
}

Graph* Graph::Find(CUgraph handle) { return GraphHandles().Find(handle); }

Graph& Graph::Require(CUgraph handle) {
  Graph* graph = Find(handle);
  model::Require(graph != nullptr);
  return *graph;
}

CUgraph Graph::Publish(std::unique_ptr<Graph> graph) {
  root_count.fetch_add(1, std::memory_order_relaxed);
  return graph.release()->handle;
}

void Graph::Destroy(CUgraph handle, std::vector<Reference>* dropped) {
  Graph& graph = Require(handle);
  model::Require(graph.parent == nullptr);
  root_count.fetch_sub(1, std::memory_order_relaxed);
  Discard(std::unique_ptr<Graph>(&graph), dropped);
}

void Graph::Discard(std::unique_ptr<Graph> graph, std::vector<Reference>* dropped) {
  graph->CollectReferences(dropped);
  graph->ReleaseHandles(HandleState::kDead);
}

void Graph::DestroyAnywhere(Graph& graph, std::vector<Reference>* dropped) {
  if (graph.parent == nullptr) {
    Destroy(graph.handle, dropped);
    return;
  }
  graph.CollectReferences(dropped);
  graph.ReleaseHandles(HandleState::kDead);
  graph.nodes.clear();
  graph.is_freed_ = true;
}

void Graph::RequireThere() const {
  if (is_freed_) {
    Misuse("a node owns a graph that was destroyed when a capture into it failed (the real driver crashes, fact C41)");
  }
}

void Graph::MoveInto(CUgraph handle, Node& node) {
  Graph& graph = Require(handle);
  node.graphs.reserve(1);
  node.graph_handles.assign(1, handle);
  node.graphs.emplace_back(&graph);
  graph.parent = node.graph;
  graph.owner = &node;
  node.graph->AddMemoryNodes(graph.memory_nodes_);
  root_count.fetch_sub(1, std::memory_order_relaxed);
}

void Graph::ReplaceChild(Node& node, std::unique_ptr<Graph> graph, std::vector<Reference>* dropped) {
  std::swap(node.graphs.front(), graph);
  Graph& child = *node.graphs.front();
  node.graph_handles.front() = child.handle;
  child.owner = &node;
  node.graph->AddMemoryNodes(child.memory_nodes_ - graph->memory_nodes_);
  node.graph->FreeConditionalHandlesOf(*graph);
  Discard(std::move(graph), dropped);
}

// What is counted in a body stays there. Modulo the size of the type: the difference may be below zero.
void Graph::AddMemoryNodes(std::size_t count) {
  memory_nodes_ += count;
  if (owner != nullptr && std::holds_alternative<ChildGraphNode>(owner->parameters)) parent->AddMemoryNodes(count);
}

bool Graph::HasMemoryNodes() const {
  RequireThere();
  return memory_nodes_ > 0 || std::any_of(nodes.begin(), nodes.end(), [](const Node& node) {
           return std::any_of(node.graphs.begin(), node.graphs.end(),
                              [](const std::unique_ptr<Graph>& owned) { return owned->HasMemoryNodes(); });
         });
}

std::shared_ptr<const void> Graph::CopyToken() {
  if (copies_ == nullptr) copies_ = std::make_shared<const char>('\0');
  return copies_;
}

std::uint64_t Graph::live_roots() { return root_count.load(std::memory_order_relaxed); }

std::vector<Node*> Graph::RequireOwnNodes(const CUgraphNode* handles, std::size_t count) {
  model::Require(count == 0 || handles != nullptr);
  std::vector<Node*> list;
  list.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    Node& node = RequireNode(handles[i]);
    model::Require(node.graph == this);
    list.push_back(&node);
  }
  return list;
}

Node& Graph::AddNode(NodeParameters parameters, const CUgraphNode* dependencies, std::size_t count,
                     std::vector<std::unique_ptr<Graph>> owned) {
  std::vector<Node*> before = RequireOwnNodes(dependencies, count);
  for (Node* node : before) node->mark = 0;
  for (Node* node : before) model::Require(node->mark++ == 0);
  Node& node = nodes.emplace_back();
  node.place = std::prev(nodes.end());
  try {
    node.graph = this;
    node.serial = next_serial.fetch_add(1, std::memory_order_relaxed);
    node.parameters = std::move(parameters);
    node.graphs = std::move(owned);
    for (const std::unique_ptr<Graph>& graph : node.graphs) node.graph_handles.push_back(graph->handle);
    for (Node* dependency : before) Link(*dependency, node);
    node.handle = NodeHandles().Insert(&node);
  } catch (...) {
    UnlinkAll(node);
    nodes.pop_back();
    throw;
  }
  for (const std::unique_ptr<Graph>& graph : node.graphs) {
    graph->parent = this;
    graph->owner = &node;
  }
  if (IsMemoryNode(node)) AddMemoryNodes(1);
  return node;
}

void Graph::RemoveNode(Node& node, std::vector<Reference>* dropped) {
  UnlinkAll(node);
  if (clones_are_known_) clones_.erase(node.origin_serial);
  FreeConditionalHandles(node);
  for (std::unique_ptr<Graph>& owned : node.graphs) Discard(std::move(owned), dropped);
  NodeHandles().Erase(node.handle);
  nodes.erase(node.place);
}

std::unique_ptr<Graph> Graph::Clone(Graph* parent) {
  if (HasConditionalHandles() || HasMemoryNodes()) throw Refusal{CUDA_ERROR_NOT_SUPPORTED};
  return Copy(parent);
}

std::unique_ptr<Graph> Graph::Copy(Graph* parent) {
  std::unique_ptr<Graph> clone = Create(parent);
  clone->copy_of = CopyToken();
  std::vector<Node*> twins;
  twins.reserve(nodes.size());
  for (const Node& node : nodes) {
    std::vector<std::unique_ptr<Graph>> owned;
    for (const std::unique_ptr<Graph>& graph : node.graphs) owned.push_back(graph->Copy(clone.get()));
    Node& twin = clone->AddNode(node.parameters, nullptr, 0, std::move(owned));
    twin.origin_serial = node.serial;
    node.mark = static_cast<std::uint32_t>(twins.size());
    twins.push_back(&twin);
  }
  for (const Node& node : nodes) {
    for (const Node* dependency : node.dependencies) Link(*twins[dependency->mark], *twins[node.mark]);
  }
  std::vector<Reference> held;
  references.CopyTo(&held);
  for (const Reference& reference : held) {
    UserObject::Add(reference);
    clone->references.Add(reference);
  }
  return clone;
}

Node* Graph::FindClone(const Node& original) {
  if (!clones_are_known_) {
    for (Node& node : nodes) {
      if (node.origin_serial != 0) clones_.emplace(node.origin_serial, &node);
    }
    clones_are_known_ = true;
  }
  const auto found = clones_.find(original.serial);
  return found == clones_.end() ? nullptr : found->second;
}

void Graph::AddEdges(const CUgraphNode* from, const CUgraphNode* to, std::size_t count) {
  const std::vector<Node*> sources = RequireOwnNodes(from, count);
  const std::vector<Node*> targets = RequireOwnNodes(to, count);
  for (std::size_t i = 0; i < count; ++i) {
    model::Require(sources[i] != targets[i] && FindEdge(*sources[i], *targets[i]) == nullptr);
    Link(*sources[i], *targets[i]);
  }
}

void Graph::RemoveEdges(const CUgraphNode* from, const CUgraphNode* to, std::size_t count) {
  const std::vector<Node*> sources = RequireOwnNodes(from, count);
  const std::vector<Node*> targets = RequireOwnNodes(to, count);
  for (std::size_t i = 0; i < count; ++i) {
    Edge* edge = FindEdge(*sources[i], *targets[i]);
    model::Require(edge != nullptr);
    Unlink(edge);
  }
}

CUgraphConditionalHandle Graph::MakeConditionalHandle(unsigned int default_value, bool assigns_default) {
  Graph& top = root();
  const CUgraphConditionalHandle made = ++top.last_conditional_handle_;
  top.conditional_handles_.emplace(made, ConditionalHandle{default_value, assigns_default, false});
  return made;
}

ConditionalHandle* Graph::FindConditionalHandle(CUgraphConditionalHandle handle) {
  std::map<CUgraphConditionalHandle, ConditionalHandle>& handles = root().conditional_handles_;
  const auto found = handles.find(handle);
  return found == handles.end() ? nullptr : &found->second;
}

bool Graph::HasConditionalHandles() const {
  const Graph* top = this;
  while (top->parent != nullptr) top = top->parent;
  return !top->conditional_handles_.empty();
}

bool Graph::HasUnusedConditionalHandles() const {
  return std::any_of(conditional_handles_.begin(), conditional_handles_.end(),
                     [](const auto& entry) { return !entry.second.is_used; });
}

void Graph::FreeConditionalHandles(const Node& node) {
  if (const auto* conditional = std::get_if<ConditionalNode>(&node.parameters)) {
    if (ConditionalHandle* handle = FindConditionalHandle(conditional->handle)) handle->is_used = false;
  }
  for (const std::unique_ptr<Graph>& owned : node.graphs) FreeConditionalHandlesOf(*owned);
}

// Nothing to look for where no handle was ever made.
void Graph::FreeConditionalHandlesOf(const Graph& graph) {
  if (root().conditional_handles_.empty()) return;
  for (const Node& node : graph.nodes) FreeConditionalHandles(node);
}

void Graph::CollectReferences(std::vector<Reference>* references_out) const {
  RequireThere();
  references.CopyTo(references_out);
  for (const Node& node : nodes) {
    for (const std::unique_ptr<Graph>& owned : node.graphs) owned->CollectReferences(references_out);
  }
}

Node& RequireNode(CUgraphNode handle) {
  Node* node = NodeHandles().Find(handle);
  Require(node != nullptr);
  return *node;
}

HandleState NodeHandleState(CUgraphNode handle) { return NodeHandles().State(handle); }

// Relaxed: threads that take turns are ordered by what makes them take turns. An order from here would hide their races
// from a sanitizer.
GraphUse::GraphUse(Graph& graph) : root_(&graph.root()) {
  std::uint64_t seen = 0;
  if (root_->user.compare_exchange_strong(seen, ThreadNumber(), std::memory_order_relaxed)) return;
  if (seen != ThreadNumber()) {
    Misuse("another thread is inside a call on the same graph; one hierarchy, one thread at a time");
  }
  root_ = nullptr;
}

GraphUse::~GraphUse() {
  if (root_ != nullptr) root_->user.store(0, std::memory_order_relaxed);
}

void DropAll(const std::vector<Reference>& references) {
  for (const Reference& reference : references) UserObject::Drop(reference);
}

}  // namespace holdfast::fault::model
