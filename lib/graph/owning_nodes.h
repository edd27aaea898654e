// Nodes that own graphs (child-graph and conditional nodes): adding them, changing them, and undoing an addition, with
// the boxes and metadata of what they own.
#ifndef HOLDFAST_LIB_GRAPH_OWNING_NODES_H_
#define HOLDFAST_LIB_GRAPH_OWNING_NODES_H_

#include <cuda.h>

#include <span>
#include <vector>

#include "lib/attachments/graph_box.h"
#include "lib/attachments/node_record.h"

namespace holdfast::graph {

// Each adds one node to `graph` behind `dependencies` and returns it, with what it owns published. Throws DriverError,
// std::bad_alloc, std::invalid_argument; then the node has been destroyed again. Should the driver refuse that, it is
// reported and the node stays, without metadata.

// Throws std::invalid_argument if `source` is in the hierarchy of `graph`, where the driver would crash.
// With `undo_later` a node whose addition has to be undone is put there instead: the driver destroys no node of a graph
// that is being captured. REQUIRES: it has room for one.
CUgraphNode AddCopiedChild(const attachments::GraphHandle& graph, attachments::GraphBox& source,
                           std::span<const CUgraphNode> dependencies, std::vector<CUgraphNode>* undo_later = nullptr);

// Throws std::invalid_argument unless `source` is the root of another hierarchy, and DriverError for a driver before
// 12.9, which would copy. After the driver agreed nothing fails.
CUgraphNode AddMovedChild(const attachments::GraphHandle& graph, const attachments::GraphHandle& source,
                          std::span<const CUgraphNode> dependencies);

// In the calling thread's context. After the driver agreed nothing fails.
CUgraphNode AddConditional(const attachments::GraphHandle& graph, CUgraphConditionalHandle condition,
                           CUgraphConditionalNodeType type, unsigned body_count,
                           std::span<const CUgraphNode> dependencies);

// Puts a copy of `source` in place of the graph that `node` owns. Throws std::invalid_argument as AddCopiedChild,
// DriverError, std::bad_alloc; then nothing has changed, unless it is the new copy that could not be examined: the old
// one is a tombstone then, and the new one has a box (if it was found) and no metadata.
void ReplaceChild(attachments::GraphBox& graph, CUgraphNode node, attachments::GraphBox& source);

// Destroys a node that was added and whose addition has to be undone, with its metadata. A refusal is reported.
// Returns whether the node is gone; if it is not, its owners must stay.
bool UndoAddition(attachments::GraphBox& graph, CUgraphNode node) noexcept;

}  // namespace holdfast::graph

#endif  // HOLDFAST_LIB_GRAPH_OWNING_NODES_H_
