#include "scenarios/support/cleanup_context.h"

#include <atomic>
#include <cstdint>
#include <utility>

#include "lib/cleanup/wakeups.h"

namespace holdfast::scenarios {
namespace {

using cleanup::DeferredCleanup;
using cleanup::DrainFunction;
using cleanup::Wakeup;

// Where drains and releases are noted; null before StartCleanup.
std::atomic<const fault::ShimControl*> current_shim{nullptr};

// Drains nest when an owner's destructor drains. Belongs to its thread alone.
thread_local int drain_depth = 0;

// How much is enqueued and not yet released.
std::uint32_t QueueLength() noexcept {
  const cleanup::CleanupCounters counters = DeferredCleanup::Process().Counters();
  return counters.enqueued > counters.released ? static_cast<std::uint32_t>(counters.enqueued - counters.released) : 0;
}

// Marks the thread, and tells the shim, while a drain runs.
class DrainMark {
 public:
  DrainMark() noexcept : shim_(current_shim) {
    ++drain_depth;
    if (shim_ != nullptr) {
      shim_->enter_context("drain");
    }
  }
  ~DrainMark() {
    if (shim_ != nullptr) {
      shim_->note_moment("queue", "", QueueLength());
      shim_->leave_context("drain");
    }
    --drain_depth;
  }
  DrainMark(const DrainMark&) = delete;
  DrainMark& operator=(const DrainMark&) = delete;

 private:
  const fault::ShimControl* const shim_;
};

// Passes everything on, and marks the thread while the drain runs.
class ObservedWakeup : public Wakeup {
 public:
  explicit ObservedWakeup(std::unique_ptr<Wakeup> wakeup) : wakeup_(std::move(wakeup)) {}

  void Start(DrainFunction drain) override {
    drain_ = drain;
    wakeup_->Start({&RunObserved, this});
  }

  bool Request() noexcept override { return wakeup_->Request(); }
  void Stop() noexcept override { wakeup_->Stop(); }

 private:
  static void RunObserved(void* observed) noexcept {
    const DrainMark mark;
    static_cast<ObservedWakeup*>(observed)->drain_();
  }

  const std::unique_ptr<Wakeup> wakeup_;
  DrainFunction drain_{nullptr, nullptr};
};

}  // namespace

bool InsideCleanup() noexcept { return drain_depth > 0; }

void NoteRelease(const char* name) noexcept {
  if (const fault::ShimControl* shim = current_shim; shim != nullptr) {
    // What is being released counts as queued until it has returned.
    const std::uint32_t queued = QueueLength();
    shim->note_moment("release", name, queued == 0 ? 0 : queued - 1);
  }
}

void StartCleanup(harness::Context& context, std::unique_ptr<Wakeup> wakeup, const cleanup::CleanupOptions& options) {
  current_shim = &context.shim();
  DeferredCleanup::Process().Start(std::make_unique<ObservedWakeup>(std::move(wakeup)), options);
  context.SettleAtEnd([] { DrainNow(); });
}

void StartManualCleanup(harness::Context& context) { StartCleanup(context, std::make_unique<cleanup::ManualWakeup>()); }

void StartWorkerCleanup(harness::Context& context) { StartCleanup(context, std::make_unique<cleanup::WorkerWakeup>()); }

void DrainNow() noexcept {
  const DrainMark mark;
  DeferredCleanup::Process().Drain();
}

bool ShutdownCleanup() noexcept {
  const DrainMark mark;
  return DeferredCleanup::Process().Shutdown();
}

void Settle(const harness::Context& context) noexcept {
  context.shim().release_held();
  context.shim().quiesce();
  DrainNow();
}

void SettleIdle(const harness::Context& context) noexcept {
  if (context.model() != nullptr) {
    context.model()->quiesce();
  }
  Settle(context);
}

void SettleAll(const harness::Context& context) {
  context.Await([&context] {
    SettleIdle(context);
    const cleanup::CleanupCounters counters = DeferredCleanup::Process().Counters();
    return counters.released == counters.enqueued;
  });
}

}  // namespace holdfast::scenarios
