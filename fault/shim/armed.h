// Faults that a program arms for its own thread while it runs, behind those of the plan: what a fuzzer draws cannot be
// in a plan that was loaded at the start.
//
// Thread safety: an ArmedFaults belongs to its thread.
#ifndef HOLDFAST_FAULT_SHIM_ARMED_H_
#define HOLDFAST_FAULT_SHIM_ARMED_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "fault/plan/plan.h"
#include "fault/shim/control.h"

namespace holdfast::fault {

class ArmedFaults {
 public:
  static constexpr std::size_t kMost = 8;

  // False if there are kMost already, there is no such site, or it cannot fail that way.
  bool Arm(const ArmedFault& fault);

  // Disarms all; how many fired since they were armed.
  std::uint64_t Disarm();

  // Counts the visit. What the fault that fires says, or null.
  const Action* Visited(SiteId site) { return count_ == 0 ? nullptr : Look(site); }

 private:
  struct Entry {
    SiteId site = kNoSite;
    std::uint64_t nth = 1;
    bool persistent = false;
    Action action;
    std::uint64_t visits = 0;
  };

  const Action* Look(SiteId site);

  std::array<Entry, kMost> entries_;
  std::size_t count_ = 0;
  std::uint64_t fired_ = 0;
};

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_ARMED_H_
