// ReferenceModel: who keeps what alive, in plain data.
//
// What the library promises, and driver-facts.md says of CUDA, written down once more without either:
//
//   bundle       the owners behind one parameter version of one node, or the list of an executable. Nobody owns it;
//                holders have references to it, and with the last reference all its owners are released.
//   graph        holds a reference for each node with owners, and perhaps anonymous ones (U9). A copy of a graph copies
//                them (U5). A graph in a node (child, body) goes with the node (U10), a root with its last handle.
//   hierarchy    a root and all graphs below it. A handle to any of its graphs or nodes keeps all of it.
//   executable   copies the references of the whole hierarchy when it is made (U5); an update of the whole puts the
//                source's in their place (U6); an update of a node adds to a list of the executable's own.
//   launch       holds what its executable held when it was launched (U4, U7).
//
// An operation here is the effect of one that succeeded. One that fails has no effect and is not told.
//
// References that go at the end of a launch, or with an executable that was launched or uploaded, go late (U4b, E16):
// until the next Settle they are *lingering*, and nobody can say whether they are still there.
//
// Thread safety: none.
#ifndef HOLDFAST_SCENARIOS_FUZZ_REFERENCE_MODEL_H_
#define HOLDFAST_SCENARIOS_FUZZ_REFERENCE_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::fuzz {

// Indices into the model's tables. What they name stays there when it is gone.
using OwnerId = int;
using BundleId = int;
using NodeId = int;
using GraphId = int;
using HierarchyId = int;
using ExecutableId = int;
inline constexpr int kNone = -1;

enum class NodeKind : std::uint8_t {
  kEmpty,
  kHost,
  kMemset,
  kMemcpy,
  kCopyOfRows,
  kKernel,
  kEventRecord,
  kEventWait,
  kAllocation,
  kFree,
  kChild,
  kIf,
  kIfElse,
  kWhile,
  kSwitch,
};

bool IsConditional(NodeKind kind);
bool IsMemoryNode(NodeKind kind);

struct Bundle {
  std::vector<OwnerId> owners;  // by slot of the parameters; kNone where there is none
};

struct Node {
  NodeKind kind = NodeKind::kEmpty;
  GraphId graph = kNone;
  bool alive = true;
  BundleId bundle = kNone;      // of the present parameters; the graph's reference, not the node's
  int parameter = 0;            // one number that an update can change: a value, a size
  std::vector<GraphId> graphs;  // the copy in a child-graph node; the bodies of a conditional node
};

struct Graph {
  HierarchyId hierarchy = kNone;
  GraphId parent = kNone;  // kNone for a root
  bool is_body = false;    // of a conditional node
  bool alive = true;       // for its handles
  bool exists = true;      // for the driver; a body whose capture ended in error exists, and is no use to anyone
  bool capturing = false;
  std::vector<NodeId> nodes;  // in the order in which they were added
  std::vector<std::pair<NodeId, NodeId>> edges;
  std::vector<BundleId> references;
};

struct Hierarchy {
  GraphId root = kNone;
  int handles = 0;
  bool exists = true;
  bool has_conditions = false;        // made for one of its graphs
  bool refused_memory_nodes = false;  // which the driver counts all the same (fact M12)
};

// What an executable made of a graph, by position, since an update of the whole keeps positions.
struct Shape {
  struct Part {
    NodeId source;
    NodeKind kind;
    std::vector<Shape> graphs;
  };
  std::vector<Part> parts;
  std::vector<std::pair<int, int>> edges;  // in the order in which they were added, by which drivers pair nodes
};
// Whether an update can certainly put one in place of the other: kinds are the same, and edges with their order.
bool IsSameTopology(const Shape& left, const Shape& right);

// Positions of nodes, from the outermost graph inwards.
using Path = std::vector<int>;

struct ExecutableReference {
  BundleId bundle;
  Path origin;  // the node whose graph it came with; empty for the outermost graph
  bool certain = true;
};

struct Executable {
  bool open = true;
  bool was_used = false;  // launched or uploaded
  Shape shape;
  BundleId list = kNone;  // the owners that updates of its nodes brought
  std::vector<ExecutableReference> references;
};

enum class OwnerState : std::uint8_t {
  kHeld,       // somebody has a reference: it must not have been released
  kLingering,  // perhaps
  kFree,       // it must be released, once, as soon as the cleanup has run
};

// How many there are, at least and at most.
struct LiveRange {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};

class ReferenceModel {
 public:
  // ---- owners and bundles ----
  OwnerId NewOwner() { return owner_count_++; }
  int owner_count() const { return owner_count_; }
  // kNone if there is no owner in it: a node without owners has no bundle.
  BundleId NewBundle(std::span<const OwnerId> owners);

