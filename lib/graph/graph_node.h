// GraphNode: a handle to one node of a GraphDefinition.
#ifndef HOLDFAST_LIB_GRAPH_GRAPH_NODE_H_
#define HOLDFAST_LIB_GRAPH_GRAPH_NODE_H_

#include <cuda.h>

#include <memory>
#include <utility>
#include <vector>

#include "lib/attachments/graph_box.h"
#include "lib/graph/operands.h"
#include "lib/handles/opaque_handle.h"

namespace holdfast {

class GraphDefinition;

// Copies name the same node. A handle keeps the graph alive, and stays safe to use after the node is destroyed: it then
// says so. It never comes to mean another node, though CUDA gives the raw handle out again.
//
// Thread safety: as the graph's.
class GraphNode {
 public:
  // Names no node.
  GraphNode() = default;

  // Whether the node exists.
  bool IsValid() const noexcept { return record_ != nullptr && record_->raw != nullptr; }

  // Null once destroyed.
  CUgraphNode raw() const noexcept { return record_ != nullptr ? record_->raw : nullptr; }

  // REQUIRES: the handle names, or named, a node.
  CUgraphNodeType type() const noexcept { return record_->type; }

  // The owners behind the present parameters; empty for a destroyed node.
  std::vector<OpaqueHandle> Owners() const;

  // Removes the node with its edges. What others need of its owners they keep; the graph lets go of them. A second call
  // does nothing. If the driver refuses, DriverError is thrown and node, edges and owners are as before.
  // After the driver agreed nothing throws.
  void Destroy();

  // Replaces function and data, with their owners, together. Executables made before keep the old ones.
  // Throws std::logic_error for a destroyed node or one of another kind, DriverError and std::bad_alloc; then
  // parameters and owners are as before.
  void UpdateHost(const HostCallback& callback);

  // Replaces target and pattern, with the owner, together; the node's context stays. Errors as above.
  void UpdateMemset(const MemoryOperand& destination, const MemsetParameters& parameters);

  friend bool operator==(const GraphNode& left, const GraphNode& right) noexcept {
    return left.record_ == right.record_;
  }

 private:
  friend class GraphDefinition;

  // Shared by all handles of the node.
  struct Record {
    std::shared_ptr<attachments::GraphBox> box;
    CUgraphNodeType type;
    CUcontext context;  // of memset and memcpy nodes: where they run
    CUgraphNode raw = nullptr;
  };

  explicit GraphNode(std::shared_ptr<Record> record) noexcept : record_(std::move(record)) {}

  // Throws std::logic_error naming `operation` unless the node exists and is of `type`.
  void RequireUpdatable(CUgraphNodeType type, const char* operation) const;
  void SetParameters(CUgraphNodeParams& parameters, const std::vector<OpaqueHandle>& owners, const char* doing);

  std::shared_ptr<Record> record_;
};

}  // namespace holdfast

#endif  // HOLDFAST_LIB_GRAPH_GRAPH_NODE_H_
