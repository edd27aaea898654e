#include "lib/graph/kernel_attributes.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <string>

#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/node_parameters.h"

namespace holdfast::graph {
namespace {

using driver::Check;
using driver::GetDriver;

constexpr const char* kSetting = "setting cluster or cooperative launch of a kernel node";
constexpr unsigned kNoCluster[3] = {0, 0, 0};

bool IsSame(const unsigned (&left)[3], const unsigned (&right)[3]) {
  return std::equal(std::begin(left), std::end(left), std::begin(right));
}

bool HasCluster(const LaunchConfiguration& configuration) { return !IsSame(configuration.cluster, kNoCluster); }

// The driver tells both names of a kernel, and when it is given both it takes the function.
void PreferKernel(CUDA_KERNEL_NODE_PARAMS& parameters) {
  if (parameters.kern != nullptr) {
    parameters.func = nullptr;
  }
}

// REQUIRES: no size of the cluster is zero.
bool Divides(const unsigned (&cluster)[3], const unsigned (&grid)[3]) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (grid[i] % cluster[i] != 0) {
      return false;
    }
  }
  return true;
}

// All zeroes where the driver does not know the attribute.
CUkernelNodeAttrValue ReadAttribute(CUgraphNode node, CUkernelNodeAttrID attribute) {
  CUkernelNodeAttrValue value{};
  const CUresult result = GetDriver().cuGraphKernelNodeGetAttribute(node, attribute, &value);
  if (result == CUDA_ERROR_NOT_SUPPORTED) {
    return {};
  }
  Check("cuGraphKernelNodeGetAttribute", result, "asking for an attribute of a kernel node");
  return value;
}

CUresult SetCluster(CUgraphNode node, const unsigned (&cluster)[3]) {
  CUkernelNodeAttrValue value{};
  value.clusterDim.x = cluster[0];
  value.clusterDim.y = cluster[1];
  value.clusterDim.z = cluster[2];
  return GetDriver().cuGraphKernelNodeSetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_CLUSTER_DIMENSION, &value);
}

CUresult SetCooperative(CUgraphNode node, bool cooperative) {
  CUkernelNodeAttrValue value{};
  value.cooperative = cooperative ? 1 : 0;
  return GetDriver().cuGraphKernelNodeSetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &value);
}

CUresult SetGrid(CUgraphNode node, const unsigned (&grid)[3]) {
  CUDA_KERNEL_NODE_PARAMS present{};
  const CUresult result = GetDriver().cuGraphKernelNodeGetParams(node, &present);
  if (result != CUDA_SUCCESS) {
    return result;
  }
  PreferKernel(present);
  present.gridDimX = grid[0];
  present.gridDimY = grid[1];
  present.gridDimZ = grid[2];
  CUgraphNodeParams parameters = AsNodeParameters(present);
  return GetDriver().cuGraphNodeSetParams(node, &parameters);
}

void CheckAttribute(CUresult result) { Check("cuGraphKernelNodeSetAttribute", result, kSetting); }

void ReportAttribute(CUresult result, CUgraphNode node) noexcept {
  driver::ReportCleanupFailure("cuGraphKernelNodeSetAttribute", result, node);
}

}  // namespace

CUDA_KERNEL_NODE_PARAMS ReadKernel(CUgraphNode node) {
  CUDA_KERNEL_NODE_PARAMS parameters{};
  Check("cuGraphKernelNodeGetParams", GetDriver().cuGraphKernelNodeGetParams(node, &parameters),
        "asking for the parameters of a kernel node");
  PreferKernel(parameters);
  return parameters;
}

void ReadKernelAttributes(CUgraphNode node, LaunchConfiguration& configuration) {
  const CUkernelNodeAttrValue cluster = ReadAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_CLUSTER_DIMENSION);
  configuration.cluster[0] = cluster.clusterDim.x;
  configuration.cluster[1] = cluster.clusterDim.y;
  configuration.cluster[2] = cluster.clusterDim.z;
  configuration.cooperative = ReadAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE).cooperative != 0;
}

void CheckCluster(const LaunchConfiguration& configuration) {
  if (!HasCluster(configuration)) {
    return;
  }
  const auto& [x, y, z] = configuration.cluster;
  if (x == 0 || y == 0 || z == 0) {
    throw std::invalid_argument("a kernel's cluster is " + std::to_string(x) + " x " + std::to_string(y) + " x " +
                                std::to_string(z) + "; give all three sizes, or zeroes for no clusters");
  }
  if (!Divides(configuration.cluster, configuration.grid)) {
    throw std::invalid_argument("a kernel's grid must be a multiple of its cluster, which is " + std::to_string(x) +
                                " x " + std::to_string(y) + " x " + std::to_string(z));
  }
}

void SetKernelAttributes(CUgraphNode node, const LaunchConfiguration& configuration) {
  if (HasCluster(configuration)) {
    CheckAttribute(SetCluster(node, configuration.cluster));
  }
  if (configuration.cooperative) {
    CheckAttribute(SetCooperative(node, true));
  }
}

KernelAttributeChange::KernelAttributeChange(CUgraphNode node) : node_(node) {
  GetShape(ReadKernel(node), before_);
  ReadKernelAttributes(node, before_);
}

KernelAttributeChange::~KernelAttributeChange() {
  if (kept_) {
    return;
  }
  if (cluster_changed_) {
    ReportAttribute(SetCluster(node_, kNoCluster), node_);
  }
  if (grid_changed_) {
    driver::ReportCleanupFailure("cuGraphNodeSetParams", SetGrid(node_, before_.grid), node_);
  }
  if (cluster_changed_ && HasCluster(before_)) {
    ReportAttribute(SetCluster(node_, before_.cluster), node_);
  }
  if (cooperative_changed_) {
    ReportAttribute(SetCooperative(node_, before_.cooperative), node_);
  }
}

void KernelAttributeChange::Apply(const LaunchConfiguration& wanted) {
  if (wanted.cooperative != before_.cooperative) {
    CheckAttribute(SetCooperative(node_, wanted.cooperative));
    cooperative_changed_ = true;
  }
  if (IsSame(wanted.cluster, before_.cluster)) {
    return;
  }
  if (HasCluster(before_)) {
    CheckAttribute(SetCluster(node_, kNoCluster));
    cluster_changed_ = true;
  }
  if (!HasCluster(wanted)) {
    return;
  }
  if (!Divides(wanted.cluster, before_.grid)) {
    Check("cuGraphNodeSetParams", SetGrid(node_, wanted.grid), kSetting);
    grid_changed_ = true;
  }
  CheckAttribute(SetCluster(node_, wanted.cluster));
  cluster_changed_ = true;
}

}  // namespace holdfast::graph
