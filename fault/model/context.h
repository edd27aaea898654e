// The one device, its primary context, and what is current on each thread.
#ifndef HOLDFAST_FAULT_MODEL_CONTEXT_H_
#define HOLDFAST_FAULT_MODEL_CONTEXT_H_

#include <cuda.h>

#include <string>

namespace holdfast::fault::model {

inline constexpr int kDriverVersion = 13000;
inline constexpr char kDeviceName[] = "Holdfast model device";
inline constexpr int kMultiprocessors = 132;

// Throws Refusal{CUDA_ERROR_INVALID_DEVICE} unless it is the device.
void RequireDevice(CUdevice device);

CUcontext RetainPrimaryContext();
void ReleasePrimaryContext();
void ResetPrimaryContext();
bool PrimaryContextIsActive();
CUcontext PrimaryContext();  // null before the first retain
unsigned int PrimaryContextFlags();
void SetPrimaryContextFlags(unsigned int flags);

// The context that is current on the calling thread; null if none.
CUcontext CurrentContext();
void SetCurrentContext(CUcontext context);
void PushCurrentContext(CUcontext context);
CUcontext PopCurrentContext();

// Throws Refusal{CUDA_ERROR_INVALID_CONTEXT} unless it is a context that was given out. Null is none.
void RequireContext(CUcontext context);

// The same for the context of a node: one that was never given out is a misuse.
void RequireNodeContext(CUcontext context);

// What a call that needs a current, healthy context begins with. Throws Refusal{CUDA_ERROR_INVALID_CONTEXT}, or the
// error that work on the device left behind.
void RequireCurrentContext();

// Work on the device went wrong: prints why, and every later call that needs the context answers `error`, for as long
// as the process lives.
void FailContext(CUresult error, const std::string& why);

// Throws the error that work on the device left behind.
void RequireHealthyContext();
bool ContextIsHealthy();

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_CONTEXT_H_
