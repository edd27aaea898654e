#include "scenarios/fuzz/reference_model.h"

#include <algorithm>
#include <unordered_map>

namespace holdfast::fuzz {
namespace {

void EraseOne(std::vector<BundleId>* references, BundleId bundle) {
  references->erase(std::find(references->begin(), references->end(), bundle));
}

bool FindIn(const Shape& shape, NodeId node, Path* path) {
  for (std::size_t position = 0; position < shape.parts.size(); ++position) {
    const Shape::Part& part = shape.parts[position];
    path->push_back(static_cast<int>(position));
    if (part.source == node) {
      return true;
    }
    for (const Shape& below : part.graphs) {
      if (FindIn(below, node, path)) {
        return true;
      }
    }
    path->pop_back();
  }
  return false;
}

bool BeginsWith(const Path& path, const Path& beginning) {
  return path.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), path.begin());
}

}  // namespace

bool IsConditional(NodeKind kind) { return kind >= NodeKind::kIf; }

bool IsMemoryNode(NodeKind kind) { return kind == NodeKind::kAllocation || kind == NodeKind::kFree; }

bool IsSameTopology(const Shape& left, const Shape& right) {
  const auto same_part = [](const Shape::Part& one, const Shape::Part& other) {
    return one.kind == other.kind &&
           std::equal(one.graphs.begin(), one.graphs.end(), other.graphs.begin(), other.graphs.end(), &IsSameTopology);
  };
  return left.edges == right.edges &&
         std::equal(left.parts.begin(), left.parts.end(), right.parts.begin(), right.parts.end(), same_part);
}

// ---- owners and bundles ----

BundleId ReferenceModel::NewBundle(std::span<const OwnerId> owners) {
  if (std::all_of(owners.begin(), owners.end(), [](OwnerId owner) { return owner == kNone; })) {
    return kNone;
  }
  bundles_.push_back({{owners.begin(), owners.end()}});
  return static_cast<BundleId>(bundles_.size()) - 1;
}

// ---- graphs ----

GraphId ReferenceModel::NewGraph(HierarchyId hierarchy, GraphId parent) {
  Graph& graph = graphs_.emplace_back();
  graph.hierarchy = hierarchy;
  graph.parent = parent;
  return static_cast<GraphId>(graphs_.size()) - 1;
}

GraphId ReferenceModel::CreateRoot() {
  const auto hierarchy = static_cast<HierarchyId>(hierarchies_.size());
  hierarchies_.emplace_back();
  return hierarchies_[hierarchy].root = NewGraph(hierarchy, kNone);
}

GraphId ReferenceModel::CloneRoot(GraphId source) {
  const GraphId clone = CreateRoot();
  CopyContents(source, clone, /*owners_are_known=*/true);
  return clone;
}

NodeId ReferenceModel::NewNode(GraphId graph, NodeKind kind, std::span<const NodeId> dependencies) {
  const auto id = static_cast<NodeId>(nodes_.size());
  Node& node = nodes_.emplace_back();
  node.kind = kind;
  node.graph = graph;
  graphs_[graph].nodes.push_back(id);
  for (const NodeId dependency : dependencies) {
    AddEdge(dependency, id);
  }
  return id;
}

NodeId ReferenceModel::AddNode(GraphId graph, NodeKind kind, BundleId bundle, std::span<const NodeId> dependencies,
                               int parameter) {
  const NodeId id = NewNode(graph, kind, dependencies);
  nodes_[id].parameter = parameter;
  ReplaceBundle(id, bundle);
  return id;
}

NodeId ReferenceModel::AddConditional(GraphId graph, NodeKind kind, unsigned body_count,
                                      std::span<const NodeId> dependencies) {
  const NodeId id = NewNode(graph, kind, dependencies);
  for (unsigned i = 0; i < body_count; ++i) {
    const GraphId body = NewGraph(graphs_[graph].hierarchy, graph);
    graphs_[body].is_body = true;
    nodes_[id].graphs.push_back(body);
  }
  return id;
}

NodeId ReferenceModel::AddChildByCopy(GraphId graph, GraphId source, std::span<const NodeId> dependencies,
                                      bool owners_are_known) {
  // The copy first: the source may be a graph that the new node is in.
  const GraphId child = NewGraph(graphs_[graph].hierarchy, graph);
  CopyContents(source, child, owners_are_known);
  const NodeId id = NewNode(graph, NodeKind::kChild, dependencies);
  nodes_[id].graphs = {child};
  return id;
}

