// Entry points: streams, events, host functions.
#include <cuda.h>

#include <algorithm>
#include <chrono>

#include "fault/model/call.h"
#include "fault/model/capture.h"
#include "fault/model/capture_mode.h"
#include "fault/model/context.h"
#include "fault/model/event.h"
#include "fault/model/stream.h"

namespace holdfast::fault::model {
namespace {

constexpr int kGreatestPriority = -5;
constexpr unsigned int kEventFlags = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;

CUresult RecordEvent(const char* name, CUevent event, CUstream stream) {
  return Enter(name, Rule::kInCallback, [&] {
    const EventPointer recorded = RequireEvent(event);
    const StreamPointer target = RequireUsableStream(stream);
    if (CaptureRecord(*target, *recorded)) return;
    recorded->SetRecord(Submit(*target, StreamWork{}));
  });
}

// For a call that asks or waits for what the event recorded.
EventPointer RequireWaitableEvent(CUevent handle) {
  EventPointer event = RequireEvent(handle);
  RefuseCapturedEvent(*event, true);
  RequireSafe();
  return event;
}

// For the questions that a capturing stream does not answer.
StreamPointer RequireAskableStream(CUstream handle) {
  StreamPointer stream = RequireStream(handle);
  if (stream->handle == nullptr) RequireNoImplicitCapture();
  RefuseCapturing(*stream);
  return stream;
}

CUresult ElapsedTime(const char* name, float* milliseconds, CUevent start, CUevent end) {
  return Enter(name, Rule::kInCallback, [&] {
    Require(milliseconds != nullptr);
    const EventPointer events[] = {RequireEvent(start), RequireEvent(end)};
    for (const EventPointer& event : events) RefuseCapturedEvent(*event, false);
    for (const EventPointer& event : events) {
      Require((event->flags & CU_EVENT_DISABLE_TIMING) == 0 && event->record() != nullptr, CUDA_ERROR_INVALID_HANDLE);
      Require(event->record()->done(), CUDA_ERROR_NOT_READY);
    }
    const auto elapsed = events[1]->record()->finished_at() - events[0]->record()->finished_at();
    *milliseconds = std::chrono::duration<float, std::milli>(elapsed).count();
  });
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
    const StreamPointer waited = RequireRunningStream(stream);
    RequireSafe();
    SynchronizeStream(*waited);
    RequireHealthyContext();
  });
}

CUresult cuStreamQuery(CUstream stream) {
  return Enter(__func__, Rule::kInCallback, [&] {
    const StreamPointer asked = RequireRunningStream(stream);
    RequireSafe();
    Require(StreamIsIdle(*asked), CUDA_ERROR_NOT_READY);
    RequireHealthyContext();
  });
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Require(flags == CU_EVENT_WAIT_DEFAULT || flags == CU_EVENT_WAIT_EXTERNAL);
    const StreamPointer waiting = RequireUsableStream(stream);
    if (CaptureWait(waiting, event, flags == CU_EVENT_WAIT_EXTERNAL)) return;
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
    *flags = RequireAskableStream(stream)->flags;
  });
}

CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Require(priority != nullptr);
    if (stream == nullptr || stream == CU_STREAM_LEGACY) RequireNoImplicitCapture();
    *priority = RequireStream(stream)->priority;
  });
}

CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Require(id != nullptr);
    *id = RequireAskableStream(stream)->id;
  });
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Require(device != nullptr);
    RequireAskableStream(stream);
    *device = 0;
  });
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* payload) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Require(function != nullptr);
    const StreamPointer target = RequireUsableStream(stream);
    if (CaptureNode(*target, [&] { return HostNode{function, payload}; })) return;
    StreamWork work;
    work.run = [function, payload] {
      const CallbackScope scope;
      function(payload);
    };
    Submit(*target, std::move(work));
  });
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
  if (flags == CU_EVENT_RECORD_DEFAULT) return RecordEvent(__func__, event, stream);
  return Enter(__func__, Rule::kInCallback, [&] {
    Require(flags == CU_EVENT_RECORD_EXTERNAL);
    const EventPointer recorded = RequireEvent(event);
    const StreamPointer target = RequireUsableStream(stream);
    const bool is_captured = CaptureNode(*target, [&recorded] { return EventRecordNode{recorded}; });
    Require(is_captured, CUDA_ERROR_ILLEGAL_STATE);
  });
}

CUresult cuEventQuery(CUevent event) {
  return Enter(__func__, Rule::kInCallback, [&] {
    const CompletionPointer record = RequireWaitableEvent(event)->record();
    Require(record == nullptr || record->done(), CUDA_ERROR_NOT_READY);
    RequireHealthyContext();
  });
}

CUresult cuEventSynchronize(CUevent event) {
  return Enter(__func__, Rule::kInCallback, [&] {
    if (const CompletionPointer record = RequireWaitableEvent(event)->record()) record->Wait();
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
