// Events: what they recorded last, which is work on a stream or a point of a stream capture.
#ifndef HOLDFAST_FAULT_MODEL_EVENT_H_
#define HOLDFAST_FAULT_MODEL_EVENT_H_

#include <cuda.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "fault/model/completion.h"

namespace holdfast::fault::model {

struct CapturePoint;

// Thread safety: all functions may be called from any thread.
class Event : public std::enable_shared_from_this<Event> {
 public:
  explicit Event(unsigned int flags) : flags(flags) {}

  void SetRecord(CompletionPointer record) {
    const std::lock_guard<std::mutex> lock(mutex_);
    record_ = std::move(record);
    captured_ = nullptr;
  }
  void SetCaptured(std::shared_ptr<const CapturePoint> captured) {
    const std::lock_guard<std::mutex> lock(mutex_);
    record_ = nullptr;
    captured_ = std::move(captured);
  }

  // Null before the first record, and if that was captured.
  CompletionPointer record() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return record_;
  }

  // Null unless the last record was captured.
  std::shared_ptr<const CapturePoint> captured() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return captured_;
  }

  // A node may still hold an event whose handle was destroyed. An executable made before that still works.
  bool destroyed() const { return destroyed_.load(std::memory_order_relaxed); }
  void MarkDestroyed() { destroyed_.store(true, std::memory_order_relaxed); }

  const unsigned int flags;
  CUevent handle = nullptr;  // set before the handle is given out

 private:
  mutable std::mutex mutex_;
  CompletionPointer record_;                      // guarded by mutex_
  std::shared_ptr<const CapturePoint> captured_;  // guarded by mutex_
  std::atomic<bool> destroyed_{false};
};

using EventPointer = std::shared_ptr<Event>;

EventPointer CreateEvent(unsigned int flags);

// Throws Refusal{otherwise} for a made-up handle; a destroyed event is a misuse.
EventPointer RequireEvent(CUevent handle, CUresult otherwise = CUDA_ERROR_INVALID_HANDLE);

void DestroyEvent(CUevent handle);
void DestroyAllEvents();
std::uint64_t LiveEvents();

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_EVENT_H_