NodeId ReferenceModel::AddChildByMove(GraphId graph, GraphId source, std::span<const NodeId> dependencies) {
  const NodeId id = NewNode(graph, NodeKind::kChild, dependencies);
  nodes_[id].graphs = {source};
  const HierarchyId from = graphs_[source].hierarchy;
  const HierarchyId to = graphs_[graph].hierarchy;
  graphs_[source].parent = graph;
  // With what is gone already: its handles keep the new hierarchy from now on.
  for (Graph& moved : graphs_) {
    if (moved.hierarchy == from) {
      moved.hierarchy = to;
    }
  }
  hierarchies_[to].handles += hierarchies_[from].handles;
  hierarchies_[to].has_conditions |= hierarchies_[from].has_conditions;
  hierarchies_[to].refused_memory_nodes |= hierarchies_[from].refused_memory_nodes;
  hierarchies_[from] = Hierarchy{.exists = false};
  return id;
}

void ReferenceModel::AddAnonymously(GraphId graph, BundleId bundle) {
  if (bundle != kNone) {
    graphs_[graph].references.push_back(bundle);
  }
}

void ReferenceModel::KeepEmptyList(GraphId graph) {
  bundles_.emplace_back();
  graphs_[graph].references.push_back(static_cast<BundleId>(bundles_.size()) - 1);
}

void ReferenceModel::AddEdge(NodeId from, NodeId to) { graphs_[nodes_[to].graph].edges.emplace_back(from, to); }

void ReferenceModel::RemoveEdge(NodeId from, NodeId to) {
  std::erase(graphs_[nodes_[to].graph].edges, std::pair(from, to));
}

void ReferenceModel::DestroyNode(NodeId id, bool is_kept) {
  ReplaceBundle(id, kNone, is_kept);
  Node& node = nodes_[id];
  Graph& graph = graphs_[node.graph];
  node.alive = false;
  std::erase(graph.nodes, id);
  std::erase_if(graph.edges, [id](const auto& edge) { return edge.first == id || edge.second == id; });
  for (const GraphId owned : node.graphs) {
    EndGraph(owned);
  }
}

void ReferenceModel::ReplaceBundle(NodeId id, BundleId bundle, bool is_kept) {
  Node& node = nodes_[id];
  std::vector<BundleId>& references = graphs_[node.graph].references;
  if (node.bundle != kNone && !is_kept) {
    EraseOne(&references, node.bundle);
  }
  node.bundle = bundle;
  if (bundle != kNone) {
    references.push_back(bundle);
  }
}

void ReferenceModel::ReplaceChild(NodeId id, GraphId source, bool owners_are_known) {
  const GraphId child = NewGraph(graphs_[nodes_[id].graph].hierarchy, nodes_[id].graph);
  CopyContents(source, child, owners_are_known);
  EndGraph(nodes_[id].graphs.front());
  nodes_[id].graphs = {child};
}

void ReferenceModel::EndBody(GraphId body) {
  graphs_[body].alive = false;
  for (const NodeId node : graphs_[body].nodes) {
    nodes_[node].alive = false;
    for (const GraphId owned : nodes_[node].graphs) {
      EndBody(owned);
    }
  }
}

void ReferenceModel::CopyContents(GraphId source, GraphId target, bool owners_are_known) {
  if (hierarchies_[graphs_[source].hierarchy].refused_memory_nodes) {
    NoteRefusedMemoryNode(target);
  }
  std::unordered_map<NodeId, NodeId> copies;
  const std::vector<NodeId> nodes = graphs_[source].nodes;
  for (const NodeId original : nodes) {
    const NodeId copy = NewNode(target, nodes_[original].kind, {});
    copies[original] = copy;
    nodes_[copy].parameter = nodes_[original].parameter;
    nodes_[copy].bundle = owners_are_known ? nodes_[original].bundle : kNone;
    const std::vector<GraphId> owned = nodes_[original].graphs;
    for (const GraphId below : owned) {
      const GraphId child = NewGraph(graphs_[target].hierarchy, target);
      nodes_[copy].graphs.push_back(child);
      CopyContents(below, child, owners_are_known);
    }
  }
  for (const auto& [from, to] : graphs_[source].edges) {
    graphs_[target].edges.emplace_back(copies.at(from), copies.at(to));
  }
  graphs_[target].references = graphs_[source].references;
}

void ReferenceModel::EndGraph(GraphId id) {
  Graph& graph = graphs_[id];
  graph.alive = false;
  graph.exists = false;
  graph.capturing = false;
  graph.references.clear();
  if (graph.parent == kNone) {
    hierarchies_[graph.hierarchy].exists = false;
  }
  for (const NodeId node : graph.nodes) {
    nodes_[node].alive = false;
    for (const GraphId owned : nodes_[node].graphs) {
      EndGraph(owned);
    }
  }
}

