#include "fault/ledger/graphs.h"

#include <algorithm>
#include <utility>

namespace holdfast::fault {

GraphPointer Graphs::Find(Handle handle) const {
  const auto found = graphs_.find(handle);
  return found == graphs_.end() ? nullptr : found->second;
}

void Graphs::Register(Handle handle, const GraphPointer& graph) {
  graph->handle = handle;
  graphs_[handle] = graph;
  dead_.GivenOut(handle);
}

void Graphs::Created(Handle handle) {
  auto graph = std::make_shared<Graph>();
  graph->known = true;
  graph->root = true;
  Register(handle, graph);
}

GraphPointer Graphs::Copy(const GraphPointer& source) const {
  auto graph = std::make_shared<Graph>();
  graph->known = source != nullptr && source->known;
  if (!graph->known) return graph;
  graph->references = source->references;
  const auto copy_node = [&](Handle origin, const std::vector<GraphPointer>& children) {
    CopiedNode copied{origin, {}};
    for (const GraphPointer& child : children) copied.graphs.push_back(Copy(child));
    graph->copied_nodes.push_back(std::move(copied));
  };
  for (const Handle node : source->nodes_with_graphs) {
    const auto found = nodes_.find(node);
    if (found != nodes_.end() && found->second.parent.lock() == source) copy_node(node, found->second.graphs);
  }
  // Nobody knows the handles of these, so nobody can ask for their copies; what they hold still counts.
  for (const CopiedNode& copied : source->copied_nodes) copy_node(0, copied.graphs);
  return graph;
}

void Graphs::Cloned(Handle handle, const GraphPointer& source) {
  const GraphPointer graph = Copy(source);
  graph->root = true;
  Register(handle, graph);
}

std::uint64_t Graphs::ReferencesOf(ObjectId object) {
  ++questions_;
  std::uint64_t references = 0;
  VisitAll([&](const Graph& graph) {
    const auto held = graph.references.find(object);
    if (graph.counted == questions_ || held == graph.references.end()) return;
    graph.counted = questions_;
    references += held->second;
  });
  return references;
}

GraphPointer Graphs::StartCapture() {
  auto graph = std::make_shared<Graph>();
  graph->known = true;
  return graph;
}

GraphPointer Graphs::Seen(Handle handle) {
  dead_.GivenOut(handle);
  GraphPointer& graph = graphs_[handle];
  if (graph == nullptr) {
    graph = std::make_shared<Graph>();
    graph->handle = handle;
  }
  return graph;
}

void Graphs::Own(Handle parent, OwningNode owner) {
  const GraphPointer graph = Seen(parent);
  owner.parent = graph;
  if (std::find(graph->nodes_with_graphs.begin(), graph->nodes_with_graphs.end(), owner.node) ==
      graph->nodes_with_graphs.end()) {
    graph->nodes_with_graphs.push_back(owner.node);
  }
  nodes_[owner.node] = std::move(owner);
}

void Graphs::Embedded(Handle parent, Handle node, const GraphPointer& source, bool moved) {
  const GraphPointer child = moved ? source : Copy(source);
  child->root = false;
  Own(parent, {node, {}, {child}});
}

void Graphs::GotBodies(Handle parent, Handle node, std::span<const Handle> bodies) {
  OwningNode owner{node, {}, {}};
  for (const Handle body : bodies) {
    auto graph = std::make_shared<Graph>();
    graph->known = true;
    Register(body, graph);
    owner.graphs.push_back(graph);
  }
  Own(parent, std::move(owner));
}

void Graphs::ChildSeen(Handle node, Handle handle) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || found->second.graphs.size() != 1 || found->second.parent.expired()) {
    const GraphPointer graph = Seen(handle);
    // Whatever is booked under the handle did not come from this node, so it may be out of date.
    graph->known = false;
    graph->root = false;
    return;
  }
  GraphPointer& child = found->second.graphs[0];
  if (child->handle == handle && Find(handle) == child) return;
  if (child->handle != 0) child = std::make_shared<Graph>();  // replaced out of our sight
  Register(handle, child);
}

