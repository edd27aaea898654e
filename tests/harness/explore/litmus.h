// Litmus programs as tables: a few steps a thread, and exactly the outcomes that RC11 allows.
//
// The expected outcomes are those of the literature (the RC11 paper; the usual tables for cppmem and herd), or are
// worked out from the axioms where a comment says how. RC11 has no load buffering; release sequences are those of
// C++20.
#ifndef HOLDFAST_TESTS_HARNESS_EXPLORE_LITMUS_H_
#define HOLDFAST_TESTS_HARNESS_EXPLORE_LITMUS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::explore::litmus {

// All begin as 0.
enum Location : std::uint8_t { x, y, z };
inline constexpr std::size_t kLocationCount = 3;

enum Register : std::uint8_t { a, b, c, d, e };
inline constexpr std::size_t kRegisterCount = 5;

inline constexpr std::memory_order rlx = std::memory_order_relaxed;
inline constexpr std::memory_order acq = std::memory_order_acquire;
inline constexpr std::memory_order rel = std::memory_order_release;
inline constexpr std::memory_order ar = std::memory_order_acq_rel;
inline constexpr std::memory_order sc = std::memory_order_seq_cst;

struct Step {
  enum class Kind : std::uint8_t { kLoad, kStore, kExchange, kAdd, kCompareExchange, kWeakCompareExchange, kFence };

  Kind kind = Kind::kFence;
  std::memory_order order = rlx;
  std::memory_order failure_order = rlx;
  Location location = x;
  int value = 0;
  int expected = 0;
  Register into = a;     // what was read
  Register success = a;  // of a weak compare-exchange: 1 or 0
  bool is_guarded = false;
  Register guard = a;
  int guard_value = 0;
};

Step Load(Register into, Location location, std::memory_order order);
Step Store(Location location, int value, std::memory_order order);
Step Exchange(Register into, Location location, int value, std::memory_order order);
Step Add(Register into, Location location, int value, std::memory_order order);
Step Cas(Register into, Location location, int expected, int value, std::memory_order order, std::memory_order failure);
Step WeakCas(Register into, Register success, Location location, int expected, int value, std::memory_order order,
             std::memory_order failure);
Step Fence(std::memory_order order);
// Only if the register, of the same thread, has that value.
Step If(Register guard, int value, Step step);

using Threads = std::vector<std::vector<Step>>;

struct Expected {
  bool is_all_but = false;
  std::vector<std::string> outcomes;
};

// Every combination of the values that the columns may have, but for these; a dot stands for any value.
inline Expected AllBut(std::vector<std::string> outcomes) { return {true, std::move(outcomes)}; }
inline Expected All() { return {true, {}}; }
inline Expected Only(std::vector<std::string> outcomes) { return {false, std::move(outcomes)}; }

struct Litmus {
  const char* name;
  Threads threads;
  // What an outcome shows: registers, and locations as they are in the end, each with the values that it may have:
  // "a:01 x:12". An outcome has one digit for each.
  const char* columns;
  Expected expected;
};

// Explores each program and compares the outcomes.
void Check(const std::vector<Litmus>& programs);

}  // namespace holdfast::explore::litmus

#endif  // HOLDFAST_TESTS_HARNESS_EXPLORE_LITMUS_H_