// ---- handles ----

GraphId ReferenceModel::DropHandle(GraphId graph) {
  Hierarchy& hierarchy = hierarchies_[graphs_[graph].hierarchy];
  if (--hierarchy.handles > 0 || !hierarchy.exists) {
    return kNone;
  }
  EndGraph(hierarchy.root);
  return hierarchy.root;
}

// ---- executables ----

ExecutableId ReferenceModel::Instantiate(GraphId graph, bool list_is_kept) {
  const auto id = static_cast<ExecutableId>(executables_.size());
  executables_.emplace_back().shape = ShapeOf(graph);
  UpdateExecutable(id, graph, list_is_kept);
  return id;
}

void ReferenceModel::UpdateExecutable(ExecutableId id, GraphId source, bool list_is_kept) {
  Executable& executable = executables_[id];
  DropReferences(executable);
  bundles_.emplace_back();
  executable.list = static_cast<BundleId>(bundles_.size()) - 1;
  graphs_[source].references.push_back(executable.list);
  CollectReferences(source, {}, &executable.references);
  if (!list_is_kept) {
    EraseOne(&graphs_[source].references, executable.list);
  }
}

void ReferenceModel::AddOwners(ExecutableId id, std::span<const OwnerId> owners) {
  std::vector<OwnerId>& list = bundles_[executables_[id].list].owners;
  list.insert(list.end(), owners.begin(), owners.end());
}

void ReferenceModel::UpdateExecutableChild(ExecutableId id, NodeId node, GraphId source) {
  Executable& executable = executables_[id];
  const Path place = Find(id, node);
  for (ExecutableReference& reference : executable.references) {
    if (BeginsWith(reference.origin, place)) {
      reference.certain = false;
    }
  }
  CollectReferences(source, place, &executable.references);
}

void ReferenceModel::Close(ExecutableId id) {
  executables_[id].open = false;
  DropReferences(executables_[id]);
}

void ReferenceModel::DropReferences(Executable& executable) {
  if (executable.was_used) {
    for (const ExecutableReference& reference : executable.references) {
      lingering_.push_back(reference.bundle);
    }
  }
  executable.references.clear();
}

void ReferenceModel::Launch(ExecutableId id, bool is_blocked) {
  Executable& executable = executables_[id];
  executable.was_used = true;
  launches_.push_back({executable.references});
  if (!is_blocked) {
    // It may be over by now.
    for (const ExecutableReference& reference : executable.references) {
      lingering_.push_back(reference.bundle);
    }
    launches_.pop_back();
  }
}

void ReferenceModel::FinishLaunches() {
  for (const InFlight& launch : launches_) {
    for (const ExecutableReference& reference : launch.references) {
      lingering_.push_back(reference.bundle);
    }
  }
  launches_.clear();
}

void ReferenceModel::CollectReferences(GraphId id, const Path& origin,
                                       std::vector<ExecutableReference>* references) const {
  const Graph& graph = graphs_[id];
  for (const BundleId bundle : graph.references) {
    references->push_back({bundle, origin});
  }
  for (std::size_t position = 0; position < graph.nodes.size(); ++position) {
    Path path = origin;
    path.push_back(static_cast<int>(position));
    for (const GraphId owned : nodes_[graph.nodes[position]].graphs) {
      CollectReferences(owned, path, references);
    }
  }
}

// ---- what follows ----

std::vector<ReferenceModel::Count> ReferenceModel::CountReferences(bool with_lingering) const {
  std::vector<Count> counts(bundles_.size(), Count::kNo);
  const auto raise = [&counts](BundleId bundle, Count count) { counts[bundle] = std::max(counts[bundle], count); };
  for (const Graph& graph : graphs_) {
    for (const BundleId bundle : graph.references) {
      raise(bundle, Count::kYes);
    }
  }
  for (const Executable& executable : executables_) {
    for (const ExecutableReference& reference : executable.references) {
      raise(reference.bundle, reference.certain ? Count::kYes : Count::kPerhaps);
    }
  }
  for (const InFlight& launch : launches_) {
    for (const ExecutableReference& reference : launch.references) {
      raise(reference.bundle, reference.certain ? Count::kYes : Count::kPerhaps);
    }
  }
  for (const BundleId bundle : lingering_) {
    raise(bundle, with_lingering ? Count::kPerhaps : Count::kNo);
  }
  return counts;
}

