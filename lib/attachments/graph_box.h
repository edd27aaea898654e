// GraphBox: the record of one graph, with the index from its nodes to their attachments.
//
// The index never owns: references that CUDA counts do. A node's entry says which user object carries the node's
// present parameters, so that changing or removing the node gives up the right reference; everything else that still
// needs the old parameters (executables, clones, launches) has references of its own.
#ifndef HOLDFAST_LIB_ATTACHMENTS_GRAPH_BOX_H_
#define HOLDFAST_LIB_ATTACHMENTS_GRAPH_BOX_H_

#include <cuda.h>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "lib/attachments/attachment.h"
#include "lib/handles/opaque_handle.h"

namespace holdfast::attachments {

// std::map, since an entry made beforehand can then be put in without allocating or failing.
using AttachmentIndex = std::map<CUgraphNode, Attachment*>;

// A root graph and its record; destroyed with the last reference to the box.
// Thread safety: as CUDA's for one graph: one thread at a time, the caller synchronises.
class GraphBox {
 public:
  // Creates an empty root graph. Throws DriverError, std::bad_alloc, and std::logic_error if the deferred cleanup has
  // not been started.
  static std::shared_ptr<GraphBox> CreateRoot();

  // Destroys the graph; the attachments that nothing else refers to go to the cleanup queue.
  ~GraphBox();
  GraphBox(const GraphBox&) = delete;
  GraphBox& operator=(const GraphBox&) = delete;

  CUgraph graph() const noexcept { return graph_; }

  // Copies of the owners behind the node's present parameters; empty if it has none.
  std::vector<OpaqueHandle> OwnersOf(CUgraphNode node) const;

  // How many nodes have an attachment.
  std::size_t attachment_count() const noexcept { return index_.size(); }

 private:
  friend class AttachmentTransaction;

  GraphBox() = default;

  // Gives up the graph's reference to an attachment that the index no longer names. A driver that refuses may have done
  // it or not, so it is neither tried again nor looked at again: at worst the graph goes on holding it until it is
  // destroyed. ENSURES: `attachment` may be gone.
  void ReleaseReference(Attachment* attachment) noexcept;

  CUgraph graph_ = nullptr;
  AttachmentIndex index_;
};

}  // namespace holdfast::attachments

#endif  // HOLDFAST_LIB_ATTACHMENTS_GRAPH_BOX_H_
