// OwnerProbe: an owner that tells when, where and how often it was released.
#ifndef HOLDFAST_SCENARIOS_SUPPORT_OWNER_PROBE_H_
#define HOLDFAST_SCENARIOS_SUPPORT_OWNER_PROBE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "harness/scenario/context.h"
#include "lib/handles/opaque_handle.h"
#include "scenarios/support/cleanup_context.h"

namespace holdfast::scenarios {

// Thread safety: the members that ask may be called from any thread.
class OwnerProbe {
 public:
  // `on_release` runs in place of the destructor of the resource that the owner stands for.
  explicit OwnerProbe(std::function<void()> on_release = {}) : state_(std::make_shared<State>()) {
    state_->on_release = std::move(on_release);
    owner_ = OpaqueHandle(state_.get(), [state = state_](const void*) { Release(*state); });
  }

  // What outlives the probe, since a scenario ended early, is released without `on_release`: what that refers to may be
  // gone.
  ~OwnerProbe() {
    if (state_ != nullptr) {
      const std::lock_guard lock(state_->mutex);
      state_->on_release = nullptr;
    }
  }
  OwnerProbe(OwnerProbe&&) = default;
  OwnerProbe& operator=(OwnerProbe&&) = delete;

  // Gives the one reference away: from now on the graph and its kin alone decide.
  OpaqueHandle Take() { return std::exchange(owner_, nullptr); }

  int releases() const noexcept { return state_->releases.load(); }
  bool IsAlive() const noexcept { return releases() == 0; }

  // Whether every release came inside a drain.
  bool ReleasedInCleanup() const noexcept { return releases() > 0 && state_->outside.load() == 0; }

 private:
  struct State {
    std::atomic<int> releases{0};
    std::atomic<int> outside{0};
    std::mutex mutex;
    std::function<void()> on_release;  // guarded by mutex, and called with it
    const std::string name = NextName();
  };

  // "owner 3", counted in the order in which probes are made.
  static std::string NextName() {
    static std::atomic<int> made{0};
    return "owner " + std::to_string(++made);
  }

  static void Release(State& state) {
    NoteRelease(state.name.c_str());
    if (!InsideCleanup()) {
      ++state.outside;
    }
    {
      const std::lock_guard lock(state.mutex);
      if (state.on_release) {
        state.on_release();
      }
    }
    // Last, so that whoever waits for it may rely on the rest.
    ++state.releases;
  }

  std::shared_ptr<State> state_;
  OpaqueHandle owner_;
};

// The two checks that nearly every scenario makes.
inline void CheckAlive(harness::Context& context, const OwnerProbe& probe, const std::string& why,
                       harness::SourcePlace where = harness::SourcePlace::Here()) {
  context.Check(probe.IsAlive(), "the owner is kept: " + why, where);
}

inline void CheckReleasedOnce(harness::Context& context, const OwnerProbe& probe, const std::string& why,
                              harness::SourcePlace where = harness::SourcePlace::Here()) {
  context.Check(probe.releases() == 1,
                "the owner is released exactly once: " + why + " (" + std::to_string(probe.releases()) + " releases)",
                where);
  context.Check(probe.ReleasedInCleanup(), "the owner is released in the cleanup context: " + why, where);
}

// The same for an owner that the driver lets go late: settles again and again until it is released.
inline void CheckReleasedLate(harness::Context& context, const OwnerProbe& probe, const std::string& why,
                              harness::SourcePlace where = harness::SourcePlace::Here()) {
  context.CheckEventually(
      [&] {
        Settle(context);
        return !probe.IsAlive();
      },
      "the owner is released: " + why, where);
  CheckReleasedOnce(context, probe, why, where);
}

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_OWNER_PROBE_H_
