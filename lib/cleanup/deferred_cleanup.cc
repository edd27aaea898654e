#include "lib/cleanup/deferred_cleanup.h"

#include <cuda.h>

#include <mutex>
#include <new>
#include <stdexcept>
#include <utility>

#include "lib/driver/driver.h"
#include "lib/driver/status.h"

namespace holdfast::cleanup {
namespace {

using Clock = std::chrono::steady_clock;

// Whether this thread is releasing payloads. Read and written by its own thread alone.
thread_local bool inside_batch = false;

// An owner's deleter may free memory or unload code, which a capture in global or thread-local mode on the same
// thread forbids and would be invalidated by. In relaxed mode the capture is left alone.
class RelaxedCaptureScope : public BatchScope {
 public:
  void BeforeBatch() noexcept override {
    inside_batch = true;
    mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
    exchanged_ = Exchange();
  }

  void AfterBatch() noexcept override {
    if (exchanged_) {
      Exchange();
    }
    inside_batch = false;
  }

 private:
  // Swaps mode_ with the thread's mode. False if the driver refused, or there is none: then there is no capture either.
  bool Exchange() noexcept {
    try {
      const CUresult result = driver::GetDriver().cuThreadExchangeStreamCaptureMode(&mode_);
      driver::ReportCleanupFailure("cuThreadExchangeStreamCaptureMode", result, nullptr);
      return result == CUDA_SUCCESS;
    } catch (const std::exception&) {
      return false;
    }
  }

  // Touched by the draining thread alone, and there is one at a time.
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  bool exchanged_ = false;
};

}  // namespace

struct DeferredCleanup::Parts {
  Parts(std::unique_ptr<Wakeup> given, const CleanupOptions& given_options, Parts* earlier)
      : options(given_options),
        previous(earlier),
        wakeup(std::move(given)),
        queue(*wakeup, &batch_scope, {&AlertRetry, this}),
        retry([this] { return queue.RequestIfNeeded(); }) {
    wakeup->Start({&RunDrain, this});
  }

  static void AlertRetry(void* parts) noexcept { static_cast<Parts*>(parts)->retry.Alert(); }

  static void RunDrain(void* parts) noexcept { static_cast<Parts*>(parts)->queue.DrainForWakeup(); }

  // Whether the outstanding wakeup has not run for too long. One thread guesses at a time; the others are told no.
  bool PresumeLost() noexcept {
    const std::unique_lock lock(guess_mutex, std::try_to_lock);
    if (!lock.owns_lock()) {
      return false;
    }
    const std::uint64_t run = queue.Counters().wakeups_run;
    const Clock::time_point now = Clock::now();
    if (!queue.IsScheduled() || run != wakeups_run_seen) {
      wakeups_run_seen = run;
      waiting_since = now;
      patience = options.presumed_lost_after;
      return false;
    }
    if (now - waiting_since < patience) {
      return false;
    }
    patience *= 2;
    return true;
  }

  const CleanupOptions options;
  Parts* const previous;  // shut down or abandoned; payloads may still point to its queue
  RelaxedCaptureScope batch_scope;
  const std::unique_ptr<Wakeup> wakeup;
  Queue queue;

  // Never waited for, and never taken in a callback: only a safe entry tries it.
  std::mutex guess_mutex;
  // Guarded by guess_mutex.
  std::uint64_t wakeups_run_seen = ~std::uint64_t{0};
  Clock::time_point waiting_since{};
  std::chrono::milliseconds patience{0};

  RetryThread retry;
};

DeferredCleanup& DeferredCleanup::Process() {
  alignas(DeferredCleanup) static unsigned char storage[sizeof(DeferredCleanup)];
  static DeferredCleanup* const instance = new (storage) DeferredCleanup;
  return *instance;
}

void DeferredCleanup::Start(std::unique_ptr<Wakeup> wakeup, const CleanupOptions& options) {
  if (wakeup == nullptr) {
    throw std::invalid_argument("DeferredCleanup::Start: no wakeup was given");
  }
  if (IsRunning()) {
    throw std::logic_error("DeferredCleanup::Start: the cleanup of this process is running already");
  }
  Parts* const previous = parts_.Get();
  parts_.Publish(new Parts(std::move(wakeup), options, previous));
}

bool DeferredCleanup::IsRunning() const noexcept {
  const Parts* parts = parts_.Get();
  return parts != nullptr && !parts->queue.IsShutDown();
}

void DeferredCleanup::RequireStarted() const {
  if (parts_.Get() == nullptr) {
    throw std::logic_error("the deferred cleanup was not started: call DeferredCleanup::Start before making graphs");
  }
}

void DeferredCleanup::OnSafeEntry() noexcept {
  Parts* parts = parts_.Get();
  if (parts == nullptr || !parts->queue.HasWork()) {
    return;
  }
  parts->queue.RequestIfNeeded();
  if (parts->PresumeLost()) {
    parts->queue.RequestAgain();
  }
}

void DeferredCleanup::Drain() noexcept {
  if (Parts* parts = parts_.Get()) {
    parts->queue.Drain();
  }
}

bool DeferredCleanup::Shutdown() noexcept {
  Parts* parts = parts_.Get();
  if (parts == nullptr || inside_batch || !parts->queue.Shutdown()) {
    return false;
  }
  parts->retry.Stop();
  parts->wakeup->Stop();
  return true;
}

void DeferredCleanup::AbandonInForkedChild() noexcept {
  if (Parts* parts = parts_.Get()) {
    parts->queue.Abandon();
  }
}

bool DeferredCleanup::HasWork() const noexcept {
  const Parts* parts = parts_.Get();
  return parts != nullptr && parts->queue.HasWork();
}

void DeferredCleanup::CountReleasedDirectly() noexcept { released_directly_.Add(1); }

std::uint64_t DeferredCleanup::ReleasedDirectly() const noexcept { return released_directly_.Get(); }

CleanupCounters DeferredCleanup::Counters() const noexcept {
  const Parts* parts = parts_.Get();
  return parts != nullptr ? parts->queue.Counters() : CleanupCounters{};
}

void DeferredCleanup::OnUserObjectDestroyed(void* payload) noexcept {
  auto* const item = static_cast<Payload*>(payload);
  // Set: RequireStarted came before the payload was made.
  item->queue->Enqueue(item);
}

Payload::Payload(ReleaseFunction release_function) noexcept
    : Item(release_function), queue([] {
        DeferredCleanup::Parts* parts = DeferredCleanup::Process().parts_.Get();
        return parts != nullptr ? &parts->queue : nullptr;
      }()) {}

}  // namespace holdfast::cleanup
