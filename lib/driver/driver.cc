#include "lib/driver/driver.h"

#include <dlfcn.h>

#include <atomic>
#include <stdexcept>
#include <string_view>

#include "lib/driver/status.h"

namespace holdfast::driver {
namespace {

// The version whose declarations this was compiled against: asks for the matching flavour of each function.
constexpr int kCudaVersion = CUDA_VERSION;

// CUDA 13.0 gave these two a parameter more, and cuda.h goes on declaring the old ones under the plain name.
constexpr int kBeforeContextParameters = 12000;

int VersionOf(std::string_view name) {
  return name == "cuCtxGetDevice" || name == "cuCtxSynchronize" ? kBeforeContextParameters : kCudaVersion;
}

std::atomic<bool> is_initialised{false};
std::atomic<const Driver*> abandoned_driver{nullptr};

bool Initialise(const Driver& driver) {
  const CUresult result = driver.cuInit(0u);
  if (result != CUDA_SUCCESS) {
    throw DriverError("cuInit", result, "starting the driver");
  }
  // Memory ordering: relaxed, a note for AbandonInForkedChild.
  is_initialised.store(true, std::memory_order_relaxed);
  return true;
}

}  // namespace

Resolver::Resolver(const std::string& library) {
  // Never closed: the driver keeps threads, and a destructor callback may come at any time.
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw std::runtime_error("no CUDA driver: " + std::string(dlerror()));
  }
  get_proc_address_ = reinterpret_cast<GetProcAddress>(dlsym(handle, "cuGetProcAddress_v2"));
  if (get_proc_address_ == nullptr) {
    throw std::runtime_error("no CUDA driver: " + library + " has no cuGetProcAddress_v2 (CUDA 12 or newer is needed)");
  }
}

void* Resolver::Find(const char* name) const noexcept {
  void* address = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  const CUresult result = get_proc_address_(name, &address, VersionOf(name), CU_GET_PROC_ADDRESS_DEFAULT, &status);
  return result == CUDA_SUCCESS && status == CU_GET_PROC_ADDRESS_SUCCESS ? address : nullptr;
}

// In the initialisers below `name` is replaced by cuda.h's versioned name, `#name` is not: the driver is asked for
// the plain name and answers with the version that cuda.h declares.
Driver::Driver(const Resolver& resolver)
    :
#define HOLDFAST_ENTRY_POINT(name) name(#name, resolver.Find(#name), CUDA_ERROR_NOT_SUPPORTED),
#include "lib/driver/entry_points.def"
#undef HOLDFAST_ENTRY_POINT
      end_() {
}

Driver::Driver(CUresult answer)
    :
#define HOLDFAST_ENTRY_POINT(name) name(#name, nullptr, answer),
#include "lib/driver/entry_points.def"
#undef HOLDFAST_ENTRY_POINT
      end_() {
}

std::vector<std::string> Driver::Missing() const {
  std::vector<std::string> missing;
#define HOLDFAST_ENTRY_POINT(entry)     \
  if (!entry.available()) {             \
    missing.emplace_back(entry.name()); \
  }
#include "lib/driver/entry_points.def"
#undef HOLDFAST_ENTRY_POINT
  return missing;
}

const Driver& GetUninitialisedDriver() {
  static const Driver driver{Resolver("libcuda.so.1")};
  return driver;
}

const Driver& GetDriver() {
  // Memory ordering: relaxed. It is written while this process has one thread.
  if (const Driver* abandoned = abandoned_driver.load(std::memory_order_relaxed)) [[unlikely]] {
    return *abandoned;
  }
  const Driver& driver = GetUninitialisedDriver();
  // A throw leaves the variable unset, and the next call tries again.
  [[maybe_unused]] static const bool initialised = Initialise(driver);
  return driver;
}

void AbandonInForkedChild() noexcept {
  // Memory ordering: relaxed, as in GetDriver; and the thread that initialised is this one or is not here.
  if (is_initialised.load(std::memory_order_relaxed)) {
    static const Driver gone{CUDA_ERROR_DEINITIALIZED};
    abandoned_driver.store(&gone, std::memory_order_relaxed);
  }
}

}  // namespace holdfast::driver
