// Entry points: the pool that graphs allocate from.
#include <cuda.h>

#include "fault/model/call.h"
#include "fault/model/context.h"
#include "fault/model/memory.h"

namespace holdfast::fault::model {
extern "C" {

CUresult cuDeviceGraphMemTrim(CUdevice device) {
  return Enter(__func__, Rule::kNormal, [&] {
    RequireDevice(device);
    TrimGraphPool();
  });
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value) {
  return Enter(__func__, Rule::kNormal, [&] {
    RequireDevice(device);
    Require(value != nullptr);
    const GraphPool pool = GraphPoolNow();
    switch (attribute) {
      case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
      case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
        *static_cast<cuuint64_t*>(value) = pool.bytes;
        return;
      case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
        *static_cast<cuuint64_t*>(value) = pool.used_bytes_max;
        return;
      case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
        *static_cast<cuuint64_t*>(value) = pool.reserved_bytes_max;
        return;
      default:
        throw Refusal{CUDA_ERROR_INVALID_VALUE};
    }
  });
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value) {
  return Enter(__func__, Rule::kNormal, [&] {
    RequireDevice(device);
    Require(attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH);
    Require(value != nullptr && *static_cast<const cuuint64_t*>(value) == 0);
    ResetGraphPoolMax(attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH);
  });
}

}  // extern "C"
}  // namespace holdfast::fault::model
