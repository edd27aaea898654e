// The sites of a plan: where a fault can act, and what can be done there.
//
// Driver entry points come from fault/shim/entry_points.tsv, through a generated list, as do the names of CUresult.
// Three sites are not entry points: `destructor` (the callback of a user object), `Py_AddPendingCall`, and `alloc`.
// The pseudo-site `*` stands for every entry point that can do what the rule says.
//
// Thread safety: everything here is constant.
#ifndef HOLDFAST_FAULT_PLAN_SITES_H_
#define HOLDFAST_FAULT_PLAN_SITES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace holdfast::fault {

// An index into AllSites().
using SiteId = std::uint16_t;
inline constexpr SiteId kNoSite = 0xFFFF;
inline constexpr SiteId kEverySite = 0xFFFE;  // `*`

// What the table says of a driver entry point; kOwn for the sites that are none.
enum class Mark : std::uint8_t { kBefore, kAfter, kBoth, kNone, kForward, kOwn };

struct Site {
  std::string_view name;
  Mark mark;
  bool repeatable;
  std::string_view kind;    // what the call does: "creation", "change", "query", "release", "wait", "work", ...
  std::string_view reason;  // why the mark is right
};

struct EntryPoint {
  std::string_view name;  // as exported, e.g. "cuMemAlloc_v2"
  SiteId site;            // e.g. "cuMemAlloc"
  std::uint32_t since;    // CUDA version of this form, e.g. 3020; 0: unknown
};

struct ResultName {
  std::string_view name;
  std::int64_t value;
};

std::span<const Site> AllSites();
std::span<const EntryPoint> AllEntryPoints();
std::span<const ResultName> AllResults();

// The three sites that are not entry points.
SiteId DestructorSite();
SiteId PendingCallSite();
SiteId AllocationSite();

// The site called `name`, or the site of the entry point exported as `name` (a plan may say either); kNoSite if none.
SiteId FindSite(std::string_view name);

// "*" for kEverySite. REQUIRES: `site` is not kNoSite.
std::string_view SiteName(SiteId site);

// Whether the plan can make the site fail before, or after, it took effect; whether it can be done again.
bool CanFailBefore(const Site& site);
bool CanFailAfter(const Site& site);
bool IsEntryPoint(const Site& site);

// The value of a CUresult name, and the name of a value ("CUDA_ERROR_..."); nullopt if there is none.
std::optional<std::int64_t> FindResult(std::string_view name);
std::optional<std::string_view> ResultNameOf(std::int64_t value);

// The one of `candidates` closest to `word`; empty when none is close enough to be a misspelling of it.
std::string_view NearestName(std::string_view word, std::span<const std::string_view> candidates);
std::string_view NearestSite(std::string_view word);
std::string_view NearestResult(std::string_view word);

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_PLAN_SITES_H_
