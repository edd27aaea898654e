// Clusters and cooperative launch of a kernel node: attributes beside its parameters, which the driver sets one by one.
#ifndef HOLDFAST_LIB_GRAPH_KERNEL_ATTRIBUTES_H_
#define HOLDFAST_LIB_GRAPH_KERNEL_ATTRIBUTES_H_

#include <cuda.h>

#include "lib/graph/operands.h"

namespace holdfast::graph {

// Throws DriverError.
CUDA_KERNEL_NODE_PARAMS ReadKernel(CUgraphNode node);

// Cluster and cooperative of the node, nothing else. A driver that knows no such attribute has neither. Throws
// DriverError.
void ReadKernelAttributes(CUgraphNode node, LaunchConfiguration& configuration);

// Throws std::invalid_argument for a cluster that does not divide the grid, or has zeroes among its sizes.
void CheckCluster(const LaunchConfiguration& configuration);

// For a node that has just been added: no call if there is nothing to set. Throws DriverError; then either may be set.
void SetKernelAttributes(CUgraphNode node, const LaunchConfiguration& configuration);

// A change of attributes, undone by the destructor unless Keep is called. What the driver refuses to undo is reported,
// and stays.
//
// The driver wants the cluster to divide the grid at every moment. So where the new cluster fits the new grid but not
// the present one, the node gets the new grid first.
class KernelAttributeChange {
 public:
  // Reads what the node has. Throws DriverError.
  explicit KernelAttributeChange(CUgraphNode node);
  ~KernelAttributeChange();
  KernelAttributeChange(const KernelAttributeChange&) = delete;
  KernelAttributeChange& operator=(const KernelAttributeChange&) = delete;

  // Sets what differs, with as many calls: none for a node that has and gets neither clusters nor a cooperative launch.
  // Throws DriverError. REQUIRES: called once; CheckCluster has accepted `wanted`.
  void Apply(const LaunchConfiguration& wanted);

  void Keep() noexcept { kept_ = true; }

 private:
  const CUgraphNode node_;
  // Before the change: grid, cluster and cooperative.
  LaunchConfiguration before_;
  bool cooperative_changed_ = false;
  bool cluster_changed_ = false;
  bool grid_changed_ = false;
  bool kept_ = false;
};

}  // namespace holdfast::graph

#endif  // HOLDFAST_LIB_GRAPH_KERNEL_ATTRIBUTES_H_
