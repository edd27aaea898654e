#include "harness/explore/verdict.h"

namespace holdfast::explore {

const char* NameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAssertion:
      return "assertion";
    case Verdict::kDataRace:
      return "data-race";
    case Verdict::kDeadlock:
      return "deadlock";
    case Verdict::kLivelock:
      return "livelock";
    case Verdict::kLeak:
      return "leak";
    case Verdict::kDoubleFree:
      return "double-free";
    case Verdict::kUseAfterFree:
      return "use-after-free";
    case Verdict::kStrandedWork:
      return "stranded-work";
    case Verdict::kUncaughtException:
      return "uncaught-exception";
    case Verdict::kTooManySteps:
      return "too-many-steps";
    case Verdict::kTooManyThreads:
      return "too-many-threads";
    case Verdict::kNotDeterministic:
      return "not-deterministic";
    case Verdict::kMisuse:
      return "misuse";
  }
  return "unknown";
}

bool IsFault(Verdict verdict) { return verdict < Verdict::kTooManySteps; }

}  // namespace holdfast::explore
