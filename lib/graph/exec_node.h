// ExecNode: one node as an executable has it.
#ifndef HOLDFAST_LIB_GRAPH_EXEC_NODE_H_
#define HOLDFAST_LIB_GRAPH_EXEC_NODE_H_

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "lib/graph/exec_record.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_node.h"
#include "lib/graph/operands.h"
#include "lib/handles/opaque_handle.h"
#include "lib/handles/resources.h"

namespace holdfast {

// A view: it keeps the executable's record and the definition's hierarchy while it lives. It changes the executable
// alone; the definition and other executables stay as they are. Parameters are given whole.
//
// Every update throws std::logic_error when the executable is closed or the node is gone or of another kind,
// DriverError when the driver refuses (a node of an unrelated graph, say), std::bad_alloc; then the executable holds
// what it held. Owners that are given add up: superseded ones stay until the executable, or its next whole update, is
// through.
//
// Thread safety: as the executable's.
class ExecNode {
 public:
  // Clusters and cooperative launches stay as the definition's node has them: throws std::invalid_argument for a
  // configuration that says otherwise, and for arguments that are not the kernel's, as AddKernelNode does.
  void UpdateKernel(const KernelHandle& kernel, const LaunchConfiguration& configuration,
                    const KernelArguments& arguments);
  void UpdateMemcpy(const MemoryOperand& destination, const MemoryOperand& source, std::size_t size_bytes);
  void UpdateMemcpy(const CopyParameters& copy);
  void UpdateMemset(const MemoryOperand& destination, const MemsetParameters& parameters);
  void UpdateHost(const HostCallback& callback);
  void UpdateEventRecord(const EventHandle& event);
  void UpdateEventWait(const EventHandle& event);
  // The driver carries the owners of `source` over by itself.
  void UpdateChildGraph(const GraphDefinition& source);

  // Kernel, memcpy and memset nodes alone; a disabled one does nothing at a launch. Throw std::invalid_argument for
  // other kinds.
  bool IsEnabled() const;
  void SetEnabled(bool enabled);

 private:
  friend class GraphExec;

  ExecNode(std::shared_ptr<graph::ExecRecord> record, GraphNode node) noexcept
      : record_(std::move(record)), node_(std::move(node)) {}

  // Throw as above, naming `operation`.
  void RequireUsable(const char* operation) const;
  void RequireType(CUgraphNodeType type, const char* operation) const;
  void RequireCanBeDisabled(const char* operation) const;

  // Owners may be null: they are not kept.
  void SetParameters(CUgraphNodeParams& parameters, std::vector<OpaqueHandle> owners, const char* doing);

  std::shared_ptr<graph::ExecRecord> record_;
  GraphNode node_;
};

}  // namespace holdfast

#endif  // HOLDFAST_LIB_GRAPH_EXEC_NODE_H_
