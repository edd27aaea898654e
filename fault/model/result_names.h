// Names and texts of CUresult values; the table is generated from results.tsv.
#ifndef HOLDFAST_FAULT_MODEL_RESULT_NAMES_H_
#define HOLDFAST_FAULT_MODEL_RESULT_NAMES_H_

#include <cuda.h>

namespace holdfast::fault::model {

// Null for a value that is none.
const char* NameOf(CUresult result) noexcept;
const char* TextOf(CUresult result) noexcept;

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_RESULT_NAMES_H_
