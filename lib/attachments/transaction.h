// AttachmentTransaction: gives a node its owners in two phases, around the driver call that changes the node.
//
//   AttachmentTransaction transaction(box, owners, context);  // all that can fail; the graph holds the new owners too
//   Check(cuGraphNodeSetParams(...));                         // the driver agrees, or an exception undoes the first
//   step transaction.Commit(node);                                 // publish; cannot fail
#ifndef HOLDFAST_LIB_ATTACHMENTS_TRANSACTION_H_
#define HOLDFAST_LIB_ATTACHMENTS_TRANSACTION_H_

#include <cuda.h>

#include <span>

#include "lib/attachments/attachment.h"
#include "lib/attachments/attachment_index.h"
#include "lib/attachments/graph_box.h"
#include "lib/handles/opaque_handle.h"

namespace holdfast::attachments {

// Thread safety: as the box's.
class AttachmentTransaction {
 public:
  // Prepares. With an owner that is not null: makes their attachment and its user object, and has the graph retain it.
  // Without: stages the removal of what the node has, with no driver call. `context` is kept with the node.
  // REQUIRES: `box` is alive and outlives the transaction.
  // Throws DriverError, std::bad_alloc, and std::logic_error if the deferred cleanup was not started; then the graph is
  // as it was and the owners are released: on this thread if CUDA never knew of them, by the queue otherwise.
  AttachmentTransaction(GraphBox& box, std::span<const OpaqueHandle> owners, CUcontext context = nullptr);

  // Undoes the preparation unless it was committed: the graph lets go of the new owners, the queue releases them.
  ~AttachmentTransaction();
  AttachmentTransaction(const AttachmentTransaction&) = delete;
  AttachmentTransaction& operator=(const AttachmentTransaction&) = delete;

  // Makes the prepared owners those of `node`, in place of the ones it had, which the graph then lets go of.
  // REQUIRES: the driver call has succeeded; called once.
  // ENSURES: the index is changed before the old reference is given up. If the driver refuses that, the failure is
  // reported and the old owners stay, at the longest until the graph is destroyed.
  void Commit(CUgraphNode node) noexcept;

  // Leaves the prepared owners with the graph, for a node that could not be found: they go with the graph, or with what
  // is made from it. REQUIRES: as Commit.
  void CommitAnonymously() noexcept;

 private:
  void MakeUserObject(Attachment::Pointer attachment);

  GraphBox& box_;
  // Retained by the graph; null when a removal is staged, and after Commit.
  Attachment* prepared_ = nullptr;
  // Room in the index for the new entry; empty when there is neither an owner nor a context.
  AttachmentIndex::Entry entry_;
};

}  // namespace holdfast::attachments

#endif  // HOLDFAST_LIB_ATTACHMENTS_TRANSACTION_H_
