// The cleanup of this process: one queue with its wakeup, alive for as long as CUDA may call back.
//
// A program calls Start before it makes graphs, and Shutdown before its host (an interpreter, say) goes away. A host
// that comes again starts again: what was made under the one before never reaches the new one.
#ifndef HOLDFAST_LIB_CLEANUP_DEFERRED_CLEANUP_H_
#define HOLDFAST_LIB_CLEANUP_DEFERRED_CLEANUP_H_

#include <chrono>
#include <cstdint>
#include <memory>

#include "lib/cleanup/cleanup_queue.h"
#include "lib/cleanup/published.h"
#include "lib/cleanup/retry_thread.h"
#include "lib/cleanup/standard_atomics.h"
#include "lib/cleanup/wakeup.h"

namespace holdfast::cleanup {

using Item = CleanupItem<StandardAtomics>;
using Queue = CleanupQueue<StandardAtomics>;

// What a user object of ours owns. It goes to the queue that there was when it was made: its owners belong to that
// host.
struct Payload : Item {
  explicit Payload(ReleaseFunction release_function) noexcept;

  Queue* const queue;  // null before Start
};

struct CleanupOptions {
  // An accepted wakeup that did not run within this time is presumed lost when a safe entry looks, and asked for once
  // more; after each such guess the time doubles until one runs, since the host may only be busy.
  std::chrono::milliseconds presumed_lost_after{10'000};
};

// Thread safety: all members from any thread, except Start and AbandonInForkedChild: nothing else runs meanwhile.
class DeferredCleanup {
 public:
  // Never destroyed: a late callback must find it whole.
  static DeferredCleanup& Process();

  // Sets the wakeup. Throws std::logic_error if there is one already and it was not shut down, std::invalid_argument
  // for none.
  void Start(std::unique_ptr<Wakeup> wakeup, const CleanupOptions& options = {});

  // Between Start and Shutdown.
  bool IsRunning() const noexcept;

  // Throws std::logic_error before Start: nothing would ever release a payload.
  void RequireStarted() const;

  // For places where the library is called anyway (preparing an attachment, destroying a graph): asks again for a
  // wakeup that was refused or seems lost. Releases nothing itself.
  void OnSafeEntry() noexcept;

  // Releases what is queued, up to a bound, on the calling thread. Only where owners may be released.
  void Drain() noexcept;

  // Last drain, then the end of all contact with the host; waits for threads that are in contact. False, having
  // done nothing, before Start, when shut down already or while another thread is at it (the host must stay until that
  // one is done), and when called by an owner's destructor inside a drain, where waiting would be for ever.
  bool Shutdown() noexcept;

  // In a child process, right after the fork: what was inherited is left as it is, and never released here. Nobody is
  // waited for: the other threads are not in this process. The child may Start anew.
  void AbandonInForkedChild() noexcept;

  // Whether anything is enqueued and not yet released.
  bool HasWork() const noexcept;

  // Zeroes before Start.
  CleanupCounters Counters() const noexcept;

  // Payloads that CUDA never came to know of are destroyed by who made them, and counted here: enqueued + released
  // directly is what was made and is gone from CUDA.
  void CountReleasedDirectly() noexcept;
  std::uint64_t ReleasedDirectly() const noexcept;

  // The destructor that every user object of ours is created with.
  static void OnUserObjectDestroyed(void* payload) noexcept;

 private:
  friend struct Payload;

  // The queue and what it calls, made together by Start.
  struct Parts;

  DeferredCleanup() = default;
  ~DeferredCleanup() = delete;

  // Set by Start, never freed: a callback may come at any time.
  Published<StandardAtomics, Parts> parts_;

  StandardAtomics::Counter released_directly_;
};

}  // namespace holdfast::cleanup

#endif  // HOLDFAST_LIB_CLEANUP_DEFERRED_CLEANUP_H_
