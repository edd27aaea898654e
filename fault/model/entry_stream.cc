// Entry points: streams, events, host functions, and what there is of stream capture.
//
// Captures are not modelled: to begin one is answered with CUDA_ERROR_NOT_SUPPORTED, so no stream is ever capturing.
#include <cuda.h>

#include <algorithm>
#include <chrono>

#include "fault/model/call.h"
#include "fault/model/context.h"
#include "fault/model/event.h"
#include "fault/model/stream.h"

namespace holdfast::fault::model {
namespace {

constexpr int kGreatestPriority = -5;
constexpr unsigned int kEventFlags = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;

thread_local CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

CUresult RecordEvent(const char* name, CUevent event, CUstream stream) {
  return Enter(name, Rule::kInCallback, [&] {
    const EventPointer recorded = RequireEvent(event);
    recorded->SetRecord(Submit(*RequireUsableStream(stream), StreamWork{}));
  });
}

CUresult ElapsedTime(const char* name, float* milliseconds, CUevent start, CUevent end) {
  return Enter(name, Rule::kInCallback, [&] {
    Require(milliseconds != nullptr);
    const EventPointer events[] = {RequireEvent(start), RequireEvent(end)};
    for (const EventPointer& event : events) {
      Require((event->flags & CU_EVENT_DISABLE_TIMING) == 0 && event->record() != nullptr, CUDA_ERROR_INVALID_HANDLE);
      Require(event->record()->done(), CUDA_ERROR_NOT_READY);
    }
    const auto elapsed = events[1]->record()->finished_at() - events[0]->record()->finished_at();
    *milliseconds = std::chrono::duration<float, std::milli>(elapsed).count();
  });
}

// Common to the three forms: a null status is refused, the rest is only written during a capture.
void AnswerNotCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  Require(status != nullptr);
  RequireStream(stream);
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
}

}  // namespace

extern "C" {

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(stream != nullptr && (flags & ~static_cast<unsigned int>(CU_STREAM_NON_BLOCKING)) == 0);
    RequireCurrentContext();
    *stream = CreateStream(flags, std::clamp(priority, kGreatestPriority, 0))->handle;
  });
}

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(stream != nullptr && (flags & ~static_cast<unsigned int>(CU_STREAM_NON_BLOCKING)) == 0);
    RequireCurrentContext();
    *stream = CreateStream(flags, 0)->handle;
  });
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  return Enter(__func__, Rule::kInCallback, [&] {
    RequireHealthyContext();
    DestroyStream(stream);
  });
}

CUresult cuStreamSynchronize(CUstream stream) {
  return Enter(__func__, Rule::kInCallback, [&] {
    SynchronizeStream(*RequireUsableStream(stream));
    RequireHealthyContext();
  });
}

CUresult cuStreamQuery(CUstream stream) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Require(StreamIsIdle(*RequireUsableStream(stream)), CUDA_ERROR_NOT_READY);
    RequireHealthyContext();
  });
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Require(flags == 0);
    const StreamPointer waiting = RequireUsableStream(stream);
    StreamWork work;
    if (CompletionPointer record = RequireEvent(event)->record()) work.after.push_back(std::move(record));
    Submit(*waiting, std::move(work));
  });
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Require(context != nullptr);
    RequireUsableStream(stream);
    *context = PrimaryContext();
  });
}

CUresult cuStreamGetFlags(CUstream stream, unsigned int* flags) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Require(flags != nullptr);
    *flags = RequireStream(stream)->flags;
  });
}

CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Require(priority != nullptr);
    *priority = RequireStream(stream)->priority;
  });
}

CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Require(id != nullptr);
    *id = RequireStream(stream)->id;
  });
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Require(device != nullptr);
    RequireStream(stream);
    *device = 0;
  });
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* payload) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Require(function != nullptr);
    StreamWork work;
    work.run = [function, payload] {
      const CallbackScope scope;
      function(payload);
    };
    Submit(*RequireUsableStream(stream), std::move(work));
  });
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Require(mode != nullptr && *mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && *mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
    std::swap(*mode, capture_mode);
  });
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return Enter(__func__, Rule::kInCallback, [&] { AnswerNotCapturing(stream, status); });
}

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t*) {
  return Enter(__func__, Rule::kInCallback, [&] { AnswerNotCapturing(stream, status); });
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t*, CUgraph*,
                                   const CUgraphNode**, size_t*) {
  return Enter(__func__, Rule::kInCallback, [&] { AnswerNotCapturing(stream, status); });
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t*, CUgraph*,
                                   const CUgraphNode**, const CUgraphEdgeData**, size_t*) {
  return Enter(__func__, Rule::kInCallback, [&] { AnswerNotCapturing(stream, status); });
}

CUresult cuEventCreate(CUevent* event, unsigned int flags) {
  return Enter(__func__, Rule::kNormal, [&] {
    Require(event != nullptr && (flags & ~kEventFlags) == 0);
    RequireCurrentContext();
    *event = CreateEvent(flags)->handle;
  });
}

CUresult cuEventDestroy_v2(CUevent event) {
  return Enter(__func__, Rule::kInCallback, [&] { DestroyEvent(event); });
}

CUresult cuEventRecord(CUevent event, CUstream stream) { return RecordEvent(__func__, event, stream); }

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags) {
  if (flags == CU_EVENT_RECORD_EXTERNAL) return CUDA_ERROR_ILLEGAL_STATE;  // only in a capture
  if (flags != CU_EVENT_RECORD_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
  return RecordEvent(__func__, event, stream);
}

CUresult cuEventQuery(CUevent event) {
  return Enter(__func__, Rule::kInCallback, [&] {
    const CompletionPointer record = RequireEvent(event)->record();
    Require(record == nullptr || record->done(), CUDA_ERROR_NOT_READY);
    RequireHealthyContext();
  });
}

CUresult cuEventSynchronize(CUevent event) {
  return Enter(__func__, Rule::kInCallback, [&] {
    if (const CompletionPointer record = RequireEvent(event)->record()) record->Wait();
    RequireHealthyContext();
  });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return ElapsedTime(__func__, milliseconds, start, end);
}
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return ElapsedTime(__func__, milliseconds, start, end);
}

}  // extern "C"
}  // namespace holdfast::fault::model