void Graphs::NodeFound(Handle copy, Handle origin, Handle node) {
  const GraphPointer graph = Find(copy);
  if (graph == nullptr || origin == 0) return;
  const auto copied = std::find_if(graph->copied_nodes.begin(), graph->copied_nodes.end(),
                                   [origin](const CopiedNode& entry) { return entry.origin == origin; });
  if (copied == graph->copied_nodes.end()) return;
  OwningNode owner{node, {}, std::move(copied->graphs)};
  graph->copied_nodes.erase(copied);
  Own(copy, std::move(owner));
}

void Graphs::Keep(const GraphPointer& graph) {
  VisitTree(graph, [](Graph& each) { each.kept = true; });
}

GraphPointer Graphs::RootOf(const GraphPointer& graph) const {
  for (const auto& [node, owner] : nodes_) {
    if (std::find(owner.graphs.begin(), owner.graphs.end(), graph) != owner.graphs.end()) {
      const GraphPointer parent = owner.parent.lock();
      return parent != nullptr ? RootOf(parent) : graph;
    }
  }
  return graph;
}

void Graphs::TakeBelow(const GraphPointer& graph, Dying& dying) {
  dying.graphs.push_back(graph);
  const auto registered = graphs_.find(graph->handle);
  if (registered != graphs_.end() && registered->second == graph) graphs_.erase(registered);
  for (const Handle node : graph->nodes_with_graphs) {
    const auto found = nodes_.find(node);
    // The driver reuses node handles at once (fact N1), so the entry may be another graph's by now.
    if (found == nodes_.end() || found->second.parent.lock() != graph) continue;
    dying.nodes.push_back(found->second);
    nodes_.erase(found);
    const OwningNode owner = dying.nodes.back();
    for (const GraphPointer& child : owner.graphs) TakeBelow(child, dying);
  }
}

Dying Graphs::TakeGraph(Handle handle) {
  Dying dying;
  if (const GraphPointer graph = Find(handle)) TakeBelow(graph, dying);
  return dying;
}

Dying Graphs::TakeNode(Handle node) {
  Dying dying;
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return dying;
  const OwningNode owner = found->second;
  dying.nodes.push_back(owner);
  nodes_.erase(found);
  if (const GraphPointer parent = owner.parent.lock()) std::erase(parent->nodes_with_graphs, node);
  for (const GraphPointer& child : owner.graphs) TakeBelow(child, dying);
  return dying;
}

void Graphs::PutBack(const Dying& dying) {
  for (const GraphPointer& graph : dying.graphs) {
    if (graph->handle != 0) graphs_.emplace(graph->handle, graph);
  }
  for (const OwningNode& owner : dying.nodes) {
    const GraphPointer parent = owner.parent.lock();
    if (parent == nullptr || !nodes_.emplace(owner.node, owner).second) continue;
    std::erase(parent->nodes_with_graphs, owner.node);
    parent->nodes_with_graphs.push_back(owner.node);
  }
}

void Graphs::Bury(const Dying& dying, Handle also) {
  for (const GraphPointer& graph : dying.graphs) {
    if (graph->handle != 0 && !graphs_.contains(graph->handle)) dead_.Died(graph->handle);
  }
  const bool listed = std::any_of(dying.graphs.begin(), dying.graphs.end(),
                                  [also](const GraphPointer& graph) { return graph->handle == also; });
  if (also != 0 && !listed && !graphs_.contains(also)) dead_.Died(also);
}

std::size_t Graphs::CountRoots(bool kept) const {
  return static_cast<std::size_t>(std::count_if(graphs_.begin(), graphs_.end(), [kept](const auto& entry) {
    return entry.second->root && entry.second->kept == kept;
  }));
}

}  // namespace holdfast::fault
