// NodeRecord: what all handles of one node share.
#ifndef HOLDFAST_LIB_ATTACHMENTS_NODE_RECORD_H_
#define HOLDFAST_LIB_ATTACHMENTS_NODE_RECORD_H_

#include <cuda.h>

#include <atomic>
#include <memory>
#include <utility>

namespace holdfast::attachments {

class GraphBox;

// Keeps a graph's hierarchy alive. Null: no graph.
using GraphHandle = std::shared_ptr<GraphBox>;

// One a node as long as any handle of it exists (NodeRecords finds it again); its address is the node's identity, so
// two destroyed nodes stay different and a node that CUDA gives the same raw handle is another one.
//
// Thread safety: raw() from any thread; the rest never changes.
class NodeRecord {
 public:
  NodeRecord(GraphHandle graph, CUgraphNodeType type) noexcept : graph_(std::move(graph)), type_(type) {}

  // Takes itself out of the graph's NodeRecords.
  ~NodeRecord();
  NodeRecord(const NodeRecord&) = delete;
  NodeRecord& operator=(const NodeRecord&) = delete;

  const GraphHandle& graph() const noexcept { return graph_; }
  CUgraphNodeType type() const noexcept { return type_; }

  // Null once the node is gone, and before NodeRecords::Add.
  // Memory ordering: relaxed. Who uses the node is on the thread that may use its graph; anybody else gets a hint.
  CUgraphNode raw() const noexcept { return raw_.load(std::memory_order_relaxed); }

 private:
  friend class NodeRecords;

  const GraphHandle graph_;
  const CUgraphNodeType type_;
  std::atomic<CUgraphNode> raw_{nullptr};
};

}  // namespace holdfast::attachments

#endif  // HOLDFAST_LIB_ATTACHMENTS_NODE_RECORD_H_
