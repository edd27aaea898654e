// Graphs: a root with the graphs that its nodes own, each with its nodes, edges and references to user objects.
//
// Thread safety: none, as with the real driver: one hierarchy, one thread at a time. A second thread inside the same
// hierarchy is noticed and ends the process (GraphUse). The handle tables are safe from any thread.
#ifndef HOLDFAST_FAULT_MODEL_GRAPH_H_
#define HOLDFAST_FAULT_MODEL_GRAPH_H_

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "fault/model/handles.h"
#include "fault/model/node.h"
#include "fault/model/references.h"

namespace holdfast::fault::model {

// A handle that a conditional node may be made with. Handles are numbered within a hierarchy.
struct ConditionalHandle {
  unsigned int default_value = 0;
  bool assigns_default = false;  // at each launch
  bool is_used = false;          // by a node
};

class Graph {
 public:
  static std::unique_ptr<Graph> Create(Graph* parent);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Throws Refusal{CUDA_ERROR_INVALID_VALUE} unless the graph is live.
  static Graph& Require(CUgraph handle);

  // Null unless the graph is live.
  static Graph* Find(CUgraph handle);

  // Gives the root to the table, where a handle keeps it alive until Destroy.
  static CUgraph Publish(std::unique_ptr<Graph> graph);

  // Takes a root back out of the table; its handle and those of all it owns are dead. The references come to `dropped`
  // in the order in which they have to go.
  static void Destroy(CUgraph handle, std::vector<Reference>* dropped);

  // The same for a graph that a node owned.
  static void Discard(std::unique_ptr<Graph> graph, std::vector<Reference>* dropped);

  // Makes a root the embedded graph of a child-graph node that has none; its handle stays.
  static void MoveInto(CUgraph handle, Node& node);

  // Destroys a root, or a graph that a node owns, as the driver does when a capture into it fails (facts C35 and C39):
  // the node goes on referring to what is gone, and who reaches it that way is stopped.
  static void DestroyAnywhere(Graph& graph, std::vector<Reference>* dropped);

  // Notices who reaches a graph that DestroyAnywhere took away from under its node.
  void RequireThere() const;

  // Puts a graph in place of the one that the child-graph node owns, which is discarded.
  static void ReplaceChild(Node& node, std::unique_ptr<Graph> graph, std::vector<Reference>* dropped);

  static std::uint64_t live_roots();

  // Throws Refusal{CUDA_ERROR_INVALID_VALUE} unless they are live nodes of this graph.
  std::vector<Node*> RequireOwnNodes(const CUgraphNode* handles, std::size_t count);

  // Adds a node behind the nodes `dependencies`. Strong: on a throw the graph is as before.
  Node& AddNode(NodeParameters parameters, const CUgraphNode* dependencies, std::size_t count,
                std::vector<std::unique_ptr<Graph>> owned = {});

  // Ends the node, its edges and the graphs that it owns.
  void RemoveNode(Node& node, std::vector<Reference>* dropped);

  // A deep copy, nothing published yet: handles of embedded graphs and nodes are live, references are added.
  // Throws Refusal{CUDA_ERROR_NOT_SUPPORTED} for graphs with conditional handles or memory nodes (facts N6 and B10).
  std::unique_ptr<Graph> Clone(Graph* parent);

  // The node here that was cloned from `original`; null if there is none.
  Node* FindClone(const Node& original);

  // Edges, one after the other: those before the one that is refused stay changed, as with the real driver.
  void AddEdges(const CUgraphNode* from, const CUgraphNode* to, std::size_t count);
  void RemoveEdges(const CUgraphNode* from, const CUgraphNode* to, std::size_t count);

  // Handles of the whole hierarchy, whichever of its graphs they were made on.
  CUgraphConditionalHandle MakeConditionalHandle(unsigned int default_value, bool assigns_default);
  ConditionalHandle* FindConditionalHandle(CUgraphConditionalHandle handle);
  bool HasConditionalHandles() const;
  bool HasUnusedConditionalHandles() const;

  // References of this graph and of all graphs that its nodes own, in the order in which they are dropped.
  void CollectReferences(std::vector<Reference>* references) const;

  // Whether this graph or one that it owns has a node of that kind.
  template <typename Kind>
  bool Has() const {
    RequireThere();
    for (const Node& node : nodes) {
      if (std::holds_alternative<Kind>(node.parameters)) return true;
      for (const std::unique_ptr<Graph>& owned : node.graphs) {
        if (owned->Has<Kind>()) return true;
      }
    }
    return false;
  }

  bool HasMemoryNodes() const;

  // The real driver counts a node of memory before it knows whether it can be made, and does not take it back (fact
  // M12).
  void CountRefusedMemoryNode() { AddMemoryNodes(1); }

  // The same without what is in conditional bodies, in constant time.
  bool HasMemoryNodesOutsideBodies() const { return memory_nodes_ > 0; }

  // Whether a child-graph node owns it.
  bool IsEmbedded() const { return owner != nullptr && std::holds_alternative<ChildGraphNode>(owner->parameters); }

  // Held by what was made of this graph: clones, embedded copies, executables.
  std::shared_ptr<const void> CopyToken();
  bool HasCopies() const { return copies_ != nullptr && copies_.use_count() > 1; }

  Graph& root() { return parent == nullptr ? *this : parent->root(); }

  Graph* parent = nullptr;
  Node* owner = nullptr;  // of an embedded graph or a body: the node of `parent` that owns it
  CUgraph handle = nullptr;
  std::uint64_t serial = 0;       // never used twice in a process
  bool is_captured_into = false;  // nothing of it can be destroyed while a stream captures into it (fact C32)
  std::list<Node> nodes;          // in the order in which they were added
  ReferenceList references;
  std::shared_ptr<const void> copy_of;  // the token of the graph that this one is a copy of
  // Of a root with memory nodes: alive as long as its one executable is.
  std::weak_ptr<const void> only_executable;
  std::atomic<std::uint64_t> user{0};  // of a root: number of the thread inside a call on it; 0 for none

 private:
  Graph() = default;
  void ReleaseHandles(HandleState state);

  std::unique_ptr<Graph> Copy(Graph* parent);
  void AddMemoryNodes(std::size_t count);
  void FreeConditionalHandles(const Node& node);
  void FreeConditionalHandlesOf(const Graph& graph);

  std::map<CUgraphConditionalHandle, ConditionalHandle> conditional_handles_;  // of a root
  CUgraphConditionalHandle last_conditional_handle_ = 0;                       // of a root
  std::unordered_map<std::uint64_t, Node*> clones_;  // origin serial to node; made by the first FindClone
  bool clones_are_known_ = false;
  bool is_freed_ = false;         // by DestroyAnywhere, under the node that owns it
  std::size_t memory_nodes_ = 0;  // with those of child graphs, without those of bodies
  std::shared_ptr<const void> copies_;
};

// The live node of a handle. Throws Refusal{CUDA_ERROR_INVALID_VALUE} if there is none.
Node& RequireNode(CUgraphNode handle);
HandleState NodeHandleState(CUgraphNode handle);

// Marks the hierarchy as used by the calling thread while it lives. A second thread is a misuse.
class GraphUse {
 public:
  explicit GraphUse(Graph& graph);
  ~GraphUse();
  GraphUse(const GraphUse&) = delete;
  GraphUse& operator=(const GraphUse&) = delete;

  // The graph is about to be destroyed: nothing is left to unmark.
  void Forget() { root_ = nullptr; }

 private:
  Graph* root_;  // null if this thread is inside a call on the hierarchy already
};

void DropAll(const std::vector<Reference>& references);

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_GRAPH_H_
