// GraphBox: the record of one graph: its handle, its place in the hierarchy, and what is known of its nodes.
#ifndef HOLDFAST_LIB_ATTACHMENTS_GRAPH_BOX_H_
#define HOLDFAST_LIB_ATTACHMENTS_GRAPH_BOX_H_

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lib/attachments/attachment_index.h"
#include "lib/attachments/graph_registry.h"
#include "lib/attachments/node_record.h"
#include "lib/attachments/node_records.h"
#include "lib/attachments/owned_graphs.h"
#include "lib/handles/opaque_handle.h"

namespace holdfast::attachments {

class Hierarchy;

// One for each live graph that the library knows of, with an address that stays. When CUDA has destroyed the graph the
// box becomes a tombstone: its handle is null, it knows no nodes, and it lives on for as long as anybody has a handle
// to it.
//
// Thread safety: as CUDA's for one hierarchy: one thread at a time, the caller synchronises. graph() and Handle() from
// any thread.
class GraphBox : public std::enable_shared_from_this<GraphBox> {
 public:
  enum class Kind { kRoot, kChild, kBody };

  // Throws std::bad_alloc.
  GraphBox(Hierarchy& hierarchy, Kind kind);
  GraphBox(const GraphBox&) = delete;
  GraphBox& operator=(const GraphBox&) = delete;

  // Null for a tombstone, and for a box that has not been published yet.
  // Memory ordering: relaxed, as NodeRecord::raw.
  CUgraph graph() const noexcept { return graph_.load(std::memory_order_relaxed); }
  bool IsAlive() const noexcept { return graph() != nullptr; }

  // Memory ordering: relaxed, as graph(). From any thread.
  Kind kind() const noexcept { return kind_.load(std::memory_order_relaxed); }

  // The graph whose node `owner_node` owns this one; null for a root.
  GraphBox* parent() const noexcept { return parent_; }
  CUgraphNode owner_node() const noexcept { return owner_node_; }

  Hierarchy& hierarchy() const noexcept { return *hierarchy_; }

  // What keeps this box and its whole hierarchy alive; null when the hierarchy is going away already.
  // Throws std::bad_alloc.
  GraphHandle Handle();

  // Shared by what CUDA has made of this graph and still has: clones, copies inside of child-graph nodes, executables.
  // Throws std::bad_alloc.
  std::shared_ptr<const void> CopyToken();

  // Of whose graph this one is a copy, for as long as it is there.
  void set_copy_of(std::shared_ptr<const void> token) noexcept { copy_of_ = std::move(token); }

  // Whether CUDA still has anything made of a graph that is embedded in this one, at whatever depth.
  bool HasCopiesBelow() const noexcept;

  // Whether a node of this graph, or of one below it, is a conditional node with known bodies.
  bool HasBodiesBelow() const noexcept;

  // Copies of the owners behind the node's present parameters, slot by slot as they were given, nulls included; empty
  // if it has none.
  std::vector<OpaqueHandle> OwnersOf(CUgraphNode node) const;

  // Takes one reference of the graph's to `attachment` back. A driver that refuses may have done it or not, so it is
  // neither tried again nor looked at again: at worst the graph goes on holding it until it is destroyed.
  // ENSURES: `attachment` may be gone. Nothing is done for a tombstone: CUDA dropped its references with the graph.
  void ReleaseReference(Attachment* attachment) noexcept;

  AttachmentIndex& index() noexcept { return index_; }
  const AttachmentIndex& index() const noexcept { return index_; }
  NodeRecords& node_records() noexcept { return node_records_; }
  OwnedGraphs& owned_graphs() noexcept { return owned_graphs_; }
  const OwnedGraphs& owned_graphs() const noexcept { return owned_graphs_; }

 private:
  friend class Hierarchy;

  // Keeps a box and its hierarchy; shared by all handles to the box, so that the last handle can be told.
  struct Pin;

  template <typename Predicate>
  bool AnyBelow(const Predicate& is_so) const noexcept;

  // Another hierarchy has taken the box over.
  void SetHierarchy(Hierarchy& hierarchy) noexcept;

  Hierarchy* hierarchy_;
  std::atomic<Kind> kind_;
  std::atomic<CUgraph> graph_{nullptr};
  GraphBox* parent_ = nullptr;
  CUgraphNode owner_node_ = nullptr;
  AttachmentIndex index_;
  NodeRecords node_records_;
  OwnedGraphs owned_graphs_;
  std::shared_ptr<const void> copies_;   // null until there is a first copy
  std::shared_ptr<const void> copy_of_;  // null: of none
  GraphRegistry::Room registry_room_;
  std::weak_ptr<Hierarchy> keeper_;  // guarded by the lock of handles (graph_box.cc)
  std::weak_ptr<Pin> pin_;           // the same
};

}  // namespace holdfast::attachments

#endif  // HOLDFAST_LIB_ATTACHMENTS_GRAPH_BOX_H_
