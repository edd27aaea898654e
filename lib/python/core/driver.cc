// Devices and contexts.
#include "lib/driver/driver.h"

#include <cstdint>
#include <string>

#include "lib/driver/status.h"
#include "lib/python/core/bindings.h"

namespace py = pybind11;

namespace holdfast::python {
namespace {

using driver::Check;
using driver::GetDriver;

constexpr const char* kAskingDevice = "asking for a device";

int DriverVersion() {
  int version = 0;
  Check("cuDriverGetVersion", GetDriver().cuDriverGetVersion(&version), "asking for the driver's version");
  return version;
}

int DeviceCount() {
  int count = 0;
  Check("cuDeviceGetCount", GetDriver().cuDeviceGetCount(&count), "counting devices");
  return count;
}

CUdevice DeviceOf(int ordinal) {
  CUdevice device = 0;
  Check("cuDeviceGet", GetDriver().cuDeviceGet(&device, ordinal), kAskingDevice);
  return device;
}

std::string DeviceName(int ordinal) {
  char name[256] = {};
  Check("cuDeviceGetName", GetDriver().cuDeviceGetName(name, sizeof name, DeviceOf(ordinal)), kAskingDevice);
  return name;
}

int DeviceAttribute(int ordinal, int attribute) {
  int value = 0;
  Check("cuDeviceGetAttribute",
        GetDriver().cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(attribute), DeviceOf(ordinal)),
        "asking for an attribute of a device");
  return value;
}

std::uintptr_t RetainPrimaryContext(int ordinal) {
  CUcontext context = nullptr;
  Check("cuDevicePrimaryCtxRetain", GetDriver().cuDevicePrimaryCtxRetain(&context, DeviceOf(ordinal)),
        "retaining a primary context");
  return reinterpret_cast<std::uintptr_t>(context);
}

std::uintptr_t CurrentContext() {
  CUcontext context = nullptr;
  Check("cuCtxGetCurrent", GetDriver().cuCtxGetCurrent(&context), "asking for the current context");
  return reinterpret_cast<std::uintptr_t>(context);
}

void SetCurrentContext(std::uintptr_t context) {
  Check("cuCtxSetCurrent", GetDriver().cuCtxSetCurrent(reinterpret_cast<CUcontext>(context)),
        "making a context current");
}

void SynchronizeContext() {
  Check("cuCtxSynchronize", GetDriver().cuCtxSynchronize(), "waiting for all work of a context");
}

int CurrentDevice() {
  CUdevice device = 0;
  Check("cuCtxGetDevice", GetDriver().cuCtxGetDevice(&device), "asking for the current device");
  return device;
}

// The CUmemorytype that the driver knows the address as; 0 if it does not know it.
int MemoryKind(std::uintptr_t address) {
  CUmemorytype type = CU_MEMORYTYPE_HOST;
  const CUresult result = GetDriver().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
  if (result == CUDA_ERROR_INVALID_VALUE) {
    return 0;
  }
  Check("cuPointerGetAttribute", result, "asking what an address is");
  return type;
}

}  // namespace

void BindDriver(py::module_& module) {
  module.def("driver_version", &DriverVersion, WithoutGil());
  module.def("device_count", &DeviceCount, WithoutGil());
  module.def("device_name", &DeviceName, py::arg("ordinal"), WithoutGil());
  module.def("device_attribute", &DeviceAttribute, py::arg("ordinal"), py::arg("attribute"), WithoutGil());
  module.def("retain_primary_context", &RetainPrimaryContext, py::arg("ordinal"), WithoutGil());
  module.def("current_context", &CurrentContext, WithoutGil());
  module.def("set_current_context", &SetCurrentContext, py::arg("context"), WithoutGil());
  module.def("synchronize_context", &SynchronizeContext, WithoutGil());
  module.def("current_device", &CurrentDevice, WithoutGil());
  module.def("memory_kind", &MemoryKind, py::arg("address"), WithoutGil());
}

}  // namespace holdfast::python
