#include "fault/plan/sites.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace holdfast::fault {
namespace {

constexpr Site kSites[] = {
#define HOLDFAST_SITE(name, mark, repeatable, kind, reason) {name, Mark::mark, repeatable, kind, reason},
#include "fault/plan/sites.inc"
#undef HOLDFAST_SITE
    {"Py_AddPendingCall", Mark::kOwn, false, "own", "CPython's queue refuses by answering -1, with no exception set"},
    {"alloc", Mark::kOwn, false, "own", "an allocation of the subject that goes through the shim's control table"},
    {"destructor", Mark::kOwn, false, "own", "the callback of a user object returns nothing, so it cannot fail"},
};
constexpr std::size_t kSiteCount = std::size(kSites);

constexpr EntryPoint kEntryPoints[] = {
#define HOLDFAST_ENTRY_POINT(name, site, since) {name, site, since},
#include "fault/plan/sites.inc"
#undef HOLDFAST_ENTRY_POINT
};

constexpr ResultName kResults[] = {
#define HOLDFAST_RESULT(name, value) {name, value},
#include "fault/plan/sites.inc"
#undef HOLDFAST_RESULT
};

// Number of single-character edits that turn `left` into `right`.
std::size_t EditDistance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  for (std::size_t column = 0; column <= right.size(); ++column) row[column] = column;
  for (std::size_t line = 1; line <= left.size(); ++line) {
    std::size_t diagonal = row[0];
    row[0] = line;
    for (std::size_t column = 1; column <= right.size(); ++column) {
      const std::size_t replaced = diagonal + (left[line - 1] == right[column - 1] ? 0 : 1);
      diagonal = row[column];
      row[column] = std::min({row[column] + 1, row[column - 1] + 1, replaced});
    }
  }
  return row[right.size()];
}

template <typename Item>
std::vector<std::string_view> NamesOf(std::span<const Item> items) {
  std::vector<std::string_view> names;
  names.reserve(items.size());
  for (const Item& item : items) names.push_back(item.name);
  return names;
}

}  // namespace

std::span<const Site> AllSites() { return kSites; }
std::span<const EntryPoint> AllEntryPoints() { return kEntryPoints; }
std::span<const ResultName> AllResults() { return kResults; }

SiteId PendingCallSite() { return static_cast<SiteId>(kSiteCount - 3); }
SiteId AllocationSite() { return static_cast<SiteId>(kSiteCount - 2); }
SiteId DestructorSite() { return static_cast<SiteId>(kSiteCount - 1); }

SiteId FindSite(std::string_view name) {
  for (std::size_t index = 0; index < kSiteCount; ++index) {
    if (kSites[index].name == name) return static_cast<SiteId>(index);
  }
  for (const EntryPoint& entry_point : kEntryPoints) {
    if (entry_point.name == name) return entry_point.site;
  }
  return kNoSite;
}

std::string_view SiteName(SiteId site) { return site == kEverySite ? "*" : kSites[site].name; }

bool CanFailBefore(const Site& site) { return site.mark == Mark::kBefore || site.mark == Mark::kBoth; }
bool CanFailAfter(const Site& site) { return site.mark == Mark::kAfter || site.mark == Mark::kBoth; }
bool IsEntryPoint(const Site& site) { return site.mark != Mark::kOwn; }

std::optional<std::int64_t> FindResult(std::string_view name) {
  for (const ResultName& result : kResults) {
    if (result.name == name) return result.value;
  }
  return std::nullopt;
}

std::optional<std::string_view> ResultNameOf(std::int64_t value) {
  for (const ResultName& result : kResults) {
    if (result.value == value) return result.name;
  }
  return std::nullopt;
}

std::string_view NearestName(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view nearest;
  std::size_t smallest = std::max<std::size_t>(2, word.size() / 4) + 1;
  if (word.size() > 128) return nearest;
  for (std::string_view candidate : candidates) {
    const std::size_t distance = EditDistance(word, candidate);
    if (distance < smallest) {
      smallest = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string_view NearestSite(std::string_view word) { return NearestName(word, NamesOf(AllSites())); }
std::string_view NearestResult(std::string_view word) { return NearestName(word, NamesOf(AllResults())); }

}  // namespace holdfast::fault
