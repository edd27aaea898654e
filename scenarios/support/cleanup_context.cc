#include "scenarios/support/cleanup_context.h"

#include <utility>

#include "lib/cleanup/wakeups.h"

namespace holdfast::scenarios {
namespace {

using cleanup::DeferredCleanup;
using cleanup::DrainFunction;
using cleanup::Wakeup;

// Drains nest when an owner's destructor drains. Belongs to its thread alone.
thread_local int drain_depth = 0;

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
    ++drain_depth;
    static_cast<ObservedWakeup*>(observed)->drain_();
    --drain_depth;
  }

  const std::unique_ptr<Wakeup> wakeup_;
  DrainFunction drain_{nullptr, nullptr};
};

}  // namespace

bool InsideCleanup() noexcept { return drain_depth > 0; }

void StartCleanup(harness::Context& context, std::unique_ptr<Wakeup> wakeup, const cleanup::CleanupOptions& options) {
  DeferredCleanup::Process().Start(std::make_unique<ObservedWakeup>(std::move(wakeup)), options);
  context.SettleAtEnd([] { DrainNow(); });
}

void StartManualCleanup(harness::Context& context) { StartCleanup(context, std::make_unique<cleanup::ManualWakeup>()); }

void StartWorkerCleanup(harness::Context& context) { StartCleanup(context, std::make_unique<cleanup::WorkerWakeup>()); }

void DrainNow() noexcept {
  ++drain_depth;
  DeferredCleanup::Process().Drain();
  --drain_depth;
}

bool ShutdownCleanup() noexcept {
  ++drain_depth;
  const bool shut_down = DeferredCleanup::Process().Shutdown();
  --drain_depth;
  return shut_down;
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
