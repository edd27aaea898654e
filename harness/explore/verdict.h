// What can be wrong with an execution, or with the program itself.
#ifndef HOLDFAST_HARNESS_EXPLORE_VERDICT_H_
#define HOLDFAST_HARNESS_EXPLORE_VERDICT_H_

#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::explore {

enum class Verdict : std::uint8_t {
  kAssertion,
  kDataRace,
  kDeadlock,
  kLivelock,
  kLeak,
  kDoubleFree,
  kUseAfterFree,
  kStrandedWork,
  kUncaughtException,
  // The program cannot be explored.
  kTooManySteps,
  kTooManyThreads,
  kNotDeterministic,
  kMisuse,
};

// As reports name it: "data-race".
const char* NameOf(Verdict verdict);

// Whether it says something of the program's own faults, not of whether it can be explored.
bool IsFault(Verdict verdict);

struct Finding {
  Verdict verdict;
  std::string text;
};

}  // namespace holdfast::explore

#endif  // HOLDFAST_HARNESS_EXPLORE_VERDICT_H_
