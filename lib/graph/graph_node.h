// GraphNode: a handle to one node of a GraphDefinition.
#ifndef HOLDFAST_LIB_GRAPH_GRAPH_NODE_H_
#define HOLDFAST_LIB_GRAPH_GRAPH_NODE_H_

#include <cuda.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lib/attachments/graph_box.h"
#include "lib/attachments/node_record.h"
#include "lib/attachments/use_scope.h"
#include "lib/graph/node_updates.h"
#include "lib/graph/operands.h"
#include "lib/handles/opaque_handle.h"
#include "lib/handles/resources.h"

namespace holdfast {

class GraphDefinition;

// Copies name the same node. A handle keeps the graph's hierarchy alive, and stays safe to use after the node is gone:
// it then says so. It never comes to mean another node, though CUDA gives the raw handle out again.
//
// Operations on a node that is gone throw std::logic_error, unless they say otherwise. What a driver call refuses is a
// DriverError, and the graph is then as before.
//
// Thread safety: as the graph's. IsValid, raw, type and comparison may be asked from any thread.
class GraphNode {
 public:
  // Names no node.
  GraphNode() = default;

  // Whether the node exists.
  bool IsValid() const noexcept { return record_ != nullptr && record_->raw() != nullptr; }

  // The same for handles that are equal, before and after the node is gone.
  std::size_t Hash() const noexcept { return std::hash<const void*>()(record_.get()); }

  // Null once the node is gone.
  CUgraphNode raw() const noexcept { return record_ != nullptr ? record_->raw() : nullptr; }

  // REQUIRES: the handle names, or named, a node.
  CUgraphNodeType type() const noexcept { return record_->type(); }

  // The graph that the node is in, or was. REQUIRES: as type().
  GraphDefinition Graph() const;

  // The owners behind the present parameters; empty for a node that is gone.
  std::vector<OpaqueHandle> Owners() const;

  // Nodes with an edge to this one, and from it; empty for a node that is gone. Each is the handle that others have
  // too.
  std::vector<GraphNode> Predecessors() const;
  std::vector<GraphNode> Successors() const;

  // The copy inside a child-graph node; the bodies of a conditional node, in order.
  // Throws std::logic_error for a node of another kind. The bodies of a conditional node that was made elsewhere are
  // not known, and the list is empty: no driver before 13.2 tells.
  GraphDefinition ChildGraph() const;
  std::vector<GraphDefinition> Bodies() const;

  // Present parameters, asked of the driver. Throw std::logic_error for a node of another kind.
  // The handles are the ones that were given, found again by their raw values; null if the library never had them.
  KernelHandle Kernel() const;
  LaunchConfiguration KernelConfiguration() const;
  CopyParameters Copy() const;  // its operands have no owners: see Owners
  FillParameters Fill() const;  // the same
  EventHandle Event() const;    // of event-record and event-wait nodes
  CUdeviceptr AllocatedAddress() const;
  AllocationParameters Allocation() const;
  CUdeviceptr FreedAddress() const;

  // Removes the node with its edges and the graphs that it owns. What others need of its owners they keep; the graph
  // lets go of them. A second call does nothing. If the driver refuses, DriverError is thrown and node, edges and
  // owners are as before; should it have destroyed the node all the same, the node is gone with all that (IsValid).
  // After the driver agreed nothing throws.
  void Destroy();

  // Replace parameters, and with them the owners of what is replaced; what is not given is kept. Executables made
  // before keep the old ones. An update that gives nothing does nothing. Throw std::logic_error for a node of another
  // kind, std::invalid_argument for parameters that contradict each other, DriverError and std::bad_alloc; then
  // parameters and owners are as before. Only a change of a kernel's clusters or cooperative launch takes several
  // driver calls: what was changed when one is refused is changed back, and should the driver refuse that too, it is
  // reported and stays changed.
  void UpdateKernel(const KernelUpdate& update);
  void UpdateMemcpy(const MemcpyUpdate& update);
  void UpdateMemset(const MemsetUpdate& update);

  // The same for kinds whose parameters are given whole.
  void UpdateMemcpy(const CopyParameters& copy);
  void UpdateMemset(const MemoryOperand& destination, const MemsetParameters& parameters);
  void UpdateHost(const HostCallback& callback);
  void UpdateEventRecord(const EventHandle& event);
  void UpdateEventWait(const EventHandle& event);

  // Puts a copy of `source` in place of the embedded graph. All handles to the old copy and its nodes are then handles
  // to something that is gone. Throws std::invalid_argument if `source` is in this node's own hierarchy, before
  // anything has changed. After the driver has replaced the graph, finding the new copy and its nodes can still fail
  // (DriverError): the old copy is gone then and the new one is in place, holds its owners and is found by
  // ChildGraph(), but its nodes are known without their owners.
  void UpdateChildGraph(const GraphDefinition& source);

  // By node, not by what it holds.
  friend bool operator==(const GraphNode& left, const GraphNode& right) noexcept {
    return left.record_ == right.record_;
  }

 private:
  friend class ExecNode;
  friend class GraphDefinition;

  explicit GraphNode(std::shared_ptr<attachments::NodeRecord> record) noexcept : record_(std::move(record)) {}

  // How each operation begins that needs the node: one thread at a time in the hierarchy, for as long as it lives, and
  // the node must exist, and be of `type`.
  class Operation {
   public:
    // Throws std::logic_error naming `operation`; nothing has been done then.
    Operation(const GraphNode& node, CUgraphNodeType type, const char* operation);

   private:
    attachments::UseScope use_;
  };

  // Throws std::logic_error naming `operation` unless the node exists (and is of `type`).
  void RequireValid(const char* operation) const;
  void RequireType(CUgraphNodeType type, const char* operation) const;

  // The graph's box. REQUIRES: the handle names, or named, a node.
  attachments::GraphBox& Box() const noexcept { return *record_->graph(); }

  // Handles for nodes of the same graph.
  std::vector<GraphNode> Handles(std::span<const CUgraphNode> nodes) const;

  // The context that the node runs in, the calling thread's if it is not known. Throws DriverError.
  CUcontext Context() const;

  void SetParameters(CUgraphNodeParams& parameters, std::span<const OpaqueHandle> owners, CUcontext context,
                     const char* doing);

  std::shared_ptr<attachments::NodeRecord> record_;
};

}  // namespace holdfast

#endif  // HOLDFAST_LIB_GRAPH_GRAPH_NODE_H_
