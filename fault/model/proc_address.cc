#include "fault/model/proc_address.h"

#include "fault/model/call.h"
#include "fault/model/context.h"

// Addresses alone are needed here, so the types do not matter, and one of C's would clash with those of cuda.h.
#define HOLDFAST_ENTRY(symbol) extern "C" void holdfast_address_of_##symbol() __asm__(#symbol);
#define HOLDFAST_FORM(base, symbol, since, per_thread)
#include "fault/model/entry_points.inc"
#undef HOLDFAST_ENTRY
#undef HOLDFAST_FORM

namespace holdfast::fault::model {
namespace {

struct Form {
  std::string_view base;  // the name without the suffixes of version and default stream
  void (*function)();
  int since;
  bool per_thread;
};

constexpr Form kForms[] = {
#define HOLDFAST_ENTRY(symbol)
#define HOLDFAST_FORM(base, symbol, since, per_thread) {base, &holdfast_address_of_##symbol, since, per_thread},
#include "fault/model/entry_points.inc"
#undef HOLDFAST_ENTRY
#undef HOLDFAST_FORM
};

}  // namespace

ProcAddress FindProcAddress(std::string_view name, int cuda_version, std::uint64_t flags) noexcept {
  const bool wants_per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  const Form* best = nullptr;
  ProcAddress result;
  for (const Form& form : kForms) {
    if (form.base != name) continue;
    result.status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    if (form.since > cuda_version || (form.per_thread && !wants_per_thread)) continue;
    const bool better = best == nullptr || form.since > best->since ||
                        (form.since == best->since && form.per_thread && !best->per_thread);
    if (better) best = &form;
  }
  if (best != nullptr) {
    result.function = reinterpret_cast<void*>(best->function);
    result.status = CU_GET_PROC_ADDRESS_SUCCESS;
  }
  return result;
}

namespace {

constexpr cuuint64_t kKnownFlags = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

// A name that is not found is success with a null function; the status tells why. So does the real driver.
CUresult Find(const char* entry, const char* symbol, void** function, int cuda_version, cuuint64_t flags,
              CUdriverProcAddressQueryResult* status) {
  return Enter(entry, Rule::kAlways, [&] {
    Require(symbol != nullptr && function != nullptr);
    Require(cuda_version <= kDriverVersion && (flags & ~kKnownFlags) == 0);
    const ProcAddress found = FindProcAddress(symbol, cuda_version, flags);
    if (status != nullptr) *status = found.status;
    *function = found.function;
  });
}

}  // namespace

extern "C" {

// The older form has no status to tell by, and leaves the pointer alone.
CUresult cuGetProcAddress(const char* symbol, void** function, int cuda_version, cuuint64_t flags) {
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  void* found = nullptr;
  const CUresult result = Find(__func__, symbol, &found, cuda_version, flags, nullptr);
  if (result != CUDA_SUCCESS) return result;
  if (found == nullptr) return CUDA_ERROR_NOT_FOUND;
  *function = found;
  return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int cuda_version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  return Find(__func__, symbol, function, cuda_version, flags, status);
}

}  // extern "C"
}  // namespace holdfast::fault::model
