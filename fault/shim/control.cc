// The table of control.h.

#include "fault/shim/control.h"

#include <map>
#include <mutex>
#include <string>

#include "fault/shim/books.h"
#include "fault/shim/delivery.h"
#include "fault/shim/driver.h"
#include "fault/shim/injector.h"
#include "fault/shim/order.h"
#include "fault/shim/pending_calls.h"
#include "fault/shim/threads.h"
#include "fault/shim/timeline.h"

namespace holdfast::fault {
namespace {

// Visits of sites that are a scenario's own: no plan names them, and they are only counted.
class OwnSites {
 public:
  void Visited(const std::string& site) {
    const std::lock_guard lock(mutex_);
    ++visits_[site];
  }
  std::uint64_t VisitsOf(const std::string& site) const {
    const std::lock_guard lock(mutex_);
    const auto found = visits_.find(site);
    return found == visits_.end() ? 0 : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> visits_;  // guarded by mutex_
};

OwnSites& TheOwnSites() {
  static OwnSites* sites = new OwnSites;
  return *sites;
}

SiteId SiteOrEvery(const char* site) { return site == nullptr ? kEverySite : FindSite(site); }

void NameThread(const char* role, std::uint32_t ordinal) {
  Thread* thread = CurrentThread(Arrival::kSubject);
  if (thread == nullptr) return;
  const std::string_view word = role;
  const Role kind = word == "main" ? Role::kMain : word == "callback" ? Role::kCallback : Role::kSubject;
  RenameThread(*thread, {kind, ordinal});
}

void AnnounceStep(const char* name) {
  Thread* thread = CurrentThread(Arrival::kSubject);
  if (thread == nullptr) return;
  const InsideShim inside(*thread);
  TheInjector().AnnounceStep(name);
}

void MoveContext(const char* name, int direction) {
  Thread* thread = CurrentThread(Arrival::kSubject);
  if (thread == nullptr) return;
  const std::string_view word = name;
  if (word == "drain") thread->drains += direction;
  if (word == "finalization") thread->finalizations += direction;
  if (word == "callback") thread->callbacks += direction;
  if (word == "capture") thread->captures.fetch_add(direction, std::memory_order_relaxed);  // read by this thread alone
}

MomentKind KindOfContext(const char* name) {
  return std::string_view(name) == "drain" ? MomentKind::kDrain : MomentKind::kContext;
}

void EnterContext(const char* name) {
  MoveContext(name, 1);
  if (Thread* thread = KnownThread()) thread->announced.Enter(BeginMoment(KindOfContext(name), name));
}

void LeaveContext(const char* name) {
  if (Thread* thread = KnownThread()) {
    const auto [moment, queue] = thread->announced.Leave();
    EndMoment(moment, KindOfContext(name), name, {.queue = queue});
  }
  MoveContext(name, -1);
}

// Of a thread that the shim does not know as well: noting a moment must not give it a name.
void NoteMomentOfSubject(const char* kind, const char* name, std::uint32_t queue) {
  const std::string_view word = kind;
  if (word == "release") NoteMoment(MomentKind::kRelease, name, {.queue = queue});
  if (word == "finding") NoteMoment(MomentKind::kFinding, name, {.queue = queue});
  if (word == "pending-call") NoteMoment(MomentKind::kPendingCall, name, {.queue = queue});
  Thread* thread = KnownThread();
  if (word == "queue" && thread != nullptr) thread->announced.SetQueue(queue);
}

SiteDecision DecisionOf(const Action& action, SiteId site) {
  SiteDecision decision{};
  decision.fires = true;
  decision.fails = action.result.has_value() || action.fail;
  decision.result = action.result.value_or(0);
  decision.drops = action.drop;
  decision.saturate = action.saturate.value_or(0);
  // The hold was waited for by now; at an allocation the delay too, since its caller only asks whether to fail.
  decision.delay_ns = site == AllocationSite() ? 0 : action.delay_ns.value_or(0);
  return decision;
}

SiteDecision Decide(const char* name) {
  Thread* thread = CurrentThread(Arrival::kSubject);
  // Inside the shim or the driver it is their allocation, and not the subject's.
  if (thread == nullptr || thread->inside > 0) return {};
  const InsideShim inside(*thread);
  const SiteId site = FindSite(name);
  if (site == PendingCallSite()) PassPoint("host queue", "Py_AddPendingCall");
  if (site == kNoSite) {
    TheOwnSites().Visited(name);
    return {};
  }
  const int rule = TheInjector().Visited(*thread, site, "");
  if (rule < 0) {
    const Action* armed = TheInjector().ArmedAt(*thread, site);
    return armed == nullptr ? SiteDecision{} : DecisionOf(*armed, site);
  }
  const Action& action = TheInjector().table().rule(static_cast<std::size_t>(rule)).action;
  TheInjector().Wait(rule, site, /*with_delay=*/site == AllocationSite());
  return DecisionOf(action, site);
}

std::uint64_t Calls(const char* site) {
  const SiteId id = SiteOrEvery(site);
  if (id == kNoSite) return TheOwnSites().VisitsOf(site);
  const bool with_pending_calls = id == kEverySite || id == PendingCallSite();
  return VisitsOf(id) + (with_pending_calls ? PendingCallsOfStrangers() : 0);
}

std::uint64_t Faults(const char* site) {
  const SiteId id = SiteOrEvery(site);
  return id == kNoSite ? 0 : TheInjector().FaultsAt(id);
}

LiveObjects Live() {
  const LiveCounts counts = TheLedger().live();
  const auto of = [&](Resource kind) { return counts.resources[static_cast<std::size_t>(kind)]; };
  return {counts.user_objects,       counts.graphs,
          of(Resource::kExecutable), of(Resource::kStream),
          of(Resource::kEvent),      of(Resource::kAllocation),
          of(Resource::kLibrary),    counts.kept_user_objects,
          counts.kept_others};
}

void WriteVisits(const char* step) {
  Thread* thread = CurrentThread(Arrival::kSubject);
  if (thread == nullptr) return;
  const InsideShim inside(*thread);
  TheInjector().WriteVisits(*thread, step);
}

bool Arm(const ArmedFault& fault) {
  Thread* thread = CurrentThread(Arrival::kSubject);
  return thread != nullptr && thread->armed.Arm(fault);
}

std::uint64_t Disarm() {
  Thread* thread = CurrentThread(Arrival::kSubject);
  return thread == nullptr ? 0 : thread->armed.Disarm();
}

constexpr ShimControl kControl = {
    .version = 4,
    .name_thread = &NameThread,
    .announce_step = &AnnounceStep,
    .enter_context = &EnterContext,
    .leave_context = &LeaveContext,
    .decide = &Decide,
    .calls = &Calls,
    .faults = &Faults,
    .live = &Live,
    .release_held = [] { TheDelivery().ReleaseHeld(); },
    .quiesce = [] { TheDelivery().Quiesce(); },
    .driver_symbol = &DriverSymbol,
    .write_visits = &WriteVisits,
    .release_faults = [] { return TheInjector().release_faults(); },
    .findings = &FindingsWritten,
    .arm = &Arm,
    .disarm = &Disarm,
    .pending_calls = &CountPendingCalls,
    .saturate = &SaturateHost,
    .release_saturation = &ReleaseSaturation,
    .release_pending_calls = [] { ThePendingDelivery().LetGo(); },
    .note_moment = &NoteMomentOfSubject,
};

}  // namespace
}  // namespace holdfast::fault

extern "C" __attribute__((visibility("default"))) const holdfast::fault::ShimControl* holdfast_shim_control() {
  return &holdfast::fault::kControl;
}
