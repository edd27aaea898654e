// GraphDefinition: a graph under construction, whose nodes keep alive what they refer to.
#ifndef HOLDFAST_LIB_GRAPH_GRAPH_DEFINITION_H_
#define HOLDFAST_LIB_GRAPH_GRAPH_DEFINITION_H_

#include <cuda.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/attachments/graph_box.h"
#include "lib/graph/condition.h"
#include "lib/graph/graph_node.h"
#include "lib/graph/operands.h"
#include "lib/handles/opaque_handle.h"
#include "lib/handles/resources.h"

namespace holdfast {

struct GraphEdge {
  GraphNode from;
  GraphNode to;
};

// Copies name the same graph: a root, the copy inside a child-graph node, or a body of a conditional node. A root is
// destroyed, with all graphs in it, with the last handle to any graph or node of its hierarchy. A graph in a node goes
// with the node; its handles then say so (IsValid), and each operation on them throws std::logic_error.
//
// Every Add throws DriverError when the driver refuses, std::bad_alloc, and std::logic_error for a dependency that does
// not exist or belongs to another graph; then the graph is as before and the new owners are released. After the driver
// agreed nothing throws, but where a function says so. REQUIRES, for every Add: the deferred cleanup has been started
// and a context is current.
//
// Thread safety: as CUDA's for one hierarchy: one thread at a time, the caller synchronises. In a debug build a second
// thread inside gets std::logic_error. Different hierarchies on different threads are independent. IsValid, raw and
// comparison may be asked from any thread.
class GraphDefinition {
 public:
  using Dependencies = std::span<const GraphNode>;

  // Makes an empty graph.
  GraphDefinition();

  // Takes over a root graph that was made by other means: the library destroys it. Throws std::invalid_argument for
  // null and for a graph that the library knows already, std::bad_alloc; then it is still the caller's.
  static GraphDefinition Adopt(CUgraph root);

  // The graph of that raw handle, if it is alive and the library knows it.
  static std::optional<GraphDefinition> Find(CUgraph raw);

  // An independent copy, with its own references to all owners. Throws DriverError, std::bad_alloc; nothing is left
  // then.
  GraphDefinition Clone() const;

  // The same for handles that are equal, before and after the graph is gone.
  std::size_t Hash() const noexcept { return std::hash<const void*>()(box_.get()); }

  // Null once the graph is gone.
  CUgraph raw() const noexcept { return box_->graph(); }
  bool IsValid() const noexcept { return box_->IsAlive(); }

  // How many nodes have owners.
  std::size_t attachment_count() const noexcept { return box_->index().attachment_count(); }

  std::vector<GraphNode> Nodes() const;
  std::vector<GraphEdge> Edges() const;

  void AddEdge(const GraphNode& from, const GraphNode& to);
  void RemoveEdge(const GraphNode& from, const GraphNode& to);

  // Joins `dependencies` and does nothing.
  GraphNode AddEmptyNode(Dependencies dependencies = {});

  // Keeps the kernel, through it the library, and the arguments' owners. Where the driver can tell, number and sizes of
  // the arguments are checked: std::invalid_argument says which is wrong; so it does of a cluster that does not divide
  // the grid. Clusters and cooperative launch are set after the driver has added the node: if it refuses them the node
  // is destroyed again, and should it refuse that too, that is reported and the node stays, without them but with its
  // owners. The first question about a kernel makes a driver that loads code lazily load it, and wait for all that runs
  // on the device.
  GraphNode AddKernelNode(const KernelHandle& kernel, const LaunchConfiguration& configuration,
                          const KernelArguments& arguments, Dependencies dependencies = {});

  // Copies at each launch. Keeps the owners of both sides.
  GraphNode AddMemcpyNode(const MemoryOperand& destination, const MemoryOperand& source, std::size_t size_bytes,
                          Dependencies dependencies = {});
  GraphNode AddMemcpyNode(const CopyParameters& copy, Dependencies dependencies = {});

  // Keeps the target's owner.
  GraphNode AddMemsetNode(const MemoryOperand& destination, const MemsetParameters& parameters,
                          Dependencies dependencies = {});

