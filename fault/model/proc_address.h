// cuGetProcAddress: which exported function a name stands for under a version of CUDA.
//
// The table is generated from the one table of entry points (fault/shim/entry_points.tsv).
#ifndef HOLDFAST_FAULT_MODEL_PROC_ADDRESS_H_
#define HOLDFAST_FAULT_MODEL_PROC_ADDRESS_H_

#include <cuda.h>

#include <cstdint>
#include <string_view>

namespace holdfast::fault::model {

struct ProcAddress {
  void* function = nullptr;  // null if there is none
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
};

// The newest form of `name` that `cuda_version` knows, for the default stream that `flags` ask for.
ProcAddress FindProcAddress(std::string_view name, int cuda_version, std::uint64_t flags) noexcept;

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_PROC_ADDRESS_H_