std::vector<OwnerState> ReferenceModel::OwnerStates(bool is_settled) const {
  const std::vector<Count> counts = CountReferences(!is_settled);
  std::vector<OwnerState> states(static_cast<std::size_t>(owner_count_), OwnerState::kFree);
  for (std::size_t bundle = 0; bundle < bundles_.size(); ++bundle) {
    if (counts[bundle] == Count::kNo) {
      continue;
    }
    const OwnerState state = counts[bundle] == Count::kYes ? OwnerState::kHeld : OwnerState::kLingering;
    for (const OwnerId owner : bundles_[bundle].owners) {
      if (owner != kNone) {
        states[owner] = std::min(states[owner], state);
      }
    }
  }
  return states;
}

std::uint64_t ReferenceModel::LiveRoots() const {
  return static_cast<std::uint64_t>(std::count_if(hierarchies_.begin(), hierarchies_.end(),
                                                  [](const Hierarchy& hierarchy) { return hierarchy.exists; }));
}

std::uint64_t ReferenceModel::LiveExecutables() const {
  return static_cast<std::uint64_t>(std::count_if(executables_.begin(), executables_.end(),
                                                  [](const Executable& executable) { return executable.open; }));
}

LiveRange ReferenceModel::LiveBundles(bool is_settled) const {
  LiveRange range;
  for (const Count count : CountReferences(/*with_lingering=*/!is_settled)) {
    range.least += count == Count::kYes ? 1 : 0;
    range.most += count != Count::kNo ? 1 : 0;
  }
  return range;
}

std::span<const OwnerId> ReferenceModel::OwnersOf(NodeId node) const {
  const BundleId bundle = nodes_[node].alive ? nodes_[node].bundle : kNone;
  return bundle == kNone ? std::span<const OwnerId>() : std::span<const OwnerId>(bundles_[bundle].owners);
}

GraphId ReferenceModel::OutermostOfBodies(GraphId graph) const {
  while (graphs_[graph].is_body) {
    graph = graphs_[graph].parent;
  }
  return graph;
}

bool ReferenceModel::HasEdge(NodeId from, NodeId to) const {
  const std::vector<std::pair<NodeId, NodeId>>& edges = graphs_[nodes_[to].graph].edges;
  return std::find(edges.begin(), edges.end(), std::pair(from, to)) != edges.end();
}

// Takes away nodes that nothing left points to, until none is left or none can be taken.
bool ReferenceModel::HasCycle(GraphId id) const {
  const Graph& graph = graphs_[id];
  std::vector<std::pair<NodeId, NodeId>> edges = graph.edges;
  for (std::size_t before = edges.size() + 1; edges.size() < before;) {
    before = edges.size();
    std::erase_if(edges, [&edges](const auto& edge) {
      return std::none_of(edges.begin(), edges.end(), [&](const auto& other) { return other.second == edge.first; });
    });
  }
  const auto below_has_cycle = [this](GraphId owned) { return HasCycle(owned); };
  return !edges.empty() || std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](NodeId node) {
    return std::any_of(nodes_[node].graphs.begin(), nodes_[node].graphs.end(), below_has_cycle);
  });
}

bool ReferenceModel::IsPlain(GraphId graph) const {
  const Hierarchy& hierarchy = hierarchies_[graphs_[graph].hierarchy];
  const auto is_special = [](NodeKind kind) { return IsConditional(kind) || IsMemoryNode(kind); };
  return !hierarchy.has_conditions && !hierarchy.refused_memory_nodes && !HasKind(hierarchy.root, is_special);
}

bool ReferenceModel::HasKind(GraphId graph, bool (*is_kind)(NodeKind)) const {
  const std::vector<NodeId>& nodes = graphs_[graph].nodes;
  return std::any_of(nodes.begin(), nodes.end(), [&](NodeId node) {
    const std::vector<GraphId>& owned = nodes_[node].graphs;
    return is_kind(nodes_[node].kind) ||
           std::any_of(owned.begin(), owned.end(), [&](GraphId below) { return HasKind(below, is_kind); });
  });
}

Shape ReferenceModel::ShapeOf(GraphId id) const {
  const Graph& graph = graphs_[id];
  Shape shape;
  std::unordered_map<NodeId, int> positions;
  for (const NodeId node : graph.nodes) {
    positions[node] = static_cast<int>(shape.parts.size());
    Shape::Part& part = shape.parts.emplace_back(Shape::Part{node, nodes_[node].kind, {}});
    for (const GraphId owned : nodes_[node].graphs) {
      part.graphs.push_back(ShapeOf(owned));
    }
  }
  for (const auto& [from, to] : graph.edges) {
    shape.edges.emplace_back(positions.at(from), positions.at(to));
  }
  return shape;
}

Path ReferenceModel::Find(ExecutableId executable, NodeId node) const {
  Path path;
  FindIn(executables_[executable].shape, node, &path);
  return path;
}

}  // namespace holdfast::fuzz
