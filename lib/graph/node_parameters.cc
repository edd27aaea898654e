#include "lib/graph/node_parameters.h"

#include <stdexcept>

namespace holdfast::graph {

std::vector<OpaqueHandle> CollectOwners(std::initializer_list<OpaqueHandle> owners) {
  std::vector<OpaqueHandle> present;
  for (const OpaqueHandle& owner : owners) {
    if (owner != nullptr) {
      present.push_back(owner);
    }
  }
  return present;
}

CUDA_MEMCPY3D MakeMemcpy(const MemoryOperand& destination, const MemoryOperand& source, std::size_t size_bytes) {
  CUDA_MEMCPY3D copy{};
  if (source.kind == MemoryOperand::Kind::kDevice) {
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = source.address;
  } else {
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = reinterpret_cast<const void*>(source.address);
  }
  if (destination.kind == MemoryOperand::Kind::kDevice) {
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = destination.address;
  } else {
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = reinterpret_cast<void*>(destination.address);
  }
  copy.WidthInBytes = size_bytes;
  copy.Height = 1;
  copy.Depth = 1;
  return copy;
}

CUDA_MEMSET_NODE_PARAMS MakeMemset(const MemoryOperand& destination, const MemsetParameters& parameters) {
  if (destination.kind != MemoryOperand::Kind::kDevice) {
    throw std::invalid_argument("a memset node needs a device address as its target");
  }
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = destination.address;
  fill.value = parameters.value;
  fill.elementSize = parameters.element_size_bytes;
  fill.width = parameters.width_elements;
  fill.height = parameters.height;
  fill.pitch = parameters.pitch_bytes;
  return fill;
}

}  // namespace holdfast::graph
