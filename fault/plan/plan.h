// A plan: which faults a run is to have, and the seed that decides those left to chance.
//
// A plan is a value that never changes once it is loaded. Loading (load.h) refuses whatever cannot act, so that a plan
// that exists can act; decide.h turns a visit of a site into a decision.
//
// Counting: every number in `when` counts the calls of the site on the calling thread, from 1; with `count` "step" from
// 1 again each time the rule's step is announced.
#ifndef HOLDFAST_FAULT_PLAN_PLAN_H_
#define HOLDFAST_FAULT_PLAN_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fault/plan/sites.h"

namespace holdfast::fault {

// Why a plan was refused. `place` is a JSON pointer ("/rules/2/when/nth"), a place in a one-line rule
// ("--fault[0]/when/nth"), or "line 3, column 7"; empty when the whole document is meant.
class PlanError : public std::runtime_error {
 public:
  // ENSURES: place and reason are one line of printable text each, however odd the document that they quote.
  PlanError(const std::string& place, const std::string& reason);

  const std::string& place() const { return place_; }
  const std::string& reason() const { return reason_; }

 private:
  std::string place_;
  std::string reason_;
};

// The kinds of thread that the shim names: the first to arrive, the others of the subject, and those on which a
// callback of the driver arrived first.
enum class Role : std::uint8_t { kMain, kSubject, kCallback };

struct ThreadName {
  Role role = Role::kMain;
  std::uint32_t ordinal = 0;

  friend bool operator==(const ThreadName&, const ThreadName&) = default;
};

// `when.thread`. A bare number is `main` for 0 and otherwise the thread "subject-N".
struct ThreadSelector {
  Role role = Role::kMain;
  std::optional<std::uint32_t> ordinal;  // absent: every thread of the role

  friend bool operator==(const ThreadSelector&, const ThreadSelector&) = default;
};

// What a thread is in the middle of. The values are bits, since a thread can be inside several.
enum class Context : std::uint8_t { kCapture = 1, kDrain = 2, kCallback = 4, kFinalization = 8 };

// ENSURES: 0 < numerator <= denominator, in lowest terms.
struct Ratio {
  std::uint64_t numerator = 1;
  std::uint64_t denominator = 1;
};

struct When {
  std::optional<std::uint64_t> nth;    // that call and no other
  std::optional<std::uint64_t> first;  // the first calls, counted from `after`
  std::optional<std::uint64_t> after;  // only calls past that one
  std::optional<std::uint64_t> every;  // each such call, counted from `after`
  std::optional<std::uint64_t> times;  // at most that many faults of this rule a thread
  std::optional<Ratio> probability;
  std::optional<ThreadSelector> thread;
  std::string step;               // the step last announced; empty: any
  bool counts_in_step = false;    // `count`: the numbers count from the announcement of the step, not from the start
  std::optional<Context> during;  // `while`
};

enum class Delivery : std::uint8_t { kInline, kThread, kHeld };
enum class Order : std::uint8_t { kFifo, kLifo };

// Until the rule has fired, on any thread, or the step has been announced.
struct Hold {
  std::optional<std::size_t> rule;
  std::string step;
};

struct Action {
  std::optional<std::int64_t> result;  // `return`
  bool after = false;                  // the call takes effect, then answers `result`
  std::optional<std::uint64_t> delay_ns;
  std::optional<Hold> hold;
  bool drop = false;
  std::optional<std::uint32_t> repeat;  // do the call this many times more
  std::optional<Delivery> deliver;
  std::optional<Order> order;
  std::optional<std::uint32_t> saturate;  // fill the queue with this many no-ops first
  std::optional<Hold> until;              // `saturate` keeps it filled that long; absent: each no-op runs once
  bool record = false;                    // write down the call and its answer
  bool fail = false;
  bool abort = false;
};

struct Rule {
  SiteId site = kNoSite;
  When when;
  Action action;
  std::string place;  // where the rule was written: "/rules/2", "--fault[0]", "/cudaDriverFaults/cuMemAlloc_v2"
};

struct Plan {
  std::optional<std::uint64_t> seed;
  std::vector<Rule> rules;
};

// "main", "subject", "callback"; "capture", "drain", "callback", "finalization"; "inline", "thread", "held";
// "fifo", "lifo".
std::string_view WordOf(Role role);
std::string_view WordOf(Context context);
std::string_view WordOf(Delivery delivery);
std::string_view WordOf(Order order);

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_PLAN_PLAN_H_
