#include "fault/plan/decide.h"

#include "fault/plan/check.h"

namespace holdfast::fault {
namespace {

// The finaliser of splitmix64: each bit of the input reaches every bit of the output.
std::uint64_t Mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

// From the name, not the index, so that a longer table of entry points moves no decision.
std::uint64_t HashOf(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char character : name) hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3;
  return hash;
}

bool MatchesOrdinal(const When& when, std::uint64_t ordinal) {
  if (when.nth) return ordinal == *when.nth;
  const std::uint64_t after = when.after.value_or(0);
  if (ordinal <= after) return false;
  const std::uint64_t counted = ordinal - after;
  if (when.first && counted > *when.first) return false;
  return !when.every || counted % *when.every == 0;
}

bool MatchesThread(const ThreadSelector& selector, const ThreadName& thread) {
  return selector.role == thread.role && (!selector.ordinal || *selector.ordinal == thread.ordinal);
}

}  // namespace

DecisionTable::DecisionTable(Plan plan) : plan_(std::move(plan)), rules_of_site_(AllSites().size()) {
  for (std::size_t index = 0; index < plan_.rules.size(); ++index) {
    const Rule& rule = plan_.rules[index];
    when_steps_.push_back(Intern(rule.when.step));
    hold_steps_.push_back(rule.action.hold ? Intern(rule.action.hold->step) : kNoStep);
    until_steps_.push_back(rule.action.until ? Intern(rule.action.until->step) : kNoStep);
    for (std::size_t site = 0; site < rules_of_site_.size(); ++site) {
      const bool concerned =
          rule.site == kEverySite ? EverySiteCovers(rule.action, static_cast<SiteId>(site)) : rule.site == site;
      if (concerned) rules_of_site_[site].push_back(static_cast<std::uint32_t>(index));
    }
  }
}

StepId DecisionTable::Intern(const std::string& name) {
  if (name.empty()) return kNoStep;
  const StepId known = FindStep(name);
  if (known != kNoStep) return known;
  steps_.push_back(name);
  return static_cast<StepId>(steps_.size() - 1);
}

StepId DecisionTable::FindStep(std::string_view name) const {
  for (std::size_t index = 0; index < steps_.size(); ++index) {
    if (steps_[index] == name) return static_cast<StepId>(index);
  }
  return kNoStep;
}

bool DecisionTable::Matches(std::size_t index, const Visit& visit) const {
  const When& when = plan_.rules[index].when;
  if (!MatchesOrdinal(when, when.counts_in_step ? visit.ordinal_in_step : visit.ordinal)) return false;
  if (when.thread && !MatchesThread(*when.thread, visit.thread)) return false;
  if (when.during && (visit.contexts & static_cast<std::uint8_t>(*when.during)) == 0) return false;
  return when_steps_[index] == kNoStep || when_steps_[index] == visit.step;
}

bool DecisionTable::Draws(std::size_t index, const Visit& visit) const {
  const std::optional<Ratio>& probability = plan_.rules[index].when.probability;
  if (!probability) return true;
  std::uint64_t hash = Mixed(plan_.seed.value_or(0));
  hash = Mixed(hash ^ index);
  hash = Mixed(hash ^ HashOf(SiteName(visit.site)));
  hash = Mixed(hash ^ (std::uint64_t{static_cast<std::uint8_t>(visit.thread.role)} << 32 | visit.thread.ordinal));
  hash = Mixed(hash ^ visit.ordinal);
  // hash / 2^64 < numerator / denominator, in integers.
  const auto scaled =
      static_cast<std::uint64_t>((static_cast<unsigned __int128>(hash) * probability->denominator) >> 64);
  return scaled < probability->numerator;
}

int DecisionTable::Decide(const Visit& visit, ThreadMemory& memory) const {
  for (const std::uint32_t index : rules_of_site_[visit.site]) {
    const std::optional<std::uint64_t>& times = plan_.rules[index].when.times;
    if (times && memory[index] >= *times) continue;
    if (!Matches(index, visit) || !Draws(index, visit)) continue;
    ++memory[index];
    return static_cast<int>(index);
  }
  return -1;
}

}  // namespace holdfast::fault