  // ---- graphs ----
  GraphId CreateRoot();
  // An independent copy; positions of nodes are the source's, on all levels.
  GraphId CloneRoot(GraphId source);
  NodeId AddNode(GraphId graph, NodeKind kind, BundleId bundle, std::span<const NodeId> dependencies,
                 int parameter = 0);
  NodeId AddConditional(GraphId graph, NodeKind kind, unsigned body_count, std::span<const NodeId> dependencies);
  // Without `owners_are_known` the copy's nodes have lost theirs, which the copy holds all the same.
  NodeId AddChildByCopy(GraphId graph, GraphId source, std::span<const NodeId> dependencies,
                        bool owners_are_known = true);
  NodeId AddChildByMove(GraphId graph, GraphId source, std::span<const NodeId> dependencies);
  void AddAnonymously(GraphId graph, BundleId bundle);
  // The list of an executable that was never made.
  void KeepEmptyList(GraphId graph);
  void AddEdge(NodeId from, NodeId to);
  void RemoveEdge(NodeId from, NodeId to);
  // `is_kept`: the driver refused to give up the reference, and the graph goes on holding it.
  void DestroyNode(NodeId node, bool is_kept = false);
  void ReplaceBundle(NodeId node, BundleId bundle, bool is_kept = false);
  void SetParameter(NodeId node, int parameter) { nodes_[node].parameter = parameter; }
  // Puts a copy of `source` in place of the node's graph.
  void ReplaceChild(NodeId node, GraphId source, bool owners_are_known = true);
  void AddCondition(GraphId graph) { hierarchies_[graphs_[graph].hierarchy].has_conditions = true; }
  void NoteRefusedMemoryNode(GraphId graph) { hierarchies_[graphs_[graph].hierarchy].refused_memory_nodes = true; }
  void SetCapturing(GraphId graph, bool capturing) { graphs_[graph].capturing = capturing; }
  // CUDA destroyed the root itself.
  void EndRoot(GraphId root) { EndGraph(root); }
  // The body is of no use any more, but its parent still has it.
  void EndBody(GraphId body);

  // ---- handles of the program: to a graph, or to a node in it ----
  void AddHandle(GraphId graph) { ++hierarchies_[graphs_[graph].hierarchy].handles; }
  // The root that goes with it, or kNone.
  GraphId DropHandle(GraphId graph);

  // ---- executables ----
  // `list_is_kept`: the graph goes on holding the executable's list.
  ExecutableId Instantiate(GraphId graph, bool list_is_kept = false);
  void UpdateExecutable(ExecutableId executable, GraphId source, bool list_is_kept = false);
  void AddOwners(ExecutableId executable, std::span<const OwnerId> owners);
  // The references that came with the old child go sooner or later.
  void UpdateExecutableChild(ExecutableId executable, NodeId node, GraphId source);
  void Close(ExecutableId executable);
  void Upload(ExecutableId executable) { executables_[executable].was_used = true; }
  // A launch that cannot have ended before FinishLaunches, or one that may have ended at once.
  void Launch(ExecutableId executable, bool is_blocked);
  void FinishLaunches();
  bool HasBlockedLaunches() const { return !launches_.empty(); }

  // Everything that is late has arrived. REQUIRES: no launch is blocked.
  void Settle() { lingering_.clear(); }

  // ---- what follows ----
  // One an owner. With `is_settled` as if Settle had been called.
  std::vector<OwnerState> OwnerStates(bool is_settled = false) const;
  std::uint64_t LiveRoots() const;
  std::uint64_t LiveExecutables() const;
  LiveRange LiveBundles(bool is_settled = false) const;

  const Bundle& bundle(BundleId id) const { return bundles_[id]; }
  const Node& node(NodeId id) const { return nodes_[id]; }
  const Graph& graph(GraphId id) const { return graphs_[id]; }
  const Hierarchy& hierarchy(HierarchyId id) const { return hierarchies_[id]; }
  const Executable& executable(ExecutableId id) const { return executables_[id]; }
  NodeId node_count() const { return static_cast<NodeId>(nodes_.size()); }
  GraphId graph_count() const { return static_cast<GraphId>(graphs_.size()); }

  // The owners of the node's present parameters, slot by slot; empty if it has none.
  std::span<const OwnerId> OwnersOf(NodeId node) const;
  // The root or child graph whose bodies the graph is in, or is.
  GraphId OutermostOfBodies(GraphId graph) const;
  bool HasEdge(NodeId from, NodeId to) const;
  bool HasCycle(GraphId graph) const;
  // Whether the graph's hierarchy has neither conditions nor conditional nodes nor memory nodes, refused ones included:
  // with those each driver permits what it likes.
  bool IsPlain(GraphId graph) const;
  // Whether the graph, or one below it, has such a node.
  bool HasKind(GraphId graph, bool (*is_kind)(NodeKind)) const;
  Shape ShapeOf(GraphId graph) const;
  // Where the executable has a node that was made from `node`; empty if nowhere.
  Path Find(ExecutableId executable, NodeId node) const;

 private:
  struct InFlight {
    std::vector<ExecutableReference> references;
  };
  enum class Count : std::uint8_t { kNo, kPerhaps, kYes };

  GraphId NewGraph(HierarchyId hierarchy, GraphId parent);
  NodeId NewNode(GraphId graph, NodeKind kind, std::span<const NodeId> dependencies);
  void CopyContents(GraphId source, GraphId target, bool owners_are_known);
  void EndGraph(GraphId graph);
  void CollectReferences(GraphId graph, const Path& origin, std::vector<ExecutableReference>* references) const;
  void DropReferences(Executable& executable);
  // One a bundle.
  std::vector<Count> CountReferences(bool with_lingering) const;

  int owner_count_ = 0;
  std::vector<Bundle> bundles_;
  std::vector<Node> nodes_;
  std::vector<Graph> graphs_;
  std::vector<Hierarchy> hierarchies_;
  std::vector<Executable> executables_;
  std::vector<InFlight> launches_;
  std::vector<BundleId> lingering_;
};

}  // namespace holdfast::fuzz

#endif  // HOLDFAST_SCENARIOS_FUZZ_REFERENCE_MODEL_H_
