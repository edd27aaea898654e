#include "fault/shim/pending_calls.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string_view>
#include <thread>

#include "fault/shim/delivery.h"
#include "fault/shim/events.h"
#include "fault/shim/host.h"
#include "fault/shim/injector.h"
#include "fault/shim/threads.h"
#include "fault/shim/timeline.h"

namespace holdfast::fault {
namespace {

AddPendingCall g_real = nullptr;

// In the timeline, of the call and of its run.
constexpr std::string_view kPendingCallName = "Py_AddPendingCall";

// ---- counters -------------------------------------------------------------------------------------------------------

// Memory ordering: relaxed throughout, these are counts and order nothing.
class Counter {
 public:
  std::uint64_t Add(std::int64_t amount = 1) {
    return value_.fetch_add(static_cast<std::uint64_t>(amount), std::memory_order_relaxed) +
           static_cast<std::uint64_t>(amount);
  }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

  void RaiseTo(std::uint64_t value) {
    std::uint64_t present = value_.load(std::memory_order_relaxed);
    while (present < value && !value_.compare_exchange_weak(present, value, std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<std::uint64_t> value_{0};
};

Counter g_calls, g_strangers, g_accepted, g_refused, g_run, g_lost, g_outstanding, g_peak, g_late, g_while_finalizing;

void NoteAccepted() {
  g_accepted.Add();
  g_peak.RaiseTo(g_outstanding.Add());
}

int NoteRefused(int answer) {
  g_refused.Add();
  return answer;
}

// ---- records --------------------------------------------------------------------------------------------------------

// A call between its acceptance and its run. The link of a payload is that of the free ones too.
struct Record : Payload {
  PendingFunction function = nullptr;
  void* argument = nullptr;
  // Which of the two are through with the record: the one who added it, and its run. The first to get there counts the
  // call as accepted, since it may run before the interpreter has answered; the second frees the record.
  std::atomic<int> done{0};
  bool pooled = false;
};

// More than the interpreter's queue holds at one time (facts P1 and P2), so that a call that goes there allocates
// nothing. Those that the plan keeps back may be more.
constexpr std::size_t kPooled = 256;
std::array<Record, kPooled> g_pool;
std::array<std::atomic<bool>, kPooled> g_taken;
std::atomic<std::size_t> g_next{0};

Record* TakeRecord(PendingFunction function, void* argument) {
  Record* record = nullptr;
  // Memory ordering: relaxed, any place to start looking from will do.
  const std::size_t start = g_next.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t offset = 0; offset < kPooled && record == nullptr; ++offset) {
    const std::size_t index = (start + offset) % kPooled;
    // Memory ordering: acquire, so that what the last owner wrote is not mixed with what this one writes.
    if (!g_taken[index].exchange(true, std::memory_order_acquire)) record = &g_pool[index];
  }
  if (record == nullptr) {
    // From malloc and not operator new: a subject may have put a faulted allocator behind the latter.
    void* memory = std::calloc(1, sizeof(Record));
    if (memory == nullptr) std::abort();
    record = new (memory) Record;
  } else {
    record->pooled = true;
  }
  record->function = function;
  record->argument = argument;
  record->done.store(0, std::memory_order_relaxed);  // nobody else knows of it yet
  return record;
}

void FreeRecord(Record* record) {
  if (record->pooled) {
    // Memory ordering: release, see TakeRecord.
    g_taken[static_cast<std::size_t>(record - g_pool.data())].store(false, std::memory_order_release);
  } else {
    std::free(record);  // it has no destructor to speak of
  }
}

// Whether the other of the two got there before.
// Memory ordering: acquire and release, so that whoever frees the record does it after all that the other one did.
bool IsSecond(Record* record) { return record->done.fetch_add(1, std::memory_order_acq_rel) != 0; }

// What the interpreter runs in the place of the call.
int RunCall(void* argument) {
  auto* record = static_cast<Record*>(argument);
  const PendingFunction function = record->function;
  void* const own = record->argument;
  if (IsSecond(record)) {
    FreeRecord(record);
  } else {
    NoteAccepted();
  }
  // Before it runs: a call may ask for the next one.
  g_outstanding.Add(-1);
  g_run.Add();
  TheHostGate().Watch();
  Stretch stretch(MomentKind::kDrain, kPendingCallName);
  const int answer = function(own);
  stretch.facts().queue = CountInMoment(g_outstanding.value());
  return answer;
}

// ---- a full queue ---------------------------------------------------------------------------------------------------

class Saturation {
 public:
  // Keeps `count` no-ops in the queue until Release, or until the rule says so; how many fitted.
  std::uint32_t Keep(std::uint32_t count, int rule) {
    const std::lock_guard lock(mutex_);
    // Memory ordering: relaxed, here and below: mutex_ orders the changes, and who reads without it wants no order.
    full_.store(false, std::memory_order_relaxed);
    target_.store(count, std::memory_order_relaxed);
    rule_ = rule;
    TopUp();
    return static_cast<std::uint32_t>(no_ops_.value());
  }

  void Release() {
    const std::lock_guard lock(mutex_);
    End();
  }

  void Wake() {
    if (target_.load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard lock(mutex_);
    if (rule_ >= 0 && TheInjector().UntilIsOver(rule_)) End();
  }

  // Each runs once, and is not replaced.
  void FillOnce(std::uint32_t count) {
    while (count > 0 && AddNoOp()) --count;
  }

  // Whether the queue is full for as long as this lasts. Asking the interpreter instead would let a call slip in
  // between the run of a no-op and its replacement.
  bool IsFull() const { return full_.load(std::memory_order_relaxed); }

  std::uint64_t no_ops() const { return no_ops_.value(); }

  void LockForFork() { mutex_.lock(); }
  void UnlockAfterFork() { mutex_.unlock(); }

 private:
  static int NoOpRan(void* saturation) {
    static_cast<Saturation*>(saturation)->Replace();
    return 0;
  }

  void Replace() {
    no_ops_.Add(-1);
    // The interpreter ends once its queue is empty, so it has to become empty.
    if (HostIsFinalizing() || !HostIsEvaluating()) return;
    const std::lock_guard lock(mutex_);
    TopUp();
  }

  bool AddNoOp() {
    no_ops_.Add();  // before it is added, since it may run at once
    if (g_real(&NoOpRan, this) == 0) return true;
    no_ops_.Add(-1);
    return false;
  }

  // REQUIRES: mutex_ is held.
  void TopUp() {
    while (no_ops_.value() < target_.load(std::memory_order_relaxed)) {
      if (AddNoOp()) continue;
      full_.store(true, std::memory_order_relaxed);
      return;
    }
  }

  // REQUIRES: mutex_ is held.
  void End() {
    target_.store(0, std::memory_order_relaxed);
    full_.store(false, std::memory_order_relaxed);
    rule_ = -1;
  }

  std::mutex mutex_;
  // Written with mutex_ held.
  std::atomic<std::uint32_t> target_{0};
  std::atomic<bool> full_{false};
  int rule_ = -1;  // guarded by mutex_
  Counter no_ops_;
};

// Never destroyed: the interpreter may run what is queued while the process ends.
Saturation& TheSaturation() {
  static Saturation* saturation = new Saturation;
  return *saturation;
}

// ---- handing over ---------------------------------------------------------------------------------------------------

// Into the interpreter's queue, now.
int HandOver(PendingFunction function, void* argument) {
  if (TheSaturation().IsFull()) return NoteRefused(-1);
  Record* record = TakeRecord(function, argument);
  if (const int answer = g_real(&RunCall, record); answer != 0) {
    FreeRecord(record);
    return NoteRefused(answer);
  }
  if (IsSecond(record)) {
    FreeRecord(record);
  } else {
    NoteAccepted();
  }
  return 0;
}

// On the delivery thread. The call was accepted, so it waits for room in the queue.
void HandOverLate(Payload* payload) {
  auto* record = static_cast<Record*>(payload);
  bool queued = false;
  const auto offer = [&] {
    if (TheSaturation().IsFull()) return;
    g_late.Add(-1);
    queued = g_real(&RunCall, record) == 0;
    if (!queued) g_late.Add();
  };
  while (!queued) {
    if (TheHostGate().Pass(offer) == HostGate::State::kClosed) {
      g_late.Add(-1);
      g_outstanding.Add(-1);
      g_lost.Add();
      return FreeRecord(record);
    }
    if (!queued) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool IsLate(const Action& action) {
  if (action.result || action.drop || action.abort) return false;
  if (action.deliver) return *action.deliver != Delivery::kInline;
  return action.delay_ns || action.hold;
}

int WatchHost(void*) {
  TheHostGate().Watch();
  return 0;
}

// An extension module's import has opened the gate by now. Without one, the interpreter gets a call of ours, on the
// thread that may call it; if its queue is full, with the next late call.
void OpenGate() {
  static std::atomic<bool> asked{false};
  if (!TheHostGate().IsUnknown()) return;
  // Memory ordering: relaxed, the exchange alone decides who asks.
  if (asked.exchange(true, std::memory_order_relaxed)) return;
  if (g_real(&WatchHost, nullptr) != 0) asked.store(false, std::memory_order_relaxed);
}

void Postpone(PendingFunction function, void* argument, const Action& action, int rule) {
  Record* record = TakeRecord(function, argument);
  // Memory ordering: relaxed, the queue's lock publishes it. What its acceptance has to do is done here.
  record->done.store(1, std::memory_order_relaxed);
  record->deliver = &HandOverLate;
  record->due = std::chrono::steady_clock::now() + std::chrono::nanoseconds(action.delay_ns.value_or(0));
  record->order = action.order.value_or(Order::kFifo);
  record->rule = action.hold ? rule : -1;
  record->held = action.deliver == Delivery::kHeld;
  NoteAccepted();
  g_late.Add();
  OpenGate();
  ThePendingDelivery().Enqueue(record);
}

// ---- the plan -------------------------------------------------------------------------------------------------------

struct Outcome {
  int answer;
  const char* word;
};

Outcome HandOverNow(PendingFunction function, void* argument) {
  const int answer = HandOver(function, argument);
  return {answer, answer == 0 ? "queued" : "refused"};
}

void Saturate(const Action& action, int rule) {
  if (!action.saturate) return;
  if (!action.until) return TheSaturation().FillOnce(*action.saturate);
  if (!TheInjector().UntilIsOver(rule)) TheSaturation().Keep(*action.saturate, rule);
  TheSaturation().Wake();  // what ends it may have happened meanwhile
}

// `rule`: which one, or -1 for a fault that the thread armed.
Outcome Act(PendingFunction function, void* argument, const Action& action, int rule) {
  const bool late = IsLate(action);
  if (rule >= 0 && !late) TheInjector().Wait(rule, PendingCallSite());
  Saturate(action, rule);
  if (action.result) return {NoteRefused(static_cast<int>(*action.result)), "refused"};
  if (action.drop) {
    g_accepted.Add();
    g_lost.Add();
    return {0, "dropped"};
  }
  if (!late) return HandOverNow(function, argument);
  Postpone(function, argument, action, rule);
  return {0, "late"};
}

int ArrivedOn(Thread& thread, bool finalizing, PendingFunction function, void* argument) {
  const SiteId site = PendingCallSite();
  const InsideShim inside(thread);
  thread.finalizations += finalizing ? 1 : 0;
  const int rule = TheInjector().Visited(thread, site, "");
  thread.finalizations -= finalizing ? 1 : 0;
  const Action* action = rule < 0 ? TheInjector().ArmedAt(thread, site)
                                  : &TheInjector().table().rule(static_cast<std::size_t>(rule)).action;
  if (action == nullptr) return HandOver(function, argument);
  // Memory ordering: relaxed, this thread alone writes it.
  const std::uint64_t ordinal = thread.visits[site].load(std::memory_order_relaxed);
  const Outcome outcome = Act(function, argument, *action, rule);
  if (action->record) WritePendingCall({ordinal, thread.Text(), outcome.word, outcome.answer});
  return outcome.answer;
}

bool MayBeLate() {
  const DecisionTable& table = TheInjector().table();
  for (std::size_t index = 0; index < table.rule_count(); ++index) {
    if (table.rule(index).site == PendingCallSite() && IsLate(table.rule(index).action)) return true;
  }
  return false;
}

int CountArrival(PendingFunction function, void* argument) {
  g_calls.Add();
  const bool finalizing = HostIsFinalizing();
  if (finalizing) g_while_finalizing.Add();
  const bool concerned = TheInjector().table().Concerns(PendingCallSite());
  Thread* thread = concerned ? CurrentThread(Arrival::kSubject) : KnownThread();
  if (thread != nullptr) return ArrivedOn(*thread, finalizing, function, argument);
  g_strangers.Add();
  return HandOver(function, argument);
}

bool g_is_child = false;

}  // namespace

void OpenPendingCalls(AddPendingCall real) {
  g_real = real;
  FindHostFunctions();
  TheSaturation();
  if (MayBeLate()) TheHostGate().Need();
}

int PendingCallArrived(PendingFunction function, void* argument) {
  Stretch stretch(MomentKind::kPendingCall, kPendingCallName);
  const int answer = CountArrival(function, argument);
  stretch.facts().queue = CountInMoment(g_outstanding.value());
  if (answer != 0) stretch.facts().result = "refused";
  return answer;
}

PendingCalls CountPendingCalls() {
  return {g_calls.value(),          g_accepted.value(),        g_refused.value(), g_run.value(),
          g_lost.value(),           g_outstanding.value(),     g_peak.value(),    g_late.value(),
          TheSaturation().no_ops(), g_while_finalizing.value()};
}

std::uint64_t PendingCallsOfStrangers() { return g_strangers.value(); }

std::uint32_t SaturateHost(std::uint32_t count) {
  return g_real == nullptr ? 0 : TheSaturation().Keep(count, /*rule=*/-1);
}

void ReleaseSaturation() { TheSaturation().Release(); }

void WakePendingCalls() { TheSaturation().Wake(); }

void WritePendingCallCounters() {
  if (g_is_child || g_calls.value() == 0) return;
  const PendingCalls counts = CountPendingCalls();
  WriteCounter("pending_calls", counts.calls);
  WriteCounter("pending_calls_accepted", counts.accepted);
  WriteCounter("pending_calls_refused", counts.refused);
  WriteCounter("pending_calls_run", counts.run);
  WriteCounter("pending_calls_lost", counts.lost);
  WriteCounter("pending_calls_outstanding", counts.outstanding);
  WriteCounter("pending_calls_outstanding_peak", counts.peak_outstanding);
  WriteCounter("pending_calls_while_finalizing", counts.while_finalizing);
}

void LockPendingCallsForFork() { TheSaturation().LockForFork(); }

void UnlockPendingCallsAfterFork(bool child) {
  if (child) g_is_child = true;
  TheSaturation().UnlockAfterFork();
}

}  // namespace holdfast::fault
