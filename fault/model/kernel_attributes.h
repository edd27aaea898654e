// What a kernel node or a launch says beyond its shape, and the limits that shape and attributes have to keep.
//
// A cluster and a cooperative launch run as plain ones on the model.
#ifndef HOLDFAST_FAULT_MODEL_KERNEL_ATTRIBUTES_H_
#define HOLDFAST_FAULT_MODEL_KERNEL_ATTRIBUTES_H_

#include <cuda.h>

#include <array>
#include <cstdint>

#include "fault/model/code.h"

namespace holdfast::fault::model {

struct KernelAttributes {
  int cooperative = 0;
  std::array<std::uint32_t, 3> cluster{};  // zeros: none
  CUclusterSchedulingPolicy cluster_scheduling = CU_CLUSTER_SCHEDULING_POLICY_DEFAULT;
  int priority = 0;
  CUlaunchMemSyncDomainMap domain_map{0, 1};
  CUlaunchMemSyncDomain domain = CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT;
  unsigned int carveout = 0;
  CUaccessPolicyWindow window{};
};

// Reads and writes one attribute as cuGraphKernelNodeGetAttribute and SetAttribute do. Each throws
// Refusal{CUDA_ERROR_INVALID_VALUE} for what nodes do not have or cannot be, Unmodelled for what the model lacks.
void GetAttribute(const KernelAttributes& attributes, CUlaunchAttributeID id, CUlaunchAttributeValue* value);
void SetAttribute(KernelAttributes* attributes, CUlaunchAttributeID id, const CUlaunchAttributeValue& value);

// The attributes of a launch, some of which nodes do not have. Throws as above.
KernelAttributes LaunchAttributes(const CUlaunchAttribute* attributes, unsigned int count);

// Throws Refusal{CUDA_ERROR_INVALID_VALUE} for a grid, a block or shared memory beyond what the kernel may have.
void RequireShape(const Kernel& kernel, const LaunchShape& shape);

// Throws Refusal{CUDA_ERROR_INVALID_CLUSTER_SIZE} for clusters that the grid cannot be divided into,
// Refusal{CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE} for more blocks than can run at once.
void RequireAttributes(const Kernel& kernel, const LaunchShape& shape, const KernelAttributes& attributes);

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_KERNEL_ATTRIBUTES_H_
