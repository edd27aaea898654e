// MetadataCopy: gives a graph that CUDA cloned the metadata of its source: the index, and the boxes below it with
// theirs. Copied beforehand, rekeyed after the driver has cloned, published in one step that cannot fail.
#ifndef HOLDFAST_LIB_ATTACHMENTS_METADATA_COPY_H_
#define HOLDFAST_LIB_ATTACHMENTS_METADATA_COPY_H_

#include <cuda.h>

#include <memory>
#include <vector>

#include "lib/attachments/graph_box.h"

namespace holdfast::attachments {

// Linear in the number of nodes with metadata, on average.
//
// The references came with the clone: CUDA copies them, and the copied index names the same attachments.
// Bodies of conditional nodes are not copied: the driver has no way to find a body of a clone by the original's.
class MetadataCopy {
 public:
  // Copies. Throws std::bad_alloc. REQUIRES: `source` is alive, and unchanged until Rekey.
  MetadataCopy(const GraphBox& source, Hierarchy& target);

  // Finds in `clone` what was copied. Throws DriverError, and std::logic_error if the driver maps two nodes to one;
  // then nothing is published. REQUIRES: called once.
  void Rekey(CUgraph clone);

  // REQUIRES: Rekey has returned, `target` is the published box of the clone and has no metadata yet.
  void Publish(GraphBox& target) noexcept;

 private:
  struct Child {
    CUgraphNode owner_node;  // of the source, then of the clone
    CUgraph graph = nullptr;
    OwnedGraphs::Entry entry;
    std::unique_ptr<MetadataCopy> copy;
  };

  std::vector<AttachmentIndex::Entry> entries_;  // keyed by nodes of the source, then of the clone
  std::vector<Child> children_;
  AttachmentIndex rekeyed_;
  OwnedGraphs owned_;
};

}  // namespace holdfast::attachments

#endif  // HOLDFAST_LIB_ATTACHMENTS_METADATA_COPY_H_
