// Hierarchy: one root graph with all graphs that its nodes own, and what CUDA destroys together.
#ifndef HOLDFAST_LIB_ATTACHMENTS_HIERARCHY_H_
#define HOLDFAST_LIB_ATTACHMENTS_HIERARCHY_H_

#include <cuda.h>

#include <atomic>
#include <memory>
#include <span>

#include "lib/attachments/graph_box.h"

namespace holdfast::attachments {

// Lives as long as any handle to any of its boxes. With the last handle all boxes leave the registry, then the root is
// destroyed, once; the attachments that nothing else refers to go to the cleanup queue. Graphs below the root are
// CUDA's to destroy.
//
// Thread safety: one thread at a time, the caller synchronises (UseScope notices, in a debug build, who does not). The
// last handle may be dropped on any thread.
// Memory ordering: what boxes store is relaxed, as GraphBox says.
class Hierarchy : public std::enable_shared_from_this<Hierarchy> {
 public:
  // A hierarchy whose root has a box but no graph yet: all that can fail comes before the driver call that makes one.
  // Throws std::bad_alloc, and std::logic_error if the deferred cleanup has not been started.
  static GraphHandle PrepareRoot();

  // Gives a prepared root its graph, which the hierarchy owns from now on.
  static void PublishRoot(const GraphHandle& root, CUgraph graph) noexcept;

  // An empty root graph, or the clone of one with its metadata (MetadataCopy). Throws DriverError too; nothing is left
  // behind then.
  static GraphHandle CreateRoot();
  static GraphHandle CloneRoot(GraphBox& source);

  // The box of a live graph, by whatever route its raw handle came; null if the library does not know it.
  static GraphHandle Find(CUgraph graph);

  ~Hierarchy();
  Hierarchy(const Hierarchy&) = delete;
  Hierarchy& operator=(const Hierarchy&) = delete;

  GraphBox& root() noexcept { return *root_; }

  // A box for a graph that a node is about to own, or is found to own. Throws std::bad_alloc.
  std::shared_ptr<GraphBox> PrepareOwned(GraphBox::Kind kind);

  // Publishes boxes that were prepared, for `graphs` in order, as owned by `node` of `parent`.
  // REQUIRES: `entry` holds the boxes, is from parent.owned_graphs(), and there are as many graphs.
  void PublishOwned(GraphBox& parent, CUgraphNode node, OwnedGraphs::Entry entry,
                    std::span<const CUgraph> graphs) noexcept;

  // The boxes for what `node` owns, as CUDA says: those that are known, or new ones. Throws std::bad_alloc.
  const OwnedGraphs::Boxes& FindOrMakeOwned(GraphBox& parent, CUgraphNode node, GraphBox::Kind kind,
                                            std::span<const CUgraph> graphs);

  // A root of another hierarchy becomes what `node` of `parent` owns, with all its handles, boxes and metadata: CUDA
  // has moved it there. Prepared before the driver call, and then certain. Throws std::bad_alloc.
  static OwnedGraphs::Entry PrepareAbsorb(GraphBox& parent, const GraphHandle& root);
  static void Absorb(GraphBox& parent, CUgraphNode node, const GraphHandle& root, OwnedGraphs::Entry entry) noexcept;

  // CUDA has destroyed what `node` owned: the boxes and all below them become tombstones. Does nothing if it owned
  // nothing that is known.
  void EndOwned(GraphBox& parent, CUgraphNode node) noexcept;

  // CUDA has destroyed the root itself, with everything in it (a capture that ended in error): all boxes become
  // tombstones, and the hierarchy destroys nothing.
  void EndRoot() noexcept;

  // CUDA has destroyed one body while its conditional node still names it (a body capture that ended in error): the box
  // becomes a tombstone, so that nothing is called on it any more. From then on the driver crashes when the root is
  // destroyed or instantiated, or the conditional node destroyed: the hierarchy leaves the root alone for good, with
  // all that it holds.
  void EndBody(GraphBox& body) noexcept;

  // False after EndBody.
  bool IsWhole() const noexcept { return !has_lost_body_; }
  // Throws std::logic_error naming `operation`, which the driver would not survive, unless it is whole.
  void RequireWhole(const char* operation) const;

  // The root is being captured into: CUDA owns it until the capture has ended, so the hierarchy does not destroy it.
  void set_capturing(bool capturing) noexcept { capturing_ = capturing; }

 private:
  friend class UseScope;

  Hierarchy() = default;

  static void Register(GraphBox& box, CUgraph graph) noexcept;
  static void UnregisterTree(GraphBox& box) noexcept;
  static void MoveTree(GraphBox& box, Hierarchy& target) noexcept;
  // Makes a box and all below it tombstones.
  static void EntombTree(GraphBox& box) noexcept;

  // Null once the root has been absorbed.
  std::shared_ptr<GraphBox> root_;
  // Where the root went: old handles keep it alive through this.
  std::shared_ptr<Hierarchy> absorbed_by_;
  bool capturing_ = false;
  bool has_lost_body_ = false;
  // The thread inside an operation; used by UseScope.
  std::atomic<const void*> user_{nullptr};
};

}  // namespace holdfast::attachments

#endif  // HOLDFAST_LIB_ATTACHMENTS_HIERARCHY_H_
