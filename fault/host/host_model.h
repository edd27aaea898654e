// A stand-in for the interpreter, as far as Py_AddPendingCall goes: a bounded queue that any thread can add to and that
// one thread, the main one, runs when it gets round to it.
//
// It can refuse, delay, lose and be saturated, as a plan decides; its main thread can be busy; and it can be finalized
// between any two steps of anybody. What would be a crash of the real interpreter is a recorded violation here (fact
// P3).
//
//   fault::HostModel host({.minor_version = 12});
//   host.AddPendingCall(&Drain, queue);   // any thread
//   host.RunPending();                    // the thread that made the host
#ifndef HOLDFAST_FAULT_HOST_HOST_MODEL_H_
#define HOLDFAST_FAULT_HOST_HOST_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fault/shim/control.h"

namespace holdfast::fault {

using PendingFunction = int (*)(void*);

enum class HostPhase : std::uint8_t { kRunning, kFinalizing, kFinalized };

struct HostOptions {
  // CPython 3.x. Up to 12: 31 calls fit, and a call that comes during or after finalization crashes (P1, P3). From 13
  // on: 32 fit, and such a call is harmless (P2, P4).
  int minor_version = 13;

  // Asked once for each AddPendingCall with the site's name, on the calling thread. Empty: no faults.
  std::function<SiteDecision(const char* site)> decide = {};

  // Whether the calling thread is inside a destructor of the driver. Empty: never.
  std::function<bool()> in_destructor = {};
};

struct HostCounts {
  std::uint64_t accepted = 0;  // answered 0; all but the last two of them run sooner or later
  std::uint64_t refused = 0;   // answered -1, for want of room or because the plan said so
  std::uint64_t run = 0;
  std::uint64_t failed = 0;            // ran and returned something else than 0
  std::uint64_t lost = 0;              // accepted and dropped, by the plan or by finalization
  std::uint64_t stale = 0;             // accepted by one generation and run by a later one
  std::uint64_t fillers = 0;           // no-ops that the plan put into the queue; counted nowhere else
  std::uint64_t from_destructors = 0;  // calls that came from inside a destructor
  std::size_t outstanding_peak = 0;    // calls queued at once, fillers not counted
};

// A call that the real interpreter does not survive.
struct HostViolation {
  std::thread::id thread;
  HostPhase phase;
  std::string what;
};

// Thread safety: all functions may be called from any thread.
// Memory ordering: what thread X did before AddPendingCall(f, a) returned 0 happens before the run of f(a).
class HostModel {
 public:
  // The calling thread is the main thread.
  explicit HostModel(HostOptions options = {});
  HostModel(const HostModel&) = delete;
  HostModel& operator=(const HostModel&) = delete;

  // 0 if the call is queued, -1 if not. Sets no exception.
  int AddPendingCall(PendingFunction function, void* argument);

  // One pass over the queue, oldest first, at most as many calls as the queue has room for. -1 if a call returned
  // something else than 0, which ends the pass; else 0. Does nothing on another thread than the main one, inside a
  // pending call, while the main thread is busy, and once the host is finalized.
  int RunPending();

  // The main thread is in C code: nothing runs, the queue fills (fact P5).
  void SetBusy(bool busy);

  // Fills the queue with up to `count` no-ops; how many fitted.
  std::size_t Saturate(std::size_t count);

  // The first step of finalization. With `flush` the main thread runs what is queued, as the interpreters do.
  // REQUIRES: with `flush`, the calling thread is the main thread.
  void BeginFinalization(bool flush = true);

  // The last step. What is still queued is lost up to 3.12; from 3.13 on it stays for the next generation.
  void FinishFinalization();

  // A finalized host starts again, in a new generation, with the calling thread as its main thread.
  void Reinitialize();

  HostPhase phase() const;
  std::uint64_t generation() const;  // 1 at first
  std::size_t capacity() const;
  std::size_t outstanding() const;
  HostCounts counts() const;
  std::vector<HostViolation> violations() const;
  std::map<std::thread::id, std::uint64_t> calls_by_thread() const;

 private:
  struct Call {
    PendingFunction function;
    void* argument;
    std::uint64_t generation;
  };

  bool crashes_after_end() const { return options_.minor_version <= 12; }
  bool Push(const Call& call);
  std::size_t PushFillers(std::size_t count);
  int RunQueued(std::size_t count);

  const HostOptions options_;

  mutable std::mutex mutex_;
  // All below: guarded by mutex_.
  std::deque<Call> queue_;
  std::thread::id main_thread_;
  HostPhase phase_ = HostPhase::kRunning;
  std::uint64_t generation_ = 1;
  bool busy_ = false;
  bool running_ = false;  // inside a pending call
  HostCounts counts_;
  std::vector<HostViolation> violations_;
  std::map<std::thread::id, std::uint64_t> calls_by_thread_;
};

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_HOST_HOST_MODEL_H_
