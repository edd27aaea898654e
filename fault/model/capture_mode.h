// What stream captures forbid to calls that are no part of them.
//
// Three things are forbidden, and each makes the captures invalid that stand against it: an unsafe call (one that works
// at once on what a capture might depend on) from a thread whose mode heeds the capture, work on the null stream while
// a stream that it waits for captures, and waiting for the whole context.
//
// Thread safety: all functions may be called from any thread.
#ifndef HOLDFAST_FAULT_MODEL_CAPTURE_MODE_H_
#define HOLDFAST_FAULT_MODEL_CAPTURE_MODE_H_

#include <cuda.h>

namespace holdfast::fault::model {

// The calling thread's mode becomes `mode`; gives the one before.
CUstreamCaptureMode ExchangeCaptureMode(CUstreamCaptureMode mode);

// For an unsafe call, where Rule::kUnsafe does not say it already: before its arguments are looked at. Throws
// Refusal{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED}. A thread without a context is let through; the call itself wants one.
void RequireSafe();

// For work on the null stream, or a question to it. Throws Refusal{CUDA_ERROR_STREAM_CAPTURE_IMPLICIT}; a question
// leaves the captures valid.
void RequireNoImplicitCapture();
void RequireNoImplicitCaptureToAsk();

// For a wait for the whole context. Throws Refusal{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED} whatever the modes are.
void RequireNoCapture();

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_CAPTURE_MODE_H_
