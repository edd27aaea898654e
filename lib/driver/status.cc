#include "lib/driver/status.h"

#include <atomic>
#include <cstdio>

#include "lib/driver/driver.h"

namespace holdfast::driver {
namespace {

std::atomic<std::uint64_t> cleanup_failures{0};

// Null when there is no driver to ask or it does not know the result.
const char* NameFromDriver(CUresult result) noexcept {
  try {
    const char* name = nullptr;
    return GetUninitialisedDriver().cuGetErrorName(result, &name) == CUDA_SUCCESS ? name : nullptr;
  } catch (...) {
    return nullptr;
  }
}

}  // namespace

std::string ResultName(CUresult result) {
  const char* name = NameFromDriver(result);
  return name != nullptr ? name : "CUresult " + std::to_string(static_cast<int>(result));
}

DriverError::DriverError(const std::string& call, CUresult result, const std::string& doing)
    : std::runtime_error(call + ": " + ResultName(result) + " (while " + doing + ")"), call_(call), result_(result) {}

void ReportCleanupFailure(const char* call, CUresult result, const void* handle) noexcept {
  if (result == CUDA_SUCCESS || result == CUDA_ERROR_DEINITIALIZED) {
    return;
  }
  // Memory ordering: relaxed, a statistic that orders nothing.
  cleanup_failures.fetch_add(1, std::memory_order_relaxed);
  const char* name = NameFromDriver(result);
  std::fprintf(stderr, "holdfast: %s(%p) failed with %s (%d) during cleanup\n", call, handle,
               name != nullptr ? name : "an unknown result", static_cast<int>(result));
}

std::uint64_t CleanupFailureCount() noexcept { return cleanup_failures.load(std::memory_order_relaxed); }

}  // namespace holdfast::driver
