// The small words of a plan, read from text: ratios, durations, seeds, threads. Each throws PlanError at `place`.
#ifndef HOLDFAST_FAULT_PLAN_WORDS_H_
#define HOLDFAST_FAULT_PLAN_WORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fault/plan/plan.h"

namespace holdfast::fault {

// "1/64". Zero never matches and more than one is no probability: both are refused.
Ratio ParseRatio(std::string_view text, const std::string& place);

// "200us": an integer and one of ns, us, ms, s; at most an hour. Nanoseconds.
std::uint64_t ParseDuration(std::string_view text, const std::string& place);

// "0x1c0ffee" or "30474990".
std::uint64_t ParseSeed(std::string_view text, const std::string& place);

// "main", "subject", "callback", "subject-3", "callback-0".
ThreadSelector ParseThread(std::string_view text, const std::string& place);

// Decimal digits and nothing else; nullopt if they are none, or too many for 64 bits.
std::optional<std::uint64_t> ParseDigits(std::string_view text);

// The shortest exact form: 200000 is "200us".
std::string DurationText(std::uint64_t nanoseconds);
std::string SeedText(std::uint64_t seed);

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_PLAN_WORDS_H_
