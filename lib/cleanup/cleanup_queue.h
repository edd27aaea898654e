// The deferred-cleanup queue: payloads that CUDA is done with, on their way to the context that may release them.
//
// A driver callback calls Enqueue, which links one preallocated item and asks for at most one wakeup. The wakeup
// leads to DrainForWakeup, in the host's context, which releases the payloads. Drain does so without a wakeup.
//
// No wakeup is lost. `scheduled_` is true while a wakeup is outstanding. A producer pushes first and then exchanges
// true into the flag; a wakeup exchanges false into it first and then takes the list. Both are read-modify-writes on
// one variable, so one of them comes first in its modification order:
//   producer first: the wakeup's exchange reads from the producer's (or from a later one, in its release sequence),
//     so the push happens before the list is taken, and the drain sees the item;
//   wakeup first: the producer reads false and asks for a wakeup of its own.
// A store in place of either exchange would break this even on x86, where a store may pass a later load.
// Drain leaves the flag alone: a wakeup that is outstanding stays so, and no second one is asked for. (The one
// exception is RequestAgain, for a wakeup that the host is thought to have lost.)
//
// A refused wakeup puts the flag back and then tells `on_refusal`, whose thread asks again (RequestIfNeeded) until the
// host accepts. It is told after the flag is back: producers that came while the flag was up have left by then.
#ifndef HOLDFAST_LIB_CLEANUP_CLEANUP_QUEUE_H_
#define HOLDFAST_LIB_CLEANUP_CLEANUP_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lib/cleanup/gate.h"
#include "lib/cleanup/item_list.h"
#include "lib/cleanup/wakeup.h"

namespace holdfast::cleanup {

// What the queue did since it was made. Statistics: each is exact, together they are no snapshot.
struct CleanupCounters {
  std::uint64_t enqueued;            // payloads handed over by callbacks while the gate was open
  std::uint64_t released;            // payloads released by drains
  std::uint64_t leaked_at_shutdown;  // payloads that came after the gate closed; kept, never released
  std::uint64_t wakeups_requested;   // accepted by the host
  std::uint64_t wakeups_refused;     // refused by the host; asked for again
  std::uint64_t wakeups_run;         // accepted ones that came to run
  std::uint64_t drains;              // drains that entered, nested and concurrent ones not counted
  std::uint64_t queue_length_peak;
};

// Called around each batch of releases, on the draining thread.
class BatchScope {
 public:
  virtual ~BatchScope() = default;
  virtual void BeforeBatch() noexcept = 0;
  virtual void AfterBatch() noexcept = 0;
};

// The bounds that ship. An explorer of interleavings gives its own, so that what happens at a bound happens in small
// programs too.
struct CleanupLimits {
  // How many payloads one drain releases before it lets the host go on and asks for another wakeup.
  static constexpr std::size_t kBatchItemsMax = 1024;

  // How many drains shutdown makes before it closes the gate whatever is left.
  static constexpr std::size_t kShutdownDrainsMax = 1024;
};

// Thread safety: all members from any thread, except that Shutdown must not be called from inside a release.
template <typename Atomics, typename Limits = CleanupLimits>
class CleanupQueue {
 public:
  using Item = CleanupItem<Atomics>;

  static constexpr std::size_t kBatchItemsMax = Limits::kBatchItemsMax;
  static constexpr std::size_t kShutdownDrainsMax = Limits::kShutdownDrainsMax;

  // What is told that a wakeup was refused: as a Wakeup's Request, it must not block, allocate or lock.
  struct RefusalFunction {
    void (*call)(void* argument) noexcept = nullptr;
    void* argument = nullptr;
  };

  // REQUIRES: `wakeup` and `batch_scope` (which may be null) outlive the queue.
  CleanupQueue(Wakeup& wakeup, BatchScope* batch_scope, RefusalFunction on_refusal) noexcept
      : wakeup_(wakeup), batch_scope_(batch_scope), on_refusal_(on_refusal) {}

  // The driver callback. Allocates nothing, releases nothing, calls no CUDA, takes no lock, never blocks.
  // REQUIRES: `item` is in no list. ENSURES: the queue owns it.
  // Memory ordering: what the caller did before happens before the item's release.
  void Enqueue(Item* item) noexcept {
    if (!gate_.Enter()) {
      leaked_at_shutdown_.Add(1);
      leaked_.Push(item);
      return;
    }
    CountArrival();
    list_.Push(item);
    RequestWakeup();
    gate_.Leave();
  }