  // Keeps the owners of function and data.
  GraphNode AddHostNode(const HostCallback& callback, Dependencies dependencies = {});

  // Keep the event.
  GraphNode AddEventRecordNode(const EventHandle& event, Dependencies dependencies = {});
  GraphNode AddEventWaitNode(const EventHandle& event, Dependencies dependencies = {});

  // Allocates device memory of the current device at each launch; the address is the node's AllocatedAddress().
  GraphNode AddMemoryAllocationNode(std::size_t size_bytes, Dependencies dependencies = {});
  GraphNode AddMemoryAllocationNode(const AllocationParameters& allocation, Dependencies dependencies = {});
  // Frees what a node of this or another graph allocated.
  //
  // A driver that refuses one of these two, for the address or for want of memory, counts the graph as one with memory
  // nodes all the same: nothing of it changes, but from then on it is not cloned, embedded by copy or instantiated a
  // second time, and its nodes are not destroyed (CUDA_ERROR_NOT_SUPPORTED).
  GraphNode AddMemoryFreeNode(CUdeviceptr address, Dependencies dependencies = {});

  // Embeds a copy of `source` with its owners, found by ChildGraph(). When the copy cannot be found or its metadata not
  // be made, the node is destroyed again and the error is thrown; should the driver refuse that too, it is reported and
  // the node stays. Throws std::invalid_argument for a source in this graph's own hierarchy (a clone of it will do).
  GraphNode AddChildGraphNode(const GraphDefinition& source, Dependencies dependencies = {});

  // Embeds `source` itself: it becomes the child, with all its handles, nodes and owners. Throws std::invalid_argument
  // unless it is the root of another hierarchy.
  GraphNode AddChildGraphNodeByMove(const GraphDefinition& source, Dependencies dependencies = {});

  // A condition for one conditional node (see Condition for where); with a default it has that value at each launch.
  Condition MakeCondition(std::optional<unsigned> default_value = std::nullopt) const;

  // Conditional nodes; their bodies are empty graphs, found by Bodies(). Throws std::invalid_argument for
  // a condition of another graph. The driver refuses one that has its node already, and a switch without bodies.
  GraphNode AddIfNode(const Condition& condition, Dependencies dependencies = {});      // one body, for not zero
  GraphNode AddIfElseNode(const Condition& condition, Dependencies dependencies = {});  // two: not zero, zero
  GraphNode AddWhileNode(const Condition& condition, Dependencies dependencies = {});   // one, while not zero
  GraphNode AddSwitchNode(const Condition& condition, unsigned body_count, Dependencies dependencies = {});

  // Writes the graph as a dot file.
  void WriteDot(const std::string& path, unsigned flags = 0) const;

  // By graph, not by what it holds; a graph that is gone stays equal to itself alone.
  friend bool operator==(const GraphDefinition& left, const GraphDefinition& right) noexcept {
    return left.box_ == right.box_;
  }

 private:
  friend class ExecNode;
  friend class GraphBuilder;
  friend class GraphExec;
  friend class GraphNode;

  explicit GraphDefinition(attachments::GraphHandle box) noexcept : box_(std::move(box)) {}

  // What every Add makes before its driver call and publishes after it.
  class Addition;

  // Throws std::logic_error naming `operation` unless the graph exists.
  void RequireValid(const char* operation) const;

  // Adds a node that owns no graph, by `add(node, graph, dependencies, count)`, which is the driver's `call`. `owners`
  // and `context` are kept with the node.
  template <typename AddCall>
  GraphNode AddPlainNode(CUgraphNodeType type, std::span<const OpaqueHandle> owners, CUcontext context,
                         Dependencies dependencies, const char* call, const char* doing, AddCall add);

  GraphNode AddCopyNode(const CUDA_MEMCPY3D& copy, const OpaqueHandle& destination, const OpaqueHandle& source,
                        Dependencies dependencies);
  GraphNode AddConditionalNode(const Condition& condition, CUgraphConditionalNodeType type, unsigned body_count,
                               Dependencies dependencies, const char* operation);

  attachments::GraphHandle box_;
};

}  // namespace holdfast

#endif  // HOLDFAST_LIB_GRAPH_GRAPH_DEFINITION_H_
