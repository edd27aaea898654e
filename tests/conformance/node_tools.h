// Steps that facts about conditional, memory, copy and kernel nodes share. Each reports a failure as unmet.
#ifndef HOLDFAST_TESTS_CONFORMANCE_NODE_TOOLS_H_
#define HOLDFAST_TESTS_CONFORMANCE_NODE_TOOLS_H_

#include <cuda.h>

#include <string>
#include <vector>

#include "tests/conformance/fact.h"

namespace holdfast::conformance {

// Kernels of the facts: holdfast_nothing and holdfast_nothing_else do nothing; holdfast_store(address, value) stores;
// holdfast_set_condition(handle, value) sets a conditional handle; holdfast_count_to(handle, counter, limit) adds one
// to a counter and sets the handle to whether it is below the limit.
class Kernels {
 public:
  Kernels(const Driver& driver, Report& report);

  CUfunction Find(const char* name) const;

  // Nodes; `after` is null or one node.
  CUgraphNode AddNothing(CUgraph graph, unsigned int blocks = 1) const;
  CUgraphNode AddStore(CUgraph graph, CUdeviceptr address, unsigned int value, CUgraphNode after = nullptr) const;
  CUgraphNode AddSetCondition(CUgraph graph, CUgraphConditionalHandle handle, unsigned int value,
                              CUgraphNode after = nullptr) const;
  CUgraphNode AddCountTo(CUgraph graph, CUgraphConditionalHandle handle, CUdeviceptr counter, unsigned int limit,
                         CUgraphNode after = nullptr) const;

  static CUDA_KERNEL_NODE_PARAMS Parameters(CUfunction function, void** arguments = nullptr, unsigned int blocks = 1);

 private:
  CUgraphNode Add(CUgraph graph, const char* name, void** arguments, CUgraphNode after, unsigned int blocks = 1) const;

  const Driver& driver_;
  Report& report_;
  CUmodule module_ = nullptr;
};

CUgraphConditionalHandle MakeHandle(const Driver& driver, Report& report, CUgraph graph, unsigned int default_value = 1,
                                    unsigned int flags = CU_GRAPH_COND_ASSIGN_DEFAULT);

struct Conditional {
  CUresult result = CUDA_SUCCESS;
  CUgraphNode node = nullptr;
  std::vector<CUgraph> bodies;
};

// Tries to; the result is for the caller to judge.
Conditional TryConditional(const Driver& driver, CUgraph graph, CUgraphConditionalHandle handle,
                           CUgraphConditionalNodeType type, unsigned int size, CUgraphNode after = nullptr);
Conditional AddConditional(const Driver& driver, Report& report, CUgraph graph, CUgraphConditionalHandle handle,
                           CUgraphConditionalNodeType type, unsigned int size, CUgraphNode after = nullptr);

// Memory of zeros.
CUdeviceptr MakeMemory(const Driver& driver, Report& report, std::size_t bytes = 4096);
CUgraphNode AddFill(const Driver& driver, Report& report, CUgraph graph, CUdeviceptr address, unsigned char value,
                    CUgraphNode after = nullptr);
long ByteAt(const Driver& driver, Report& report, CUdeviceptr address);
long WordAt(const Driver& driver, Report& report, CUdeviceptr address);

CUgraphNode AddChild(const Driver& driver, Report& report, CUgraph graph, CUgraph child);
CUgraph GraphOf(const Driver& driver, Report& report, CUgraphNode child);
CUresult Move(const Driver& driver, CUgraph graph, CUgraph child, CUgraphNode* node = nullptr);

CUDA_MEM_ALLOC_NODE_PARAMS AllocationOf(std::size_t bytes);
CUgraphNode AddAllocation(const Driver& driver, Report& report, CUgraph graph, CUdeviceptr* address,
                          std::size_t bytes = 4096);
CUgraphNode AddFree(const Driver& driver, Report& report, CUgraph graph, CUdeviceptr address,
                    CUgraphNode after = nullptr);

void LaunchAndWait(const Driver& driver, Report& report, CUgraphExec executable);

// "CUDA_SUCCESS", or the error and the number of the update's result.
std::string TryUpdate(const Driver& driver, CUgraphExec executable, CUgraph graph);

// "CUDA_SUCCESS", or the error and the number of the instantiation's result.
std::string TryInstantiate(const Driver& driver, CUgraph graph, CUgraphExec* executable = nullptr,
                           CUgraphNode* error_node = nullptr);

}  // namespace holdfast::conformance

#endif  // HOLDFAST_TESTS_CONFORMANCE_NODE_TOOLS_H_
