#include "fault/plan/check.h"

#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::fault {
namespace {

[[noreturn]] void Refuse(const Rule& rule, std::string_view member, const std::string& reason) {
  throw PlanError(rule.place + std::string(member), reason);
}

std::string NameOf(const Rule& rule) { return std::string(SiteName(rule.site)); }

// ---- what the site can do -------------------------------------------------------------------------------------------

// The first action that only makes sense at a site of our own, as a member of `do`; empty if there is none.
std::string_view OwnSiteAction(const Action& action) {
  if (action.drop) return "/do/drop";
  if (action.deliver) return "/do/deliver";
  if (action.saturate) return "/do/saturate";
  if (action.record) return "/do/record";
  if (action.fail) return "/do/fail";
  return "";
}

void CheckEntryPoint(const Rule& rule) {
  if (const std::string_view member = OwnSiteAction(rule.action); !member.empty()) {
    Refuse(rule, member, NameOf(rule) + " cannot do that: a driver call can return, delay, hold, repeat or abort");
  }
  if (rule.site == kEverySite) return;
  const Site& site = AllSites()[rule.site];
  const std::string why = " (" + std::string(site.reason) + ")";
  if (site.mark == Mark::kNone || site.mark == Mark::kForward) {
    Refuse(rule, "/site", NameOf(rule) + " is not injectable" + why);
  }
  if (rule.action.result && rule.action.after && !CanFailAfter(site)) {
    Refuse(rule, "/do/after", NameOf(rule) + " can only fail before it takes effect" + why);
  }
  if (rule.action.result && !rule.action.after && !CanFailBefore(site)) {
    Refuse(rule, "/do/return", NameOf(rule) + " can only fail after it took effect; add \"after\": true" + why);
  }
  if (rule.action.repeat && !site.repeatable) {
    Refuse(rule, "/do/repeat", NameOf(rule) + " cannot be repeated: it makes or releases something each time");
  }
}

void CheckDestructor(const Rule& rule) {
  const Action& action = rule.action;
  if (action.repeat) Refuse(rule, "/do/repeat", "a destructor runs once; no driver runs it twice");
  if (action.saturate) Refuse(rule, "/do/saturate", "a destructor has no queue to fill; the site is Py_AddPendingCall");
  if (action.record) {
    Refuse(rule, "/do/record", "a destructor answers nothing to record; the site is Py_AddPendingCall");
  }
  if (action.fail) {
    Refuse(rule, "/do/fail", "a destructor returns nothing, so it cannot fail; use drop, delay or deliver");
  }
  if (action.hold && action.deliver && action.deliver != Delivery::kThread) {
    Refuse(rule, "/do/hold",
           "what is held until a rule or a step is delivered by the thread; say \"deliver\": \"thread\"");
  }
}

void CheckPendingCall(const Rule& rule) {
  const Action& action = rule.action;
  if (action.deliver && action.result) {
    Refuse(rule, "/do/deliver", "a call that is refused is never handed over; choose return or deliver");
  }
  if (action.hold && action.deliver == Delivery::kHeld) {
    Refuse(rule, "/do/hold", "held waits for the control call alone; leave out \"deliver\", or the hold");
  }
  if (action.repeat) Refuse(rule, "/do/repeat", "a pending call is added once; no host adds it twice");
  if (action.fail) Refuse(rule, "/do/fail", "say \"return\": -1, which is how Py_AddPendingCall fails");
}

void CheckAllocation(const Rule& rule) {
  const Action& action = rule.action;
  if (action.deliver) Refuse(rule, "/do/deliver", "an allocation is answered at once; use delay, hold or fail");
  if (action.repeat) Refuse(rule, "/do/repeat", "an allocation is not repeated");
  if (action.record) Refuse(rule, "/do/record", "allocations are only counted; the site is Py_AddPendingCall");
  if (action.saturate) Refuse(rule, "/do/saturate", "an allocation has no queue; the site is Py_AddPendingCall");
  if (action.drop) Refuse(rule, "/do/drop", "an allocation cannot be dropped; say \"fail\": true");
}

void CheckSite(const Rule& rule) {
  if (rule.site == DestructorSite()) return CheckDestructor(rule);
  if (rule.site == PendingCallSite()) return CheckPendingCall(rule);
  if (rule.site == AllocationSite()) return CheckAllocation(rule);
  CheckEntryPoint(rule);
}

// ---- members that contradict each other -----------------------------------------------------------------------------

void CheckAction(const Rule& rule) {
  const Action& action = rule.action;
  if (action.after && !action.result) Refuse(rule, "/do/after", "says when to fail, but no \"return\" says with what");
  if (action.after && rule.site == PendingCallSite()) {
    Refuse(rule, "/do/after", "Py_AddPendingCall refuses before it takes effect; drop the call instead");
  }
  if (action.order && !action.deliver) Refuse(rule, "/do/order", "orders a queue, but no \"deliver\" makes one");
  if (action.order && action.deliver == Delivery::kInline) {
    Refuse(rule, "/do/order", "inline delivery has no queue and so no order; deliver on a thread, or held");
  }
  if (action.until && !action.saturate) {
    Refuse(rule, "/do/until", "says how long the queue stays full, but no \"saturate\" fills it");
  }
  if (action.drop && action.result) {
    Refuse(rule, "/do/drop", "a call that is dropped was accepted, so it returns no error");
  }
  if (action.drop && action.deliver) Refuse(rule, "/do/drop", "what is dropped is never delivered; choose one");
  if (action.drop && action.hold) Refuse(rule, "/do/drop", "what is dropped is never released; choose drop or hold");
  if (action.repeat && action.result && !action.after) {
    Refuse(rule, "/do/repeat", "the call fails before it is made, so it cannot be repeated; choose one");
  }
  const bool other = action.result || action.drop || action.repeat || action.deliver || action.saturate ||
                     action.record || action.fail;
  if (action.abort && other) Refuse(rule, "/do/abort", "the process ends there, so the other actions could never act");
}

void CheckOrdinals(const Rule& rule) {
  const When& when = rule.when;
  if (when.nth && (when.first || when.after || when.every)) {
    Refuse(rule, "/when/nth",
           "names one call; with first, after or every beside it the rule contradicts or repeats itself");
  }
  if (when.nth && when.times && *when.times > 1) {
    Refuse(rule, "/when/times", "nth matches once a thread, so more than 1 is never reached");
  }
  if (when.first && when.every && *when.every > *when.first) {
    Refuse(rule, "/when/every", "can never match: the first of them comes after the calls that \"first\" allows");
  }
}

void CheckCounting(const Rule& rule) {
  const When& when = rule.when;
  if (!when.counts_in_step) return;
  if (when.step.empty()) {
    Refuse(rule, "/when/count", "counts from a step, but no \"step\" says which");
  }
  if (!when.nth && !when.first && !when.after && !when.every) {
    Refuse(rule, "/when/count", "says from where to count, but nothing counts; add nth, first, after or every");
  }
}

void CheckCircumstances(const Rule& rule) {
  const When& when = rule.when;
  const bool on_callback = when.thread && when.thread->role == Role::kCallback;
  if (on_callback && when.during && *when.during != Context::kCallback) {
    Refuse(rule, "/when/while",
           "can never match: a callback thread of the driver is never in the middle of a " +
               std::string(WordOf(*when.during)));
  }
}

// Whether the rule waits for a rule that waits for ... that waits for the rule.
bool WaitsInACircle(std::span<const Rule> rules, std::size_t index) {
  std::size_t next = index;
  for (std::size_t hop = 0; hop < rules.size(); ++hop) {
    const std::optional<Hold>& hold = rules[next].action.hold;
    if (!hold || !hold->rule || *hold->rule >= rules.size()) return false;
    next = *hold->rule;
    if (next == index) return true;
  }
  return false;  // into a circle that the rule is not part of
}

// What `hold` and `until` have in common; `member` is which of the two.
void CheckEnd(std::span<const Rule> rules, std::size_t index, const Hold& hold, const std::string& member) {
  const Rule& rule = rules[index];
  if (hold.rule && *hold.rule >= rules.size()) {
    Refuse(rule, member + "/rule", "there is no rule " + std::to_string(*hold.rule) + "; rules count from 0");
  }
  if (hold.rule && *hold.rule == index) Refuse(rule, member + "/rule", "a rule cannot wait for itself");
  if (!hold.step.empty() && hold.step == rule.when.step) {
    Refuse(rule, member + "/step", "holds nothing: the rule matches only once that step has been announced");
  }
}

void CheckHolds(std::span<const Rule> rules, std::size_t index) {
  const Rule& rule = rules[index];
  if (rule.action.until) CheckEnd(rules, index, *rule.action.until, "/do/until");
  if (!rule.action.hold) return;
  CheckEnd(rules, index, *rule.action.hold, "/do/hold");
  if (WaitsInACircle(rules, index)) {
    Refuse(rule, "/do/hold/rule",
           "rule " + std::to_string(*rule.action.hold->rule) +
               " waits in turn for this one, so a thread that visits both may wait forever; hold one until a step");
  }
}

// ---- rules that never get a turn ------------------------------------------------------------------------------------

// The ordinals that `when` lets through: start, start + stride, ... up to last.
struct Progression {
  std::uint64_t start;
  std::uint64_t stride;
  std::uint64_t last;
};

Progression OrdinalsOf(const When& when) {
  constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();
  if (when.nth) return {*when.nth, 1, *when.nth};
  const std::uint64_t after = when.after.value_or(0);
  const std::uint64_t stride = when.every.value_or(1);
  return {after + stride, stride, when.first ? after + *when.first : kNoEnd};
}

bool Contains(const Progression& outer, const Progression& inner) {
  if (inner.start < outer.start || inner.last > outer.last) return false;
  if ((inner.start - outer.start) % outer.stride != 0) return false;
  const bool single = inner.last - inner.start < inner.stride;
  return single || inner.stride % outer.stride == 0;
}

bool ContainsThread(const std::optional<ThreadSelector>& outer, const std::optional<ThreadSelector>& inner) {
  if (!outer) return true;
  return inner && inner->role == outer->role && (!outer->ordinal || inner->ordinal == outer->ordinal);
}

bool ContainsSite(const Rule& outer, const Rule& inner) {
  if (outer.site == inner.site) return outer.site != kEverySite || outer.action.after == inner.action.after;
  return outer.site == kEverySite && EverySiteCovers(outer.action, inner.site);
}

bool ContainsOrdinals(const When& outer, const When& inner) {
  const bool every_call = !outer.nth && !outer.first && !outer.after && !outer.every;
  // The two ways to count say nothing of each other.
  return every_call || (outer.counts_in_step == inner.counts_in_step && Contains(OrdinalsOf(outer), OrdinalsOf(inner)));
}

// Whether `earlier` fires at every visit at which `later` would.
bool Shadows(const Rule& earlier, const Rule& later) {
  if (earlier.when.probability || earlier.when.times) return false;
  if (!earlier.when.step.empty() && earlier.when.step != later.when.step) return false;
  if (earlier.when.during && earlier.when.during != later.when.during) return false;
  return ContainsSite(earlier, later) && ContainsThread(earlier.when.thread, later.when.thread) &&
         ContainsOrdinals(earlier.when, later.when);
}

void CheckShadows(std::span<const Rule> rules, std::size_t index) {
  for (std::size_t earlier = 0; earlier < index; ++earlier) {
    if (!Shadows(rules[earlier], rules[index])) continue;
    Refuse(rules[index], "",
           "can never match: the earlier rule at " + rules[earlier].place +
               " fires at each of its calls; put this rule first, or narrow the other");
  }
}

}  // namespace

bool EverySiteCovers(const Action& action, SiteId site) {
  const Site& row = AllSites()[site];
  if (!CanFailBefore(row) && !CanFailAfter(row)) return false;
  if (action.result && !(action.after ? CanFailAfter(row) : CanFailBefore(row))) return false;
  return !action.repeat || row.repeatable;
}

void CheckRules(std::span<const Rule> rules) {
  if (rules.size() > kMostRules) {
    Refuse(rules[kMostRules], "",
           "is one of " + std::to_string(rules.size()) + " rules; a plan has at most " + std::to_string(kMostRules));
  }
  for (std::size_t index = 0; index < rules.size(); ++index) {
    const Rule& rule = rules[index];
    CheckAction(rule);
    CheckSite(rule);
    CheckOrdinals(rule);
    CheckCounting(rule);
    CheckCircumstances(rule);
    CheckHolds(rules, index);
    CheckShadows(rules, index);
  }
}

}  // namespace holdfast::fault
