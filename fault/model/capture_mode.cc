#include "fault/model/capture_mode.h"

#include <utility>

#include "fault/model/call.h"
#include "fault/model/capture.h"
#include "fault/model/context.h"

namespace holdfast::fault::model {
namespace {

thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

// Whether a capture forbids unsafe calls to the calling thread.
bool ForbidsUnsafe(const CaptureOwner& owner) {
  if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED || owner.mode == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
  if (owner.thread == ThreadNumber()) return true;
  return thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL && owner.mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

bool Blocks(const CaptureOwner& owner) { return owner.blocks; }

}  // namespace

CUstreamCaptureMode ExchangeCaptureMode(CUstreamCaptureMode mode) { return std::exchange(thread_mode, mode); }

void RequireSafe() { Require(internal::CheckCaptures() == CUDA_SUCCESS, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED); }

void RequireNoImplicitCapture() { Require(!InvalidateCaptures(&Blocks), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT); }

void RequireNoImplicitCaptureToAsk() { Require(!HasCapture(&Blocks), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT); }

void RequireNoCapture() {
  Require(!InvalidateCaptures([](const CaptureOwner&) { return true; }), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

CUresult internal::CheckCaptures() noexcept {
  if (CurrentContext() == nullptr) return CUDA_SUCCESS;
  return InvalidateCaptures(&ForbidsUnsafe) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

}  // namespace holdfast::fault::model
