// Memory that a node of a graph allocates: its description, and which graphs have a node that frees it.
#ifndef HOLDFAST_FAULT_MODEL_GRAPH_MEMORY_H_
#define HOLDFAST_FAULT_MODEL_GRAPH_MEMORY_H_

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "fault/model/memory.h"

namespace holdfast::fault::model {

// Held by the node and by the executables made from it; the address is reserved as long as one of them is there.
class GraphMemory {
 public:
  // Reserves the address. Throws Refusal for what the driver does not allocate.
  static std::shared_ptr<GraphMemory> Reserve(const CUDA_MEM_ALLOC_NODE_PARAMS& given);

  // The memory of the node that allocates at `address`; null if there is none.
  static std::shared_ptr<GraphMemory> Find(CUdeviceptr address);

  GraphMemory(const CUDA_MEM_ALLOC_NODE_PARAMS& given, AllocationPointer allocation);
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  const Allocation& allocation() const { return *allocation_; }
  const AllocationPointer& allocation_pointer() const { return allocation_; }
  const CUDA_MEM_ALLOC_NODE_PARAMS& parameters() const { return parameters_; }

  // Serials of graphs: the one whose node allocates, and those with a node that frees. Guarded by the caller's use of
  // the graphs: as with the real driver, who frees what another graph allocates uses both.
  std::uint64_t owner = 0;
  std::set<std::uint64_t> freed_in;

 private:
  const AllocationPointer allocation_;
  std::vector<CUmemAccessDesc> access_;
  CUDA_MEM_ALLOC_NODE_PARAMS parameters_;
};

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_GRAPH_MEMORY_H_
