#include "lib/cleanup/deferred_cleanup.h"

#include <cuda.h>

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
    Exchange();
  }

  void AfterBatch() noexcept override {
    Exchange();
    mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
    inside_batch = false;
  }

 private:
  void Exchange() noexcept {
    try {
      driver::ReportCleanupFailure("cuThreadExchangeStreamCaptureMode",
                                   driver::GetDriver().cuThreadExchangeStreamCaptureMode(&mode_), nullptr);
    } catch (const std::exception&) {
      // No driver: then there is no capture either.
    }
  }

  // The mode to set; after an exchange, the one that was. One thread drains at a time, and only it comes here.
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

}  // namespace

struct DeferredCleanup::Parts {
  Parts(std::unique_ptr<Wakeup> given, const CleanupOptions& given_options)
      : options(given_options),
        wakeup(std::move(given)),
        queue(*wakeup, &batch_scope, {&AlertRetry, this}),
        retry([this] { return queue.RequestIfNeeded(); }) {
    wakeup->Start({&RunDrain, this});
  }

  static void AlertRetry(void* parts) noexcept { static_cast<Parts*>(parts)->retry.Alert(); }

  static void RunDrain(void* parts) noexcept { static_cast<Parts*>(parts)->queue.DrainForWakeup(); }

  // Whether the outstanding wakeup has not run for too long. Any thread may ask; a race between two of them
  // costs one wakeup too many at the most.
  // Memory ordering: relaxed, the three numbers are a guess's notes and guard nothing.
  bool PresumeLost() noexcept {
    const std::uint64_t run = queue.Counters().wakeups_run;
    const Clock::rep now = Clock::now().time_since_epoch().count();
    if (!queue.IsScheduled() || wakeups_run_seen.exchange(run, std::memory_order_relaxed) != run) {
      waiting_since.store(now, std::memory_order_relaxed);
      patience.store(Clock::duration(options.presumed_lost_after).count(), std::memory_order_relaxed);
      return false;
    }
    const Clock::rep waited = now - waiting_since.load(std::memory_order_relaxed);
    Clock::rep limit = patience.load(std::memory_order_relaxed);
    return waited >= limit && patience.compare_exchange_strong(limit, 2 * limit, std::memory_order_relaxed);
  }

  const CleanupOptions options;
  RelaxedCaptureScope batch_scope;
  const std::unique_ptr<Wakeup> wakeup;
  Queue queue;
  std::atomic<std::uint64_t> wakeups_run_seen{~std::uint64_t{0}};
  std::atomic<Clock::rep> waiting_since{0};
  std::atomic<Clock::rep> patience{0};
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
  if (parts_.load(std::memory_order_acquire) != nullptr) {
    throw std::logic_error("DeferredCleanup::Start: the cleanup of this process has been started before");
  }
  parts_.store(new Parts(std::move(wakeup), options), std::memory_order_release);
}

void DeferredCleanup::RequireStarted() const {
  if (parts_.load(std::memory_order_acquire) == nullptr) {
    throw std::logic_error("the deferred cleanup was not started: call DeferredCleanup::Start before making graphs");
  }
}

void DeferredCleanup::OnSafeEntry() noexcept {
  Parts* parts = parts_.load(std::memory_order_acquire);
  if (parts == nullptr || !parts->queue.HasWork()) {
    return;
  }
  parts->queue.RequestIfNeeded();
  if (parts->PresumeLost()) {
    parts->queue.RequestAgain();
  }
}

void DeferredCleanup::Drain() noexcept {
  if (Parts* parts = parts_.load(std::memory_order_acquire)) {
    parts->queue.Drain();
  }
}

bool DeferredCleanup::Shutdown() noexcept {
  Parts* parts = parts_.load(std::memory_order_acquire);
  if (parts == nullptr || inside_batch || !parts->queue.Shutdown()) {
    return false;
  }
  parts->retry.Stop();
  parts->wakeup->Stop();
  return true;
}

bool DeferredCleanup::HasWork() const noexcept {
  const Parts* parts = parts_.load(std::memory_order_acquire);
  return parts != nullptr && parts->queue.HasWork();
}

CleanupCounters DeferredCleanup::Counters() const noexcept {
  const Parts* parts = parts_.load(std::memory_order_acquire);
  return parts != nullptr ? parts->queue.Counters() : CleanupCounters{};
}

void DeferredCleanup::OnUserObjectDestroyed(void* item) noexcept {
  // Set: RequireStarted came before the user object was made.
  Process().parts_.load(std::memory_order_acquire)->queue.Enqueue(static_cast<Item*>(item));
}

}  // namespace holdfast::cleanup
