// GraphDefinition: a graph under construction, whose nodes keep alive what they refer to.
#ifndef HOLDFAST_LIB_GRAPH_GRAPH_DEFINITION_H_
#define HOLDFAST_LIB_GRAPH_GRAPH_DEFINITION_H_

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "lib/attachments/graph_box.h"
#include "lib/graph/graph_node.h"
#include "lib/graph/operands.h"
#include "lib/handles/resources.h"

namespace holdfast {

// Copies name the same graph, which is destroyed with the last handle to it or to one of its nodes.
//
// Every Add throws DriverError when the driver refuses, std::bad_alloc, and std::logic_error for a dependency that does
// not exist or belongs to another graph; then the graph is as before and the new owners are released. After the driver
// agreed nothing throws. REQUIRES, for every Add: the deferred cleanup has been started and a context is current.
//
// Thread safety: as CUDA's for one graph: one thread at a time, the caller synchronises. Different graphs on different
// threads are independent.
class GraphDefinition {
 public:
  using Dependencies = std::span<const GraphNode>;

  // Makes an empty graph.
  GraphDefinition();

  CUgraph raw() const noexcept { return box_->graph(); }

  // How many nodes have owners.
  std::size_t attachment_count() const noexcept { return box_->attachment_count(); }

  // Keeps the kernel, through it the library, and the arguments' owners.
  GraphNode AddKernelNode(const KernelHandle& kernel, const LaunchConfiguration& configuration,
                          const KernelArguments& arguments, Dependencies dependencies = {});

  // Copies `size_bytes` at each launch. Keeps the owners of both sides.
  GraphNode AddMemcpyNode(const MemoryOperand& destination, const MemoryOperand& source, std::size_t size_bytes,
                          Dependencies dependencies = {});

  // Keeps the target's owner.
  GraphNode AddMemsetNode(const MemoryOperand& destination, const MemsetParameters& parameters,
                          Dependencies dependencies = {});

  // Keeps the owners of function and data.
  GraphNode AddHostNode(const HostCallback& callback, Dependencies dependencies = {});

  // Keep the event.
  GraphNode AddEventRecordNode(const EventHandle& event, Dependencies dependencies = {});
  GraphNode AddEventWaitNode(const EventHandle& event, Dependencies dependencies = {});

 private:
  // The steps that all Adds share: everything that can fail, then `add(node, graph, dependencies, count)`, then
  // publishing.
  template <typename AddCall>
  GraphNode Add(CUgraphNodeType type, const std::vector<OpaqueHandle>& owners, Dependencies dependencies,
                const char* call, const char* doing, AddCall add);

  std::shared_ptr<attachments::GraphBox> box_;
};

}  // namespace holdfast

#endif  // HOLDFAST_LIB_GRAPH_GRAPH_DEFINITION_H_
