// Entry points: start-up, errors, the device.
#include <cuda.h>

#include <algorithm>
#include <cstring>

#include "fault/model/call.h"
#include "fault/model/context.h"
#include "fault/model/memory.h"
#include "fault/model/result_names.h"
#include "fault/model/settings.h"

namespace holdfast::fault::model {
namespace {

int AttributeValue(CUdevice_attribute attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return 9;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return 0;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
      return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
      return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
      return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 49152;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return kMultiprocessors;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
      return 1;
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
      return 1;
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
      return 0;
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned int flags) {
  return Enter(__func__, Rule::kAlways, [&] {
    Require(flags == 0);
    SetInitialized();
  });
}

CUresult cuDriverGetVersion(int* version) {
  return Enter(__func__, Rule::kAlways, [&] {
    Require(version != nullptr);
    *version = kDriverVersion;
  });
}

CUresult cuGetErrorName(CUresult result, const char** name) {
  return Enter(__func__, Rule::kAlways, [&] {
    Require(name != nullptr);
    *name = NameOf(result);
    Require(*name != nullptr);
  });
}

CUresult cuGetErrorString(CUresult result, const char** text) {
  return Enter(__func__, Rule::kAlways, [&] {
    Require(text != nullptr);
    *text = TextOf(result);
    Require(*text != nullptr);
  });
}

CUresult cuDeviceGetCount(int* count) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(count != nullptr);
    *count = 1;
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(device != nullptr);
    RequireDevice(ordinal);
    *device = ordinal;
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(name != nullptr && length > 0);
    RequireDevice(device);
    std::strncpy(name, kDeviceName, static_cast<std::size_t>(length));
    name[length - 1] = '\0';
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(uuid != nullptr);
    RequireDevice(device);
    std::memset(uuid, 0, sizeof(*uuid));
    std::memcpy(uuid->bytes, "holdfast model", 14);
  });
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(bytes != nullptr);
    RequireDevice(device);
    *bytes = kDeviceMemoryBytes;
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(value != nullptr);
    RequireDevice(device);
    *value = AttributeValue(attribute);
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(major != nullptr && minor != nullptr);
    RequireDevice(device);
    *major = AttributeValue(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    *minor = AttributeValue(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  });
}

}  // extern "C"

// Settings that do not parse end the process when the library is loaded, not at the first call that needs them.
[[gnu::constructor]] static void CheckSettings() { InitialSettings(); }

}  // namespace holdfast::fault::model