  // Asks for a wakeup if there is work and none is outstanding. True if afterwards one is, or there is no work.
  bool RequestIfNeeded() noexcept {
    if (!gate_.Enter()) {
      return true;
    }
    const bool settled = !HasWork() || RequestWakeup();
    gate_.Leave();
    return settled;
  }

  // Asks for a wakeup although one is outstanding, for a caller who has reason to think that the host lost it.
  // A wakeup too many is harmless: its drain finds nothing.
  void RequestAgain() noexcept {
    if (!gate_.Enter()) {
      return;
    }
    if (HasWork()) {
      RequestFromHost();
    }
    gate_.Leave();
  }

  // Releases up to kBatchItemsMax payloads, oldest first, and asks for a wakeup if more are left. Does nothing
  // inside another drain, on this thread or another, except to make that one look again.
  void Drain() noexcept {
    if (!gate_.Enter()) {
      return;
    }
    DrainInside();
    gate_.Leave();
  }

  // The same, called by the wakeup that was requested, and by nothing else.
  void DrainForWakeup() noexcept {
    if (!gate_.Enter()) {
      return;
    }
    wakeups_run_.Add(1);
    // From here on a producer asks for a wakeup of its own. This comes before the attempt to drain: should that be
    // turned away, the drain under way looks again and finds what came before.
    // Memory ordering: acq_rel, as the head of this file argues.
    scheduled_.exchange(false, std::memory_order_acq_rel);
    DrainInside();
    gate_.Leave();
  }

  // Releases what is queued, then closes the gate, waiting for the threads inside, then releases what they still
  // brought. Releases may bring further payloads: kShutdownDrainsMax bounds how often it looks again. False, having
  // done nothing, if it was shut down before or another thread is at it: then only that thread knows when it is done.
  // REQUIRES: the host is still whole; the caller is not inside a release.
  // ENSURES: later payloads are kept unreleased and counted; the wakeup is not requested again.
  bool Shutdown() noexcept {
    if (gate_.IsClosed()) {
      return false;
    }
    for (std::size_t drains = 0; drains < kShutdownDrainsMax && HasWork(); ++drains) {
      Drain();
    }
    if (!gate_.Close()) {
      return false;
    }
    while (HasWork()) {
      DrainInside();
    }
    return true;
  }

  // For the child of a fork: what is queued stays there, unreleased, and later payloads are leaked and counted.
  // REQUIRES: no other thread is in this process.
  void Abandon() noexcept { gate_.CloseWithoutWaiting(); }

  bool IsShutDown() const noexcept { return gate_.IsClosed(); }

  // Whether payloads wait. Who is told no may rely on it that what was enqueued before has been released; a yes may be
  // outdated.
  // Memory ordering: acquire, paired with the last store of the drain: who sees no backlog may rely on its releases.
  bool HasWork() const noexcept { return !list_.Empty() || has_backlog_.load(std::memory_order_acquire); }

  // Whether a wakeup is outstanding: the same. Memory ordering: acquire, paired with the exchanges of the flag.
  bool IsScheduled() const noexcept { return scheduled_.load(std::memory_order_acquire); }

  CleanupCounters Counters() const noexcept {
    return {enqueued_.Get(),
            released_.Get(),
            leaked_at_shutdown_.Get(),
            wakeups_requested_.Get(),
            wakeups_refused_.Get(),
            wakeups_run_.Get(),
            drains_.Get(),
            length_peak_.Get()};
  }

 private:
  void CountArrival() noexcept {
    enqueued_.Add(1);
    const std::uint64_t released = released_.Get();
    const std::uint64_t enqueued = enqueued_.Get();
    // The two may have been read at moments that do not fit together; such a pair says nothing about the peak.
    if (enqueued > released) {
      length_peak_.RaiseTo(enqueued - released);
    }
  }

  enum DrainState : std::uint32_t { kIdle, kDraining, kDrainingAndAskedAgain };

  // True if a wakeup is outstanding, or another thread is about to ask for one and will see to it if it is refused.
  // REQUIRES: inside the gate.
  // Memory ordering: acq_rel on every exchange of the flag, as the head of this file argues.
  bool RequestWakeup() noexcept { return scheduled_.exchange(true, std::memory_order_acq_rel) || RequestFromHost(); }

  // REQUIRES: inside the gate, and the flag is up.
  bool RequestFromHost() noexcept {
    if (wakeup_.Request()) {
      wakeups_requested_.Add(1);
      return true;
    }
    wakeups_refused_.Add(1);
    scheduled_.exchange(false, std::memory_order_acq_rel);
    if (on_refusal_.call != nullptr) {
      on_refusal_.call(on_refusal_.argument);
    }
    return false;
  }

