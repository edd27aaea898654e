// Reads from PTX text what a launch needs: the names of the entries, and where each parameter lies.
#ifndef HOLDFAST_FAULT_MODEL_PTX_H_
#define HOLDFAST_FAULT_MODEL_PTX_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::fault::model {

struct KernelParameter {
  std::size_t offset;  // in the parameter block
  std::size_t bytes;
};

struct PtxEntry {
  std::string name;
  std::vector<KernelParameter> parameters;
};

// The number of the `.target sm_NUMBER` of the text; 0 if it has none.
int PtxTarget(std::string_view text);

// False if the text is no PTX (has no `.version`) or an entry's head cannot be read.
bool ParsePtx(std::string_view text, std::vector<PtxEntry>* entries);

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_PTX_H_
