// Entry points: what is known and what can be set of a function or a kernel.
#include <cuda.h>

#include "fault/model/call.h"
#include "fault/model/code.h"
#include "fault/model/context.h"

namespace holdfast::fault::model {
namespace {

constexpr int kSharedMemoryBytesMax = 227 * 1024;
constexpr int kCarveoutMax = 100;

CUresult ParameterInfo(const char* name, const auto& find, size_t index, size_t* offset, size_t* bytes) {
  return Enter(name, Rule::kNormal, [&] {
    Require(offset != nullptr);
    const KernelPointer kernel = find();
    Require(index < kernel->parameters.size());
    *offset = kernel->parameters[index].offset;
    if (bytes != nullptr) *bytes = kernel->parameters[index].bytes;
  });
}

// What a kernel of the model needs of each resource, and what was set.
int AttributeOf(const Kernel& kernel, const KernelLimits& limits, CUfunction_attribute attribute) {
  Require(attribute >= CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK && attribute < CU_FUNC_ATTRIBUTE_MAX);
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return 16;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      return kernel.ptx_version;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return 90;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return static_cast<int>(limits.shared_memory_bytes.load(std::memory_order_relaxed));
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return limits.carveout.load(std::memory_order_relaxed);
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      return limits.non_portable_cluster.load(std::memory_order_relaxed);
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return limits.cluster_scheduling.load(std::memory_order_relaxed);
    default:
      return 0;
  }
}

void SetAttributeOf(KernelLimits& limits, CUfunction_attribute attribute, int value) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      Require(value >= 0 && value <= kSharedMemoryBytesMax);
      limits.shared_memory_bytes.store(static_cast<std::uint32_t>(value), std::memory_order_relaxed);
      return;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      Require(value >= -1 && value <= kCarveoutMax);
      limits.carveout.store(value, std::memory_order_relaxed);
      return;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      limits.non_portable_cluster.store(value != 0 ? 1 : 0, std::memory_order_relaxed);
      return;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      limits.cluster_scheduling.store(value, std::memory_order_relaxed);
      return;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      throw Unmodelled{};
    default:
      throw Refusal{CUDA_ERROR_INVALID_VALUE};
  }
}

}  // namespace

extern "C" {

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(value != nullptr);
    const KernelPointer kernel = RequireFunction(function);
    *value = AttributeOf(*kernel, kernel->function_limits, attribute);
  });
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(value != nullptr);
    RequireDevice(device);
    const KernelPointer asked = RequireKernel(kernel);
    *value = AttributeOf(*asked, asked->kernel_limits, attribute);
  });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return Enter(__func__, Rule::kNormal,
               [&] { SetAttributeOf(RequireFunction(function)->function_limits, attribute, value); });
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  return Enter(__func__, Rule::kNormal, [&] {
    RequireDevice(device);
    SetAttributeOf(RequireKernel(kernel)->kernel_limits, attribute, value);
  });
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* bytes) {
  return ParameterInfo(
      __func__, [&] { return RequireFunction(function); }, index, offset, bytes);
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* bytes) {
  return ParameterInfo(
      __func__, [&] { return RequireKernel(kernel); }, index, offset, bytes);
}

}  // extern "C"
}  // namespace holdfast::fault::model
