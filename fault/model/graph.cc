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

// Small numbers for threads, never 0.
std::uint64_t ThreadNumber() {
  static std::atomic<std::uint64_t> next{1};
  thread_local const std::uint64_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

bool IsMemoryNode(const Node& node) {
  return std::holds_alternative<MemAllocNode>(node.parameters) || std::holds_alternative<MemFreeNode>(node.parameters);
}

void EraseOne(std::vector<Node*>* list, const Node* node) { list->erase(std::find(list->begin(), list->end(), node)); }

bool HasEdge(const Node& from, const Node& to) {
  const bool shorter = from.dependents.size() < to.dependencies.size();
  const std::vector<Node*>& list = shorter ? from.dependents : to.dependencies;
  return std::find(list.begin(), list.end(), shorter ? &to : &from) != list.end();
}

void Link(Node& from, Node& to) {
  from.dependents.push_back(&to);
  to.dependencies.push_back(&from);
}

void Unlink(Node& from, Node& to) {
  EraseOne(&from.dependents, &to);
  EraseOne(&to.dependencies, &from);
}

}  // namespace

std::unique_ptr<Graph> Graph::Create(Graph* parent) {
  std::unique_ptr<Graph> graph(new Graph);
  graph->parent = parent;
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

Graph& Graph::Require(CUgraph handle) {
  Graph* graph = GraphHandles().Find(handle);
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

void Graph::MoveInto(CUgraph handle, Node& node) {
  Graph& graph = Require(handle);
  node.graphs.reserve(1);
  node.graph_handles.assign(1, handle);
  node.graphs.emplace_back(&graph);
  graph.parent = node.graph;
  root_count.fetch_sub(1, std::memory_order_relaxed);
}

void Graph::ReplaceChild(Node& node, std::unique_ptr<Graph> graph, std::vector<Reference>* dropped) {
  std::swap(node.graphs.front(), graph);
  node.graph_handles.front() = node.graphs.front()->handle;
  Discard(std::move(graph), dropped);
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
    for (Node* dependency : before) dependency->dependents.push_back(&node);
    node.handle = NodeHandles().Insert(&node);
  } catch (...) {
    for (Node* dependency : before) {
      if (!dependency->dependents.empty() && dependency->dependents.back() == &node) dependency->dependents.pop_back();
    }
    nodes.pop_back();
    throw;
  }
  for (const std::unique_ptr<Graph>& graph : node.graphs) graph->parent = this;
  node.dependencies = std::move(before);
  if (IsMemoryNode(node)) ++memory_nodes_;
  return node;
}

void Graph::RemoveNode(Node& node, std::vector<Reference>* dropped) {
  for (Node* dependency : node.dependencies) EraseOne(&dependency->dependents, &node);
  for (Node* dependent : node.dependents) EraseOne(&dependent->dependencies, &node);
  if (clones_are_known_) clones_.erase(node.origin_serial);
  for (std::unique_ptr<Graph>& owned : node.graphs) Discard(std::move(owned), dropped);
  NodeHandles().Erase(node.handle);
  if (IsMemoryNode(node)) --memory_nodes_;
  nodes.erase(node.place);
}

std::unique_ptr<Graph> Graph::Clone(Graph* parent) const {
  if (Has<ConditionalNode>() || HasMemoryNodes()) throw Refusal{CUDA_ERROR_NOT_SUPPORTED};
  std::unique_ptr<Graph> clone = Create(parent);
  std::unordered_map<const Node*, Node*> twins;
  twins.reserve(nodes.size());
  for (const Node& node : nodes) {
    std::vector<std::unique_ptr<Graph>> owned;
    for (const std::unique_ptr<Graph>& graph : node.graphs) owned.push_back(graph->Clone(clone.get()));
    Node& twin = clone->AddNode(node.parameters, nullptr, 0, std::move(owned));
    twin.origin_serial = node.serial;
    twins.emplace(&node, &twin);
  }
  for (const Node& node : nodes) {
    Node& twin = *twins.at(&node);
    twin.dependencies.reserve(node.dependencies.size());
    twin.dependents.reserve(node.dependents.size());
    for (const Node* dependency : node.dependencies) twin.dependencies.push_back(twins.at(dependency));
    for (const Node* dependent : node.dependents) twin.dependents.push_back(twins.at(dependent));
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
    model::Require(sources[i] != targets[i] && !HasEdge(*sources[i], *targets[i]));
    Link(*sources[i], *targets[i]);
  }
}

void Graph::RemoveEdges(const CUgraphNode* from, const CUgraphNode* to, std::size_t count) {
  const std::vector<Node*> sources = RequireOwnNodes(from, count);
  const std::vector<Node*> targets = RequireOwnNodes(to, count);
  for (std::size_t i = 0; i < count; ++i) {
    model::Require(HasEdge(*sources[i], *targets[i]));
    Unlink(*sources[i], *targets[i]);
  }
}

CUgraphConditionalHandle Graph::MakeConditionalHandle() {
  const CUgraphConditionalHandle made = next_serial.fetch_add(1, std::memory_order_relaxed);
  conditional_handles_.insert(made);
  return made;
}

void Graph::CollectReferences(std::vector<Reference>* references_out) const {
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
