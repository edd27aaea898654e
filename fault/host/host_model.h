// HostModel: a host with CPython's pending calls, for use where there is no interpreter.
//
// A bounded queue of calls that any thread may add to and that the main thread runs between two bytecodes; with
// refusal, delay and loss as a plan decides, a main thread that is too busy to run anything, and a finalization that
// can come between any two steps of another thread. What it does follows measured facts about CPython (P1 to P5),
// version by version.
#ifndef HOLDFAST_FAULT_HOST_HOST_MODEL_H_
#define HOLDFAST_FAULT_HOST_HOST_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

#include "fault/shim/control.h"

namespace holdfast::fault {

// What differs between the versions of CPython.
struct HostVersion {
  std::size_t capacity;     // calls that fit
  bool late_call_is_fatal;  // a call added after finalization crashes the process
};

inline constexpr HostVersion kPython310To312{31, true};  // facts P1, P3
inline constexpr HostVersion kPython313{32, false};      // facts P2, P4

struct HostCounts {
  std::uint64_t accepted;
  std::uint64_t refused;
  std::uint64_t lost;  // accepted, and will never run
  std::uint64_t run;
  std::uint64_t outstanding_peak;  // calls queued at once, the no-ops of Saturate not counted
  std::uint64_t late;              // calls that reached the queue after finalization
  std::uint64_t fatal;             // late ones that would have crashed this version
};

// Thread safety: AddPendingCall, Counts and HasRoom from any thread; the rest is for the main thread, the one that made
// the host.
class HostModel {
 public:
  using Call = int (*)(void* argument);

  // Decides on one visit of Py_AddPendingCall; empty: nothing ever goes wrong.
  using Decide = std::function<SiteDecision()>;

  // Runs in the thread that adds a call, after it has passed all checks of its own and before the host is touched: the
  // place where a finalization hurts most.
  using BeforeAdd = std::function<void()>;

  explicit HostModel(HostVersion version, Decide decide = {}, BeforeAdd before_add = {});
  ~HostModel();
  HostModel(const HostModel&) = delete;
  HostModel& operator=(const HostModel&) = delete;

  // The host that AddPendingCall acts on; one at a time, like the interpreter of a process.
  static HostModel& Installed();

  // 0 if the call was queued, -1 if it was refused, without an exception set. The signature of Py_AddPendingCall.
  static int AddPendingCall(Call call, void* argument);

  // Runs what is queued, first in, first out, until a call answers non-zero. Does nothing while busy, inside a call,
  // and after finalization. Returns how many it ran.
  std::size_t RunPending();

  // A main thread in a lock, a join or a long call runs nothing, and the queue fills.
  void SetBusy(bool busy);

  // Fills the queue with calls that do nothing, as another extension might. Returns how many fitted.
  std::size_t Saturate(std::size_t calls);

  bool HasRoom() const;

  // Finalization: what is queued is dropped without being run, and later calls are late.
  void Finalize();

  // A new interpreter in the same process. Calls that were queued before stay dropped.
  void Initialize();

  bool IsFinalized() const;
  HostCounts Counts() const;

 private:
  struct Pending {
    Call call;
    void* argument;
  };

  int Add(Call call, void* argument);
  int AddLate();

  const HostVersion version_;
  const Decide decide_;
  const BeforeAdd before_add_;

  // Main thread only.
  bool running_ = false;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<Pending> queue_;
  bool busy_ = false;
  bool finalized_ = false;
  std::uint64_t outstanding_ = 0;
  HostCounts counts_{};
};

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_HOST_HOST_MODEL_H_
