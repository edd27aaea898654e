// Graphs: which exist, which nodes own a graph, and how many references of each user object a graph holds.
//
// A graph is *known* when its whole history passed through here, so that its references are exact: created empty,
// cloned from or embedded out of a known graph, captured from a beginning that was seen. What lies below a copied graph
// is copied with it, and known again once the subject asks the driver which node of the copy owns it. A graph that
// turned up from elsewhere is recorded as unknown and never judged.
//
// Driver rules used, by number of driver-facts.md: U5 a clone gets the references of its source; U9 a node owns none;
// U10, U11 those of an embedded graph go with its node, or when it is replaced; U12 a moved graph keeps its handle.
//
// Not thread-safe; the ledger locks.
#ifndef HOLDFAST_FAULT_LEDGER_GRAPHS_H_
#define HOLDFAST_FAULT_LEDGER_GRAPHS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "fault/ledger/handles.h"
#include "fault/ledger/user_objects.h"

namespace holdfast::fault {

struct Graph;
using GraphPointer = std::shared_ptr<Graph>;

// What a node of a copied graph owns, while nobody has asked for the node: known by the node it was copied from.
struct CopiedNode {
  Handle origin = 0;
  std::vector<GraphPointer> graphs;
};

struct Graph {
  Handle handle = 0;  // 0: embedded, and nobody has asked for its handle yet
  bool known = false;
  bool root = false;  // the subject has to destroy it
  bool kept = false;  // a fault kept its destroy call, or that of what it belongs to, from the driver
  std::unordered_map<ObjectId, std::uint64_t> references;
  std::unordered_map<ObjectId, std::uint64_t>
      given_up;  // of the references: a fault kept their release from the driver
  std::vector<Handle> nodes_with_graphs;
  std::vector<CopiedNode> copied_nodes;
  mutable std::uint64_t counted = 0;  // by the last question of that number, since a graph may come more than once
};

// A node that owns graphs: one for a child-graph node, several for a conditional one.
struct OwningNode {
  Handle node = 0;
  std::weak_ptr<Graph> parent;
  std::vector<GraphPointer> graphs;
};

// Graphs on their way out: a root, or what a node owns, with everything below. Kept while the driver call is made.
struct Dying {
  std::vector<GraphPointer> graphs;
  std::vector<OwningNode> nodes;
};

class Graphs {
 public:
  // The graph with this handle, or null. Unseen ones are never made up here.
  GraphPointer Find(Handle handle) const;

  // A root that the driver made: empty, or with the references of `source` (which may be null for an unknown one).
  void Created(Handle handle);
  void Cloned(Handle handle, const GraphPointer& source);

  // A graph under construction by a capture. It gets its handle once the driver tells it.
  GraphPointer StartCapture();
  void Register(Handle handle, const GraphPointer& graph);
  void MakeRoot(const GraphPointer& graph) { graph->root = true; }

  // A handle that the driver gave out by a call that makes nothing; recorded as unknown unless it is there.
  GraphPointer Seen(Handle handle);

  // `node` of `parent` now owns a copy of `source`, or `source` itself if it moved, or new empty bodies.
  void Embedded(Handle parent, Handle node, const GraphPointer& source, bool moved);
  void GotBodies(Handle parent, Handle node, std::span<const Handle> bodies);
  void ChildSeen(Handle node, Handle handle);

  // The driver said that `node` of `copy` is the copy of `origin`.
  void NodeFound(Handle copy, Handle origin, Handle node);

  // A fault kept the graph's destroy call from the driver: it stays, with everything below, and is not the subject's
  // any more.
  void Keep(const GraphPointer& graph);

  // The root above a graph that a node owns; the graph itself if none does.
  GraphPointer RootOf(const GraphPointer& graph) const;

  // Calls `visit(graph)` for the graph and everything below it; a graph may come more than once.
  template <typename Visit>
  void VisitTree(const GraphPointer& graph, const Visit& visit) const {
    visit(*graph);
    for (const CopiedNode& copied : graph->copied_nodes) {
      for (const GraphPointer& child : copied.graphs) VisitTree(child, visit);
    }
    for (const Handle node : graph->nodes_with_graphs) {
      const auto found = nodes_.find(node);
      if (found == nodes_.end() || found->second.parent.lock() != graph) continue;
      for (const GraphPointer& child : found->second.graphs) VisitTree(child, visit);
    }
  }

  // The same for all graphs that there are.
  template <typename Visit>
  void VisitAll(const Visit& visit) const {
    for (const auto& [handle, graph] : graphs_) VisitTree(graph, visit);
  }

  // How many references of the object all graphs hold together.
  std::uint64_t ReferencesOf(ObjectId object);

  // Graphs that have a handle.
  std::size_t booked() const { return graphs_.size(); }

  // Takes a root, or what a node owns, out of the books before the driver is asked to destroy it.
  Dying TakeGraph(Handle handle);
  Dying TakeNode(Handle node);
  void PutBack(const Dying& dying);

  // They are gone: their handles are dead unless the driver has given them out again meanwhile.
  void Bury(const Dying& dying, Handle also = 0);

  // Roots that the subject has to destroy, and those that a fault keeps.
  std::size_t roots() const { return CountRoots(/*kept=*/false); }
  std::size_t kept_roots() const { return CountRoots(/*kept=*/true); }

  DeadHandles& dead() { return dead_; }

 private:
  // A graph with the contents of `source`, and copies of what is below; an unknown one if there is none.
  GraphPointer Copy(const GraphPointer& source) const;

  std::size_t CountRoots(bool kept) const;
  void TakeBelow(const GraphPointer& graph, Dying& dying);
  void Own(Handle parent, OwningNode owner);

  std::unordered_map<Handle, GraphPointer> graphs_;
  std::unordered_map<Handle, OwningNode> nodes_;
  DeadHandles dead_;
  std::uint64_t questions_ = 0;
};

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_LEDGER_GRAPHS_H_
