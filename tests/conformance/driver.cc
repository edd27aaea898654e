#include "tests/conformance/driver.h"

#include <dlfcn.h>

#include <algorithm>

#include "fault/model/control.h"

namespace holdfast::conformance {
namespace {

// The newest forms that have the types of cuda.h: CUDA 13.0 made new forms of some calls under the old types' names. A
// driver that is older is asked for its own version.
constexpr int kCudaVersion = 12080;

bool Resolve(Driver* driver, const char* name, void** function, std::string* error) {
  CUdriverProcAddressQueryResult status{};
  const int version = std::min(kCudaVersion, driver->version);
  const CUresult result = driver->GetProcAddress(name, function, version, CU_GET_PROC_ADDRESS_DEFAULT, &status);
  if (result == CUDA_SUCCESS && *function != nullptr) return true;
  *error = std::string("the driver has no ") + name;
  return false;
}

// The kernels of the facts do nothing.
void RunNothing(void**, const fault::LaunchShape&) {}

void RegisterKernels(void* library) {
  void* symbol = ::dlsym(library, "holdfast_model_control");
  if (symbol == nullptr) return;
  const auto* control = reinterpret_cast<fault::ModelControlFunction>(symbol)();
  control->register_kernel("holdfast_arguments", &RunNothing);
  control->register_kernel("holdfast_nothing", &RunNothing);
}

}  // namespace

bool Load(Driver* driver, std::string* error) {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    *error = ::dlerror();
    return false;
  }
  driver->is_model = ::dlsym(library, "holdfast_model_control") != nullptr;
  RegisterKernels(library);
  driver->GetProcAddress = reinterpret_cast<decltype(driver->GetProcAddress)>(::dlsym(library, "cuGetProcAddress_v2"));
  driver->DriverGetVersion =
      reinterpret_cast<decltype(driver->DriverGetVersion)>(::dlsym(library, "cuDriverGetVersion"));
  if (driver->GetProcAddress == nullptr || driver->DriverGetVersion == nullptr) {
    *error = "the driver has no cuGetProcAddress_v2";
    return false;
  }
  driver->DriverGetVersion(&driver->version);
#define HOLDFAST_RESOLVE(name) \
  if (!Resolve(driver, "cu" #name, reinterpret_cast<void**>(&driver->name), error)) return false;
  HOLDFAST_CONFORMANCE_CALLS(HOLDFAST_RESOLVE)
#undef HOLDFAST_RESOLVE
  return true;
}

bool Start(Driver* driver, std::string* error) {
  CUdevice device = 0;
  CUresult result = driver->Init(0);
  if (result == CUDA_SUCCESS) result = driver->DeviceGet(&device, 0);
  if (result == CUDA_SUCCESS) result = driver->DevicePrimaryCtxRetain(&driver->context, device);
  if (result == CUDA_SUCCESS) result = driver->CtxSetCurrent(driver->context);
  if (result == CUDA_SUCCESS) result = driver->StreamCreate(&driver->stream, CU_STREAM_NON_BLOCKING);
  if (result == CUDA_SUCCESS) return true;
  *error = "the driver cannot start: " + NameOf(*driver, result);
  return false;
}

std::string NameOf(const Driver& driver, CUresult result) {
  const char* name = nullptr;
  if (driver.GetErrorName(result, &name) == CUDA_SUCCESS && name != nullptr) return name;
  return std::to_string(static_cast<int>(result));
}

}  // namespace holdfast::conformance
