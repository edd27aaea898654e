// How a failed driver call is told to the caller.
#ifndef HOLDFAST_LIB_DRIVER_STATUS_H_
#define HOLDFAST_LIB_DRIVER_STATUS_H_

#include <cuda.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace holdfast::driver {

// The name of a result as cuda.h spells it, e.g. "CUDA_ERROR_OUT_OF_MEMORY"; "CUresult 12345" if the driver knows none.
std::string ResultName(CUresult result);

// A driver call answered something other than CUDA_SUCCESS.
class DriverError : public std::runtime_error {
 public:
  // `doing` completes "while ...", e.g. "adding a host node".
  DriverError(const std::string& call, CUresult result, const std::string& doing);

  const std::string& call() const noexcept { return call_; }
  CUresult result() const noexcept { return result_; }

 private:
  std::string call_;
  CUresult result_;
};

// ENSURES: returns only if `result` is CUDA_SUCCESS; throws DriverError otherwise.
inline void Check(const char* call, CUresult result, const char* doing) {
  if (result != CUDA_SUCCESS) [[unlikely]] {
    throw DriverError(call, result, doing);
  }
}

// For destructors and the cleanup context, which have nobody to throw to: a failure is written to stderr in one
// line and counted. A driver that is shutting down has freed everything itself, so that answer is neither.
void ReportCleanupFailure(const char* call, CUresult result, const void* handle) noexcept;

// Failures reported so far in this process.
std::uint64_t CleanupFailureCount() noexcept;

}  // namespace holdfast::driver

#endif  // HOLDFAST_LIB_DRIVER_STATUS_H_
