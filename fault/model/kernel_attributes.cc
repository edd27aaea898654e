#include "fault/model/kernel_attributes.h"

#include <algorithm>

#include "fault/model/call.h"
#include "fault/model/context.h"

namespace holdfast::fault::model {
namespace {

constexpr std::uint64_t kBlockThreadsMax = 1024;
constexpr std::uint32_t kBlockDepthMax = 64;
constexpr std::uint32_t kGridWidthMax = 0x7fffffff;
constexpr std::uint32_t kGridSideMax = 65535;
constexpr std::uint64_t kClusterBlocksMax = 8;
constexpr std::uint64_t kNonPortableClusterBlocksMax = 16;
constexpr int kGreatestPriority = -5;
constexpr unsigned int kSyncDomains = 4;

// How many blocks of that size one multiprocessor runs at a time.
std::uint64_t ResidentBlocks(std::uint64_t block_threads) {
  constexpr std::uint64_t kBlocksMax = 32;
  constexpr std::uint64_t kThreadsMax = 2048;
  constexpr std::uint64_t kWarpThreads = 32;
  const std::uint64_t rounded = (block_threads + kWarpThreads - 1) / kWarpThreads * kWarpThreads;
  return std::min(kBlocksMax, kThreadsMax / rounded);
}

bool IsEmpty(const std::array<std::uint32_t, 3>& cluster) { return cluster == std::array<std::uint32_t, 3>{}; }

// What was set of the function and what was set of the kernel are kept apart. A function of a module has the first
// alone; otherwise a node may have the larger.
bool MayHaveLargeClusters(const Kernel& kernel) {
  return kernel.function_limits.non_portable_cluster.load(std::memory_order_relaxed) != 0 ||
         kernel.kernel_limits.non_portable_cluster.load(std::memory_order_relaxed) != 0;
}

std::uint32_t SharedMemoryMax(const Kernel& kernel) {
  const std::uint32_t of_function = kernel.function_limits.shared_memory_bytes.load(std::memory_order_relaxed);
  if (kernel.kernel == nullptr) return of_function;
  return std::max(of_function, kernel.kernel_limits.shared_memory_bytes.load(std::memory_order_relaxed));
}

std::uint64_t Volume(const std::uint32_t (&sides)[3]) { return std::uint64_t{sides[0]} * sides[1] * sides[2]; }

void RequireCluster(const Kernel& kernel, const LaunchShape& shape, const std::array<std::uint32_t, 3>& cluster) {
  if (IsEmpty(cluster)) return;
  std::uint64_t blocks = 1;
  for (std::size_t side = 0; side < cluster.size(); ++side) {
    Require(cluster[side] > 0 && shape.grid[side] % cluster[side] == 0, CUDA_ERROR_INVALID_CLUSTER_SIZE);
    blocks *= cluster[side];
  }
  const bool may_be_large = MayHaveLargeClusters(kernel);
  Require(blocks <= (may_be_large ? kNonPortableClusterBlocksMax : kClusterBlocksMax), CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

}  // namespace

void GetAttribute(const KernelAttributes& attributes, CUlaunchAttributeID id, CUlaunchAttributeValue* value) {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      value->accessPolicyWindow = attributes.window;
      return;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      value->cooperative = attributes.cooperative;
      return;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      value->clusterDim.x = attributes.cluster[0];
      value->clusterDim.y = attributes.cluster[1];
      value->clusterDim.z = attributes.cluster[2];
      return;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      value->clusterSchedulingPolicyPreference = attributes.cluster_scheduling;
      return;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      value->priority = attributes.priority;
      return;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      value->memSyncDomainMap = attributes.domain_map;
      return;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      value->memSyncDomain = attributes.domain;
      return;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
      value->deviceUpdatableKernelNode.deviceUpdatable = 0;
      value->deviceUpdatableKernelNode.devNode = nullptr;
      return;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      value->sharedMemCarveout = attributes.carveout;
      return;
    default:
      throw Refusal{CUDA_ERROR_INVALID_VALUE};
  }
}

void SetAttribute(KernelAttributes* attributes, CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      Require(value.accessPolicyWindow.hitRatio >= 0 && value.accessPolicyWindow.hitRatio <= 1);
      attributes->window = value.accessPolicyWindow;
      return;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      attributes->cooperative = value.cooperative;
      return;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      attributes->cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
      return;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      attributes->cluster_scheduling = value.clusterSchedulingPolicyPreference;
      return;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      attributes->priority = std::clamp(value.priority, kGreatestPriority, 0);
      return;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      Require(value.memSyncDomainMap.default_ < kSyncDomains && value.memSyncDomainMap.remote < kSyncDomains);
      attributes->domain_map = value.memSyncDomainMap;
      return;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      Require(value.memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT ||
              value.memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
      attributes->domain = value.memSyncDomain;
      return;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
      if (value.deviceUpdatableKernelNode.deviceUpdatable != 0) throw Unmodelled{};
      return;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      Require(value.sharedMemCarveout <= 100);
      attributes->carveout = value.sharedMemCarveout;
      return;
    default:
      throw Refusal{CUDA_ERROR_INVALID_VALUE};
  }
}

KernelAttributes LaunchAttributes(const CUlaunchAttribute* attributes, unsigned int count) {
  Require(count == 0 || attributes != nullptr);
  KernelAttributes result;
  for (unsigned int i = 0; i < count; ++i) {
    switch (attributes[i].id) {
      case CU_LAUNCH_ATTRIBUTE_IGNORE:
        break;
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
      case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        throw Unmodelled{};
      default:
        SetAttribute(&result, attributes[i].id, attributes[i].value);
    }
  }
  return result;
}

void RequireShape(const Kernel& kernel, const LaunchShape& shape) {
  Require(shape.grid[0] > 0 && shape.grid[1] > 0 && shape.grid[2] > 0);
  Require(shape.grid[0] <= kGridWidthMax && shape.grid[1] <= kGridSideMax && shape.grid[2] <= kGridSideMax);
  Require(shape.block[0] > 0 && shape.block[1] > 0 && shape.block[2] > 0);
  Require(shape.block[2] <= kBlockDepthMax && Volume(shape.block) <= kBlockThreadsMax);
  Require(shape.shared_memory_bytes <= SharedMemoryMax(kernel));
}

void RequireAttributes(const Kernel& kernel, const LaunchShape& shape, const KernelAttributes& attributes) {
  RequireCluster(kernel, shape, attributes.cluster);
  if (attributes.cooperative == 0) return;
  Require(Volume(shape.grid) <= kMultiprocessors * ResidentBlocks(Volume(shape.block)),
          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

}  // namespace holdfast::fault::model
