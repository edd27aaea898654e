// Small programs drawn from a seed: straight lines of operations, of which some depend on what was read before.
#ifndef HOLDFAST_TESTS_HARNESS_EXPLORE_RANDOM_PROGRAM_H_
#define HOLDFAST_TESTS_HARNESS_EXPLORE_RANDOM_PROGRAM_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/explore/program.h"

namespace holdfast::explore {

enum class Action : std::uint8_t {
  kLoad,
  kStore,
  kExchange,
  kFetchAdd,
  kCompareExchange,
  kWeakCompareExchange,
  kFence,
  kChoose,
  kRelease,  // of the semaphore
  kAcquire,
  kTryAcquire,
  kLockedStore,  // under the mutex
  kAwait,        // goes round until it reads something
  kActionCount,
};

struct Statement {
  Action action = Action::kLoad;
  std::uint8_t location = 0;
  std::memory_order order = std::memory_order_relaxed;
  std::memory_order failure_order = std::memory_order_relaxed;
  int value = 0;
  int expected = 0;
  int only_after_reading = -1;  // left out unless the thread read this last; -1: never left out
};

using Listing = std::vector<std::vector<Statement>>;

// Which statements may be drawn.
struct Mix {
  std::uint64_t threads = 2;
  std::uint64_t statements_max = 4;  // of a thread, at least 2
  std::uint64_t locations = 2;
  std::vector<Action> actions;
  bool only_seq_cst = false;
};

Listing Draw(std::uint64_t seed, const Mix& mix);

Program MakeProgram(const Listing& listing);

// As it would be typed.
std::string TextOf(const Listing& listing);

}  // namespace holdfast::explore

#endif  // HOLDFAST_TESTS_HARNESS_EXPLORE_RANDOM_PROGRAM_H_
