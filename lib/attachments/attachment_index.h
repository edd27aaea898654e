// AttachmentIndex: what a graph's record knows of its nodes.
//
// The index never owns: references that CUDA counts do. A node's entry says which user object carries the node's
// present parameters, so that changing or removing the node gives up the right reference; everything else that still
// needs the old parameters (executables, clones, launches) has references of its own.
#ifndef HOLDFAST_LIB_ATTACHMENTS_ATTACHMENT_INDEX_H_
#define HOLDFAST_LIB_ATTACHMENTS_ATTACHMENT_INDEX_H_

#include <cuda.h>

#include <cstddef>
#include <unordered_map>

#include "lib/attachments/attachment.h"

namespace holdfast::attachments {

struct NodeEntry {
  // Null for a node without owners.
  Attachment* attachment = nullptr;
  // Where a memset or memcpy node runs, which the driver does not tell; null for other kinds and unknown ones.
  CUcontext context = nullptr;
};

// Entries for nodes that have an attachment or a context.
class AttachmentIndex {
 public:
  using Map = std::unordered_map<CUgraphNode, NodeEntry>;
  // One entry made beforehand: putting it in neither allocates nor fails.
  using Entry = Map::node_type;

  // Throws std::bad_alloc. ENSURES: there is room for one entry more than there are.
  Entry MakeEntry(const NodeEntry& value);
  // The same for `additional` entries more.
  void Reserve(std::size_t additional) { entries_.reserve(entries_.size() + additional); }

  // REQUIRES: `node` has no entry, and MakeEntry or Reserve made room.
  void Insert(CUgraphNode node, Entry entry) noexcept;

  // Takes the node's entry out; null attachment if there is none.
  NodeEntry Take(CUgraphNode node) noexcept;

  // Nulls if the node has no entry.
  NodeEntry Find(CUgraphNode node) const noexcept;

  void Clear() noexcept;

  const Map& entries() const noexcept { return entries_; }
  std::size_t attachment_count() const noexcept { return attachment_count_; }

 private:
  Map entries_;
  std::size_t attachment_count_ = 0;
};

}  // namespace holdfast::attachments

#endif  // HOLDFAST_LIB_ATTACHMENTS_ATTACHMENT_INDEX_H_
