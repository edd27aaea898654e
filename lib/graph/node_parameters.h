// Translation of operands into the driver's parameter structs, and the owners that go with each kind of node.
#ifndef HOLDFAST_LIB_GRAPH_NODE_PARAMETERS_H_
#define HOLDFAST_LIB_GRAPH_NODE_PARAMETERS_H_

#include <cuda.h>

#include <cstddef>
#include <initializer_list>
#include <vector>

#include "lib/graph/operands.h"
#include "lib/handles/opaque_handle.h"

namespace holdfast::graph {

// The owners that are not null: a node of raw addresses alone gets no attachment.
std::vector<OpaqueHandle> CollectOwners(std::initializer_list<OpaqueHandle> owners);

// A copy of `size_bytes` in one dimension.
CUDA_MEMCPY3D MakeMemcpy(const MemoryOperand& destination, const MemoryOperand& source, std::size_t size_bytes);

// Throws std::invalid_argument for a host target.
CUDA_MEMSET_NODE_PARAMS MakeMemset(const MemoryOperand& destination, const MemsetParameters& parameters);

}  // namespace holdfast::graph

#endif  // HOLDFAST_LIB_GRAPH_NODE_PARAMETERS_H_
