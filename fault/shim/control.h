// What a subject that knows of the shim can ask of it.
//
// The shim is a libcuda.so.1; a scenario finds this table with
// dlsym(handle, "holdfast_shim_control"). A program that does not know of the shim runs the same without it.
// Plain C types only, since the two sides are built apart.
#ifndef HOLDFAST_FAULT_SHIM_CONTROL_H_
#define HOLDFAST_FAULT_SHIM_CONTROL_H_

#include <cstdint>

namespace holdfast::fault {

// What a plan asks for at one visit of a site that is not a driver entry point
// ("alloc", "Py_AddPendingCall", or a name of the scenario's own).
struct SiteDecision {
  bool fires;              // false: go on as if there were no plan; the other members are zero
  bool fails;              // the call must fail: `result` is what it returns
  std::int64_t result;     // e.g. -1 for Py_AddPendingCall
  bool drops;              // accept the call and never run it
  std::uint64_t delay_ns;  // wait this long before going on
  std::uint32_t saturate;  // fill the queue with this many no-ops first
};

// Objects that the subject made through the driver and that are still alive. What is alive because the plan failed its
// release before it took effect is counted apart, as kept: it is the fault's doing and no leak. Of user objects those
// are kept that nothing else holds any more.
struct LiveObjects {
  std::uint64_t user_objects;  // their destructor has not been called
  std::uint64_t graphs;        // roots: created or cloned and not destroyed
  std::uint64_t executables;
  std::uint64_t streams;
  std::uint64_t events;
  std::uint64_t allocations;
  std::uint64_t libraries;
  std::uint64_t kept_user_objects;
  std::uint64_t kept_others;
};

// What became of the calls of Py_AddPendingCall that came through the door of an interpreter (python_door.h).
struct PendingCalls {
  std::uint64_t calls;
  std::uint64_t accepted;          // answered 0
  std::uint64_t refused;           // answered otherwise, by the interpreter or by the plan
  std::uint64_t run;               // accepted, and begun
  std::uint64_t lost;              // accepted, and never to run: dropped, or not handed over when the interpreter ended
  std::uint64_t outstanding;       // accepted, and neither run nor lost
  std::uint64_t peak_outstanding;  // the most of them at any time
  std::uint64_t not_handed_over;   // of the outstanding: those that the shim still keeps from the interpreter
  std::uint64_t no_ops;            // of saturate, in the queue now; counted nowhere else
  std::uint64_t while_finalizing;  // of the calls: made while the interpreter was being finalized, or not there
};

// One fault that a program arms for the calling thread while it runs.
struct ArmedFault {
  const char* site;     // a driver entry point, "alloc" or "Py_AddPendingCall"
  std::uint64_t nth;    // of the calls of the site on this thread, counted from the arming, from 1
  bool persistent;      // that call and all later ones
  bool after;           // the call takes effect and then answers `result`
  std::int64_t result;  // a CUresult; -1 at Py_AddPendingCall; unused at "alloc"
};

struct ShimControl {
  std::uint32_t version;  // 4

  // Names the calling thread for `when.thread` and for the fault log. Without it a thread is "subject" with the
  // next free ordinal; the first thread that reaches the shim is "main" with ordinal 0.
  void (*name_thread)(const char* role, std::uint32_t ordinal);

  void (*announce_step)(const char* name);

  // Contexts of `when.while`: "drain", "finalization", "capture", "callback". Scoped to the calling thread.
  void (*enter_context)(const char* name);
  void (*leave_context)(const char* name);

  SiteDecision (*decide)(const char* site);

  // Visits of a site so far, and faults fired there, over all threads. A null site counts every site.
  std::uint64_t (*calls)(const char* site);
  std::uint64_t (*faults)(const char* site);

  LiveObjects (*live)();

  // Delivers the destructors that the plan holds; waits until the shim's delivery thread has none left that
  // is not held.
  void (*release_held)();
  void (*quiesce)();

  // The symbol `name` of the driver library below the shim, or null.
  void* (*driver_symbol)(const char* name);

  // Records, one event a site, how often the calling thread visited each since the last step was announced, and what a
  // plan could do there. `step` is that step's name.
  void (*write_visits)(const char* step);

  // Releases that faults failed before they took effect, over all threads.
  std::uint64_t (*release_faults)();

  // What the shim itself has found fault with so far (fault/ledger/finding.h); each was recorded when it was found.
  std::uint64_t (*findings)();

  // Arms a fault for the calling thread, behind those of the plan. It is counted by `faults` and not recorded as an
  // event, since whoever arms faults arms very many. False: eight are armed already, or the site cannot fail that way.
  bool (*arm)(const ArmedFault& fault);

  // Disarms those of the calling thread; how many times one fired since they were armed.
  std::uint64_t (*disarm)();

  // ---- since version 3 ----

  PendingCalls (*pending_calls)();

  // Keeps up to `count` no-ops in the interpreter's queue of pending calls, until release_saturation: each that ran is
  // replaced at once. If not all fitted the queue is full, and every other call through the door is refused meanwhile.
  // How many fitted. REQUIRES: the interpreter is running, and this thread may call Py_AddPendingCall.
  std::uint32_t (*saturate)(std::uint32_t count);

  // The no-ops in the queue run once more, and then there is room.
  void (*release_saturation)();

  // Lets go of the pending calls that the plan holds, whatever holds them. Does not wait: it may be this very thread
  // that has to make room for them.
  void (*release_pending_calls)();

  // ---- since version 4 ----

  // Notes a moment of the calling thread for the report's timeline. Of these kinds it is a point in time:
  // "release" (of an owner), "finding", "pending-call"; `queue` is the length of the queue that it is about, or
  // kNotCounted. The kind "queue" makes no moment of its own: the context that this thread entered last is recorded
  // with that length when it leaves it. Allocates nothing, takes no lock.
  void (*note_moment)(const char* kind, const char* name, std::uint32_t queue);
};

// In the place of a count that there is none of.
inline constexpr std::uint32_t kNotCounted = UINT32_MAX;

using ShimControlFunction = const ShimControl* (*)();

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_CONTROL_H_
