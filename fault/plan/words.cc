#include "fault/plan/words.h"

#include <charconv>
#include <cstdio>
#include <numeric>

namespace holdfast::fault {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t nanoseconds;
};
constexpr Unit kUnits[] = {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};
constexpr std::uint64_t kLongestDelay = 3'600'000'000'000;

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::optional<std::uint64_t> ParseNumber(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::uint64_t> ParseDigits(std::string_view text) { return ParseNumber(text, 10); }

Ratio ParseRatio(std::string_view text, const std::string& place) {
  const std::size_t slash = text.find('/');
  const auto numerator = ParseDigits(text.substr(0, slash));
  const auto denominator = slash == std::string_view::npos ? std::nullopt : ParseDigits(text.substr(slash + 1));
  if (!numerator || !denominator || *denominator == 0) {
    throw PlanError(place, Quoted(text) + " is no ratio of two counts; write for example \"1/64\"");
  }
  if (*numerator == 0) throw PlanError(place, "a rule of probability 0 can never match; leave the rule out");
  if (*numerator > *denominator) throw PlanError(place, Quoted(text) + " is more than 1; the most is \"1/1\"");
  const std::uint64_t divisor = std::gcd(*numerator, *denominator);
  return {*numerator / divisor, *denominator / divisor};
}

std::uint64_t ParseDuration(std::string_view text, const std::string& place) {
  const std::size_t digits = text.find_first_not_of("0123456789");
  const auto count = ParseDigits(text.substr(0, digits));
  const std::string_view suffix = digits == std::string_view::npos ? "" : text.substr(digits);
  for (const Unit& unit : kUnits) {
    if (!count || suffix != unit.name) continue;
    if (*count == 0) throw PlanError(place, "a duration of 0 does nothing; leave it out");
    if (*count > kLongestDelay / unit.nanoseconds) {
      throw PlanError(place, Quoted(text) + " is longer than an hour; no run waits that long");
    }
    return *count * unit.nanoseconds;
  }
  throw PlanError(place,
                  Quoted(text) + " is no duration; write a count and its unit (ns, us, ms, s), such as \"200us\"");
}

std::uint64_t ParseSeed(std::string_view text, const std::string& place) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const auto seed = hexadecimal ? ParseNumber(text.substr(2), 16) : ParseDigits(text);
  if (!seed) {
    throw PlanError(place, Quoted(text) + " is no seed of 64 bits; write \"0x1c0ffee\" or decimal digits");
  }
  return *seed;
}

ThreadSelector ParseThread(std::string_view text, const std::string& place) {
  const std::size_t dash = text.find('-');
  const std::string_view word = text.substr(0, dash);
  for (const Role role : {Role::kMain, Role::kSubject, Role::kCallback}) {
    if (word != WordOf(role)) continue;
    if (dash == std::string_view::npos) return {role, std::nullopt};
    const auto ordinal = ParseDigits(text.substr(dash + 1));
    if (!ordinal || *ordinal > UINT32_MAX || role == Role::kMain) break;
    return {role, static_cast<std::uint32_t>(*ordinal)};
  }
  throw PlanError(place,
                  Quoted(text) + " names no thread; write main, subject, callback, subject-N, callback-N, or a number");
}

std::string DurationText(std::uint64_t nanoseconds) {
  const Unit* best = &kUnits[0];
  for (const Unit& unit : kUnits) {
    if (nanoseconds % unit.nanoseconds == 0) best = &unit;
  }
  return std::to_string(nanoseconds / best->nanoseconds) + std::string(best->name);
}

std::string SeedText(std::uint64_t seed) {
  char text[19];
  std::snprintf(text, sizeof(text), "0x%016llx", static_cast<unsigned long long>(seed));
  return text;
}

}  // namespace holdfast::fault
