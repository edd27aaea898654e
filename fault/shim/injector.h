// The plan at work: decides each visit of a site, records what fired, waits where a rule says so.
//
// Thread safety: Install runs once, before everything else; the rest may be called from any thread. A visit at which no
// rule fires takes no lock.
#ifndef HOLDFAST_FAULT_SHIM_INJECTOR_H_
#define HOLDFAST_FAULT_SHIM_INJECTOR_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "fault/plan/decide.h"
#include "fault/shim/threads.h"

namespace holdfast::fault {

class Injector {
 public:
  void Install(Plan plan);

  const DecisionTable& table() const { return *table_; }

  // Counts the visit; the index of the rule that fires, or -1. A rule that fires is recorded before it acts.
  // `call` is the entry point at sites that are driver calls, else empty.
  int Visited(Thread& thread, SiteId site, std::string_view call);

  // The waits of a rule's action: delay (unless the caller sees to it), then hold. Ends the process where the action
  // says abort.
  void Wait(int rule, SiteId site, bool with_delay = true);

  // What a fault that the thread armed for itself does at this visit, or null. Call it where no rule of the plan fired.
  const Action* ArmedAt(Thread& thread, SiteId site);

  // A release is answered with an error and not made.
  void NoteReleaseKept() { release_faults_.fetch_add(1, std::memory_order_relaxed); }  // a count, no order
  std::uint64_t release_faults() const { return release_faults_.load(std::memory_order_relaxed); }

  void AnnounceStep(std::string_view name);

  // Records the thread's visits of each site since the last announcement, which was of `step`.
  void WriteVisits(const Thread& thread, std::string_view step) const;

  // Whether what the rule's hold waits for, or what ends its `until`, has happened.
  bool HoldIsOver(int rule) const;
  bool UntilIsOver(int rule) const;

  // Faults fired at the site so far; kEverySite for all.
  std::uint64_t FaultsAt(SiteId site) const;

  // Called, with no lock held, whenever a hold, or an `until`, may have ended.
  void SetWaker(void (*waker)()) { waker_.store(waker, std::memory_order_release); }

  void LockForFork() { mutex_.lock(); }
  void UnlockAfterFork() { mutex_.unlock(); }

 private:
  void WakeHolds();
  bool IsOver(const std::optional<Hold>& hold, StepId step) const;

  std::unique_ptr<const DecisionTable> table_ = std::make_unique<const DecisionTable>();
  // The step last announced, and which announcement that was: one variable, so that a visit sees the two together.
  struct Announcement {
    StepId step = kNoStep;
    std::uint32_t number = 0;
  };
  static_assert(sizeof(Announcement) == sizeof(std::uint64_t), "an atomic of this takes no lock");
  std::atomic<Announcement> announcement_{Announcement{}};
  std::unique_ptr<std::atomic<bool>[]> announced_;        // one a step of the plan
  std::unique_ptr<std::atomic<std::uint64_t>[]> fired_;   // one a rule
  std::unique_ptr<std::atomic<std::uint64_t>[]> faults_;  // one a site
  std::atomic<std::uint64_t> release_faults_{0};
  std::atomic<void (*)()> waker_{nullptr};
  mutable std::mutex mutex_;  // for released_ alone: the flags are atomic
  std::condition_variable released_;
};

// Never destroyed: the driver may call back while the process ends.
Injector& TheInjector();

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_INJECTOR_H_