  // REQUIRES: inside the gate, or the gate is closed and the caller is the one who closed it.
  void DrainInside() noexcept {
    if (!BeginDrain()) {
      return;
    }
    drains_.Add(1);
    std::size_t items_left = kBatchItemsMax;
    do {
      // What is taken and not yet released is work still: it is said before the list is seen to be empty.
      // Memory ordering: relaxed, since the release of TakeAll comes after it.
      has_backlog_.store(true, std::memory_order_relaxed);
      AppendToBacklog(list_.TakeAll());
      items_left -= ReleaseBatch(items_left);
      // Memory ordering: release, paired with HasWork. This thread alone writes it while it drains.
      has_backlog_.store(backlog_first_ != nullptr, std::memory_order_release);
    } while (!EndDrain(items_left));
    if (HasWork() && !gate_.IsClosed()) {
      RequestWakeup();
    }
  }

  // One thread drains at a time; another's attempt is noted, and the first looks again before it ends, so that a
  // wakeup which led to the attempt is not used up for nothing.
  // Memory ordering: acquire, to see the backlog as the last drain left it; release, so that a noted attempt carries
  // what its thread did before.
  bool BeginDrain() noexcept {
    std::uint32_t state = drain_state_.load(std::memory_order_relaxed);
    std::uint32_t wanted;
    do {
      wanted = state == kIdle ? kDraining : kDrainingAndAskedAgain;
    } while (!drain_state_.compare_exchange_weak(state, wanted, std::memory_order_acq_rel, std::memory_order_relaxed));
    return wanted == kDraining;
  }

  // False if another round is due. With no items left to spend it ends all the same: the caller then asks for a wakeup
  // if there is work.
  // Memory ordering: release hands the backlog to the next drain; acquire takes what a noted attempt carries.
  bool EndDrain(std::size_t items_left) noexcept {
    std::uint32_t state = drain_state_.load(std::memory_order_relaxed);
    std::uint32_t wanted;
    do {
      wanted = state == kDrainingAndAskedAgain && items_left > 0 ? kDraining : kIdle;
    } while (!drain_state_.compare_exchange_weak(state, wanted, std::memory_order_acq_rel, std::memory_order_relaxed));
    return wanted == kIdle;
  }

  void AppendToBacklog(Item* oldest) noexcept {
    if (oldest == nullptr) {
      return;
    }
    if (backlog_first_ == nullptr) {
      backlog_first_ = oldest;
    } else {
      Item* last = backlog_last_;
      last->next = oldest;
    }
    Item* last = oldest;
    while (last->next != nullptr) {
      last = last->next;
    }
    backlog_last_ = last;
  }

  // Returns how many it released. A release may enqueue, drain (a nested one is turned away) and call CUDA.
  std::size_t ReleaseBatch(std::size_t items_max) noexcept {
    if (backlog_first_ == nullptr) {
      return 0;
    }
    if (batch_scope_ != nullptr) {
      batch_scope_->BeforeBatch();
    }
    std::size_t count = 0;
    while (count < items_max && backlog_first_ != nullptr) {
      Item* item = backlog_first_;
      backlog_first_ = item->next;
      item->release(item);
      released_.Add(1);
      ++count;
    }
    if (batch_scope_ != nullptr) {
      batch_scope_->AfterBatch();
    }
    return count;
  }

  // Set at construction.
  Wakeup& wakeup_;
  BatchScope* const batch_scope_;
  const RefusalFunction on_refusal_;

  // Shared by all threads.
  ShutdownGate<Atomics> gate_;
  ItemList<Atomics> list_;
  typename Atomics::template Atomic<bool> scheduled_{false};
  typename Atomics::template Atomic<std::uint32_t> drain_state_{kIdle};
  typename Atomics::template Atomic<bool> has_backlog_{false};

  // Payloads that came too late. Never read: the list keeps them reachable, so that a leak checker does not take
  // the deliberate leak for an accident.
  ItemList<Atomics> leaked_;

  // Touched only by the thread that has drain_state_ out of kIdle.
  typename Atomics::template Plain<Item*> backlog_first_{nullptr};
  typename Atomics::template Plain<Item*> backlog_last_{nullptr};

  typename Atomics::Counter enqueued_;
  typename Atomics::Counter released_;
  typename Atomics::Counter leaked_at_shutdown_;
  typename Atomics::Counter wakeups_requested_;
  typename Atomics::Counter wakeups_refused_;
  typename Atomics::Counter wakeups_run_;
  typename Atomics::Counter drains_;
  typename Atomics::Counter length_peak_;
};

}  // namespace holdfast::cleanup

#endif  // HOLDFAST_LIB_CLEANUP_CLEANUP_QUEUE_H_
