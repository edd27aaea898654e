#include "fault/shim/armed.h"

namespace holdfast::fault {
namespace {

bool CanFail(SiteId site, bool after) {
  if (site == AllocationSite() || site == PendingCallSite()) return !after;
  return after ? CanFailAfter(AllSites()[site]) : CanFailBefore(AllSites()[site]);
}

}  // namespace

bool ArmedFaults::Arm(const ArmedFault& fault) {
  const SiteId site = FindSite(fault.site);
  if (count_ == kMost || site == kNoSite || fault.nth == 0 || !CanFail(site, fault.after)) return false;
  Entry entry;
  entry.site = site;
  entry.nth = fault.nth;
  entry.persistent = fault.persistent;
  entry.action.after = fault.after;
  entry.action.fail = site == AllocationSite();
  if (!entry.action.fail) entry.action.result = fault.result;
  entries_[count_++] = entry;
  return true;
}

std::uint64_t ArmedFaults::Disarm() {
  const std::uint64_t fired = fired_;
  count_ = 0;
  fired_ = 0;
  return fired;
}

const Action* ArmedFaults::Look(SiteId site) {
  const Action* action = nullptr;
  for (std::size_t index = 0; index < count_; ++index) {
    Entry& entry = entries_[index];
    if (entry.site != site) continue;
    ++entry.visits;
    const bool fires = entry.persistent ? entry.visits >= entry.nth : entry.visits == entry.nth;
    if (fires && action == nullptr) action = &entry.action;
  }
  fired_ += action != nullptr ? 1 : 0;
  return action;
}

}  // namespace holdfast::fault
