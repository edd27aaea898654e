// Entry points: the primary context, and what is current on a thread.
#include <cuda.h>

#include "fault/model/call.h"
#include "fault/model/capture_mode.h"
#include "fault/model/context.h"
#include "fault/model/stream.h"

namespace holdfast::fault::model {
namespace {

CUresult Release(const char* name, CUdevice device) {
  return Enter(name, Rule::kNormal, [&] {
    RequireDevice(device);
    ReleasePrimaryContext();
  });
}

}  // namespace

extern "C" {

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(context != nullptr);
    RequireDevice(device);
    *context = RetainPrimaryContext();
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return Release(__func__, device); }
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) { return Release(__func__, device); }

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return Enter(__func__, Rule::kNormal, [&] {
    RequireDevice(device);
    ResetPrimaryContext();
  });
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) { return cuDevicePrimaryCtxReset_v2(device); }

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(flags != nullptr && active != nullptr);
    RequireDevice(device);
    *flags = PrimaryContextFlags();
    *active = PrimaryContextIsActive() ? 1 : 0;
  });
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags) {
  return Enter(__func__, Rule::kNormal, [&] {
    RequireDevice(device);
    SetPrimaryContextFlags(flags);
  });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(context != nullptr);
    *context = CurrentContext();
  });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return Enter(__func__, Rule::kNormal, [&] {
    RequireContext(context);
    SetCurrentContext(context);
  });
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    RequireContext(context);
    PushCurrentContext(context);
  });
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return Enter(__func__, Rule::kNormal, [&] {
    const CUcontext popped = PopCurrentContext();
    if (context != nullptr) *context = popped;
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(device != nullptr);
    Require(CurrentContext() != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    *device = 0;
  });
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(device != nullptr);
    Require(context != nullptr || CurrentContext() != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    RequireContext(context);
    *device = 0;
  });
}

CUresult cuCtxGetFlags(unsigned int* flags) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(flags != nullptr);
    Require(CurrentContext() != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    *flags = PrimaryContextFlags();
  });
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned int* version) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(version != nullptr);
    RequireContext(context);
    *version = 3020;
  });
}

CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(id != nullptr);
    RequireContext(context);
    Require(context != nullptr || CurrentContext() != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    *id = 1;
  });
}

CUresult cuCtxSynchronize() {
  return Enter(__func__, Rule::kNormal, [&] {
    RequireCurrentContext();
    RequireNoCapture();
    SynchronizeAllStreams();
    RequireHealthyContext();
  });
}

CUresult cuCtxSynchronize_v2(CUcontext context) {
  return Enter(__func__, Rule::kNormal, [&] {
    if (context == nullptr) RequireCurrentContext();
    RequireContext(context);
    RequireNoCapture();
    SynchronizeAllStreams();
    RequireHealthyContext();
  });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return Enter(__func__, Rule::kNormal, [&] {
    RequireCurrentContext();
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
  });
}

}  // extern "C"
}  // namespace holdfast::fault::model
