#include "fault/shim/identify.h"

namespace holdfast::fault {
namespace {

// Whether the export is the call that the name stands for, in any version: "cuMemAlloc_v2" is "cuMemAlloc". Narrower
// than a site, which can join calls with other parameters.
bool IsVersionOf(std::string_view exported, std::string_view symbol) {
  if (!exported.starts_with(symbol)) return false;
  const std::string_view rest = exported.substr(symbol.size());
  return rest.empty() || rest.starts_with("_v") || rest.starts_with("_pt");
}

bool IsPerThread(std::string_view name) { return name.ends_with("_ptsz") || name.ends_with("_ptds"); }

// How well an entry point fits what was asked for; the larger, the better. The stream flavour counts before the
// version, and a version that the caller does not know yet counts last.
std::int64_t Fitness(const EntryPoint& entry, const Request& request) {
  const bool known = entry.since <= static_cast<std::uint32_t>(request.version);
  const std::int64_t age = known ? entry.since : -static_cast<std::int64_t>(entry.since);
  return age + (IsPerThread(entry.name) == request.per_thread ? 1'000'000 : 0);
}

}  // namespace

std::optional<Entry> IdentifyAnswer(const Request& request, std::span<void* const> exported) {
  std::optional<Entry> best;
  std::int64_t best_fitness = 0;
  for (std::size_t index = 0; index < kEntryCount; ++index) {
    const EntryPoint& entry = AllEntryPoints()[index];
    const bool same_name = IsVersionOf(entry.name, request.symbol);
    const bool same_address = exported[index] == request.answer;
    if (!same_name && !same_address) continue;
    // An address that the driver exports settles the version; the name decides only between exports that share one.
    const std::int64_t fitness =
        Fitness(entry, request) + (same_address ? 100'000'000 : 0) + (same_name ? 10'000'000 : 0);
    if (best && fitness <= best_fitness) continue;
    best = static_cast<Entry>(index);
    best_fitness = fitness;
  }
  return best;
}

}  // namespace holdfast::fault
