// World: the comparison of library and reference model.
#include <algorithm>
#include <map>
#include <set>

#include "scenarios/fuzz/world.h"

namespace holdfast::fuzz {
namespace {

CUgraphNodeType TypeOf(NodeKind kind) {
  switch (kind) {
    case NodeKind::kEmpty:
      return CU_GRAPH_NODE_TYPE_EMPTY;
    case NodeKind::kHost:
      return CU_GRAPH_NODE_TYPE_HOST;
    case NodeKind::kMemset:
      return CU_GRAPH_NODE_TYPE_MEMSET;
    case NodeKind::kMemcpy:
    case NodeKind::kCopyOfRows:
      return CU_GRAPH_NODE_TYPE_MEMCPY;
    case NodeKind::kKernel:
      return CU_GRAPH_NODE_TYPE_KERNEL;
    case NodeKind::kEventRecord:
      return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    case NodeKind::kEventWait:
      return CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    case NodeKind::kAllocation:
      return CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    case NodeKind::kFree:
      return CU_GRAPH_NODE_TYPE_MEM_FREE;
    case NodeKind::kChild:
      return CU_GRAPH_NODE_TYPE_GRAPH;
    default:
      return CU_GRAPH_NODE_TYPE_CONDITIONAL;
  }
}

bool IsSameOwner(const OpaqueHandle& handle, const std::weak_ptr<const void>& owner) {
  return !handle.owner_before(owner) && !owner.owner_before(handle);
}

std::string NameOf(const char* what, int id) { return std::string(what) + " " + std::to_string(id); }

}  // namespace

void World::Touch(const GraphDefinition& handle, GraphId id) {
  model_->AddHandle(id);
  touched_.emplace_back(handle, id);
}

void World::Touch(const NodeSlot& slot) {
  if (slot.id != kNone) {
    Touch(slot.handle.Graph(), model_->node(slot.id).graph);
  }
}

void World::CompareTouched() {
  for (const auto& [handle, id] : touched_) {
    CompareGraph(handle, id);
  }
  while (!touched_.empty()) {
    const GraphId id = touched_.back().second;
    touched_.pop_back();
    DropHandle(id);
  }
}

void World::CompareOwners(bool late_ones_too) {
  owner_states_ = model_->OwnerStates();
  const bool is_prompt = settings_.delivery == fault::Delivery::kInline && alone_;
  for (OwnerId owner = 0; owner < model_->owner_count(); ++owner) {
    const unsigned releases = owner_counts_.releases(owner);
    const OwnerState state = owner_states_[owner];
    if (releases > 1) {
      Fail(NameOf("owner", owner) + " was released " + std::to_string(releases) + " times");
    }
    if (releases == 1 && state == OwnerState::kHeld) {
      Fail(NameOf("owner", owner) + " was released, though something still needs it");
    }
    if (releases == 0 && state == OwnerState::kFree && (late_ones_too || is_prompt)) {
      Fail(NameOf("owner", owner) + " is still alive, though nothing needs it any more");
    }
    if (was_kept_[owner] && owner_counts_.was_released_outside(owner)) {
      Fail(NameOf("owner", owner) + " was released outside the cleanup");
    }
  }
}

bool World::HasReleasedLingering() const {
  const std::vector<OwnerState> states = model_->OwnerStates(/*is_settled=*/true);
  for (OwnerId owner = 0; owner < model_->owner_count(); ++owner) {
    if (states[owner] == OwnerState::kFree && owner_counts_.releases(owner) == 0) {
      return false;
    }
  }
  return true;
}

bool World::HasCaptures() const {
  for (GraphId graph = 0; graph < model_->graph_count(); ++graph) {
    if (model_->graph(graph).capturing) {
      return true;
    }
  }
  return !orphans_.empty();
}

void World::AfterSettle() {
  model_->Settle();
  CompareOwners(/*late_ones_too=*/true);
  CompareHandles();
}

// Each handle knows whether its graph or node still exists, and a live graph is found by its raw handle, whatever
// others do with raw handles of theirs.
void World::CompareHandles() const {
  for (const GraphSlot& slot : graphs_) {
    if (slot.id == kNone || !slot.handle->IsValid()) {
      continue;
    }
    const std::optional<GraphDefinition> found = GraphDefinition::Find(slot.handle->raw());
    if (!found || !(*found == *slot.handle)) {
      Fail(NameOf("graph", slot.id) + (found ? " is taken for another graph" : " is not found by its raw handle"));
    }
  }
  for (const GraphSlot& slot : graphs_) {
    if (slot.id != kNone && slot.handle->IsValid() != model_->graph(slot.id).alive) {
      Fail(NameOf("graph", slot.id) +
           (model_->graph(slot.id).alive ? " is gone for its handle" : " is gone, and its handle does not know"));
    }
  }
  for (const NodeSlot& slot : nodes_) {
    if (slot.id != kNone && slot.handle.IsValid() != model_->node(slot.id).alive) {
      Fail(NameOf("node", slot.id) +
           (model_->node(slot.id).alive ? " is gone for its handle" : " is gone, and its handle does not know"));
    }
  }
  for (const ExecutableSlot& slot : executables_) {
    if (slot.id != kNone && (slot.handle->raw() != nullptr) != model_->executable(slot.id).open) {
      Fail(NameOf("executable", slot.id) + ": its handle does not know whether it is closed");
    }
  }
}

void World::CompareGraph(const GraphDefinition& handle, GraphId id) const {
  const Graph& graph = model_->graph(id);
  if (handle.IsValid() != graph.alive) {
    Fail(NameOf("graph", id) + (graph.alive ? " is gone for its handle" : " is gone, and its handle does not know"));
  }
  if (!graph.alive || IsBusy(id)) {
    return;
  }
  if (handle.raw() != raw_graphs_[id]) {
    Fail(NameOf("graph", id) + " has another raw handle than the driver gave out for it");
  }
  std::size_t attachments = 0;
  std::set<NodeId> seen;
  for (const GraphNode& node : handle.Nodes()) {
    const NodeId found = FindByRaw(id, node.raw());
    if (found == kNone || !seen.insert(found).second) {
      Fail(NameOf("graph", id) + " has a node that it should not have");
    }
    CompareNode(node, found);
    attachments += model_->node(found).bundle != kNone ? 1 : 0;
  }
  if (seen.size() != graph.nodes.size()) {
    Fail(NameOf("graph", id) + " has " + std::to_string(seen.size()) + " nodes, not " +
         std::to_string(graph.nodes.size()));
  }
  if (handle.attachment_count() != attachments) {
    Fail(NameOf("graph", id) + " knows owners of " + std::to_string(handle.attachment_count()) + " nodes, not of " +
         std::to_string(attachments));
  }
  CompareEdges(handle, id);
}

void World::CompareNode(const GraphNode& handle, NodeId id) const {
  if (!handle.IsValid() || handle.type() != TypeOf(model_->node(id).kind)) {
    Fail(NameOf("node", id) + " has the wrong type");
  }
  for (const NodeSlot& slot : nodes_) {
    if (slot.id == id && !(slot.handle == handle)) {
      Fail(NameOf("node", id) + " was found again as another node than its handle");
    }
  }
  CompareOwnersOf(handle, id);
}

void World::CompareOwnersOf(const GraphNode& handle, NodeId id) const {
  std::vector<OpaqueHandle> owners = handle.Owners();
  std::erase(owners, nullptr);
  std::size_t expected = 0;
  for (const OwnerId owner : model_->OwnersOf(id)) {
    if (owner == kNone) {
      continue;
    }
    ++expected;
    const auto is_it = [&](const OpaqueHandle& found) { return IsSameOwner(found, owners_[owner]); };
    if (std::none_of(owners.begin(), owners.end(), is_it)) {
      Fail(NameOf("node", id) + " lacks " + NameOf("owner", owner));
    }
  }
  if (owners.size() != expected) {
    Fail(NameOf("node", id) + " has " + std::to_string(owners.size()) + " owners, not " + std::to_string(expected));
  }
}

void World::CompareEdges(const GraphDefinition& handle, GraphId id) const {
  std::vector<std::pair<NodeId, NodeId>> edges;
  for (const GraphEdge& edge : handle.Edges()) {
    edges.emplace_back(FindByRaw(id, edge.from.raw()), FindByRaw(id, edge.to.raw()));
  }
  std::vector<std::pair<NodeId, NodeId>> expected = model_->graph(id).edges;
  std::sort(edges.begin(), edges.end());
  std::sort(expected.begin(), expected.end());
  if (edges != expected) {
    Fail(NameOf("graph", id) + " has other edges: " + std::to_string(edges.size()) + ", expected " +
         std::to_string(expected.size()));
  }
}

void World::CompareNeighbours(const GraphNode& handle, NodeId id) const {
  const GraphId graph = model_->node(id).graph;
  const auto collect = [&](const std::vector<GraphNode>& nodes) {
    std::multiset<NodeId> ids;
    for (const GraphNode& node : nodes) {
      ids.insert(FindByRaw(graph, node.raw()));
    }
    return ids;
  };
  std::multiset<NodeId> before;
  std::multiset<NodeId> after;
  for (const auto& [from, to] : model_->graph(graph).edges) {
    if (to == id) {
      before.insert(from);
    }
    if (from == id) {
      after.insert(to);
    }
  }
  if (collect(handle.Predecessors()) != before || collect(handle.Successors()) != after) {
    Fail(NameOf("node", id) + " has other neighbours");
  }
}

void World::CompareParameters(const GraphNode& handle, NodeId id) const {
  const Node& node = model_->node(id);
  const auto expected = static_cast<std::size_t>(node.parameter);
  std::size_t found = expected;
  switch (node.kind) {
    case NodeKind::kMemset:
      found = handle.Fill().pattern.value;
      break;
    case NodeKind::kMemcpy:
      found = handle.Copy().width_bytes;
      break;
    case NodeKind::kKernel:
      found = handle.KernelConfiguration().block[0];
      if (const KernelHandle kernel = handle.Kernel();
          kernel == nullptr || kernel->raw() != environment_.kernel()->raw()) {
        Fail(NameOf("node", id) + " has another kernel");
      }
      break;
    case NodeKind::kEventRecord:
    case NodeKind::kEventWait:
      if (const EventHandle event = handle.Event(); event == nullptr || event->raw() != event_->raw()) {
        Fail(NameOf("node", id) + " has another event");
      }
      break;
    case NodeKind::kAllocation:
      found = handle.AllocatedAddress() == addresses_[id] ? expected : expected + 1;
      break;
    case NodeKind::kFree:
      found = handle.FreedAddress() == addresses_[id] ? expected : expected + 1;
      break;
    default:
      break;
  }
  if (found != expected) {
    Fail(NameOf("node", id) + " has parameter " + std::to_string(found) + ", not " + std::to_string(expected));
  }
}

void World::CompareTree(const GraphDefinition& handle, GraphId id) const {
  CompareGraph(handle, id);
  if (!model_->graph(id).alive || IsBusy(id)) {
    return;
  }
  for (const GraphNode& node : handle.Nodes()) {
    CompareBelow(node, FindByRaw(id, node.raw()));
  }
}

void World::CompareBelow(const GraphNode& handle, NodeId id) const {
  const Node& node = model_->node(id);
  if (node.kind == NodeKind::kChild) {
    CompareTree(handle.ChildGraph(), node.graphs.front());
  } else if (IsConditional(node.kind)) {
    const std::vector<GraphDefinition> bodies = handle.Bodies();
    if (bodies.size() != node.graphs.size()) {
      Fail(NameOf("node", id) + " has " + std::to_string(bodies.size()) + " bodies, not " +
           std::to_string(node.graphs.size()));
    }
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (model_->graph(node.graphs[i]).alive) {
        CompareTree(bodies[i], node.graphs[i]);
      }
    }
  }
}

}  // namespace holdfast::fuzz
