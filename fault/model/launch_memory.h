// What a launch does to the memory that graphs allocate, in the order of calls.
#ifndef HOLDFAST_FAULT_MODEL_LAUNCH_MEMORY_H_
#define HOLDFAST_FAULT_MODEL_LAUNCH_MEMORY_H_

#include "fault/model/program.h"

namespace holdfast::fault::model {

// Marks what the program allocates and frees. Throws Refusal{CUDA_ERROR_INVALID_VALUE}, with nothing marked, if it
// would allocate what is allocated, unless `frees_first`, or free what is not.
void ClaimMemory(const Program& program, bool frees_first);

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_LAUNCH_MEMORY_H_
