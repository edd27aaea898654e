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

const fault::ModelControl* model = nullptr;

// What the kernels of the facts do, where the driver is the model. Their PTX does the same on a GPU.
void RunNothing(void**, const fault::LaunchShape&) {}

void Store(void** parameters, const fault::LaunchShape&) {
  **static_cast<unsigned int**>(parameters[0]) = *static_cast<unsigned int*>(parameters[1]);
}

void SetCondition(void** parameters, const fault::LaunchShape&) {
  model->set_conditional(*static_cast<std::uint64_t*>(parameters[0]), *static_cast<unsigned int*>(parameters[1]));
}

void CountTo(void** parameters, const fault::LaunchShape&) {
  const unsigned int count = ++**static_cast<unsigned int**>(parameters[1]);
  const unsigned int limit = *static_cast<unsigned int*>(parameters[2]);
  model->set_conditional(*static_cast<std::uint64_t*>(parameters[0]), count < limit ? 1 : 0);
}

void RegisterKernels(void* library) {
  void* symbol = ::dlsym(library, "holdfast_model_control");
  if (symbol == nullptr) return;
  model = reinterpret_cast<fault::ModelControlFunction>(symbol)();
  for (const char* name : {"holdfast_arguments", "holdfast_nothing", "holdfast_nothing_else"}) {
    model->register_kernel(name, &RunNothing);
  }
  model->register_kernel("holdfast_store", &Store);
  model->register_kernel("holdfast_set_condition", &SetCondition);
  model->register_kernel("holdfast_count_to", &CountTo);
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
