// Runs a program's threads as fibers of one operating-system thread, each up to its next operation on shared state.
// What such an operation reads, and when it comes to be, is decided by whoever drives the machine (see execution.h).
#ifndef HOLDFAST_HARNESS_EXPLORE_MACHINE_H_
#define HOLDFAST_HARNESS_EXPLORE_MACHINE_H_

#include <array>
#include <atomic>
#include <boost/context/detail/fcontext.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/explore/arena.h"
#include "harness/explore/clock.h"
#include "harness/explore/graph.h"
#include "harness/explore/program.h"
#include "harness/explore/verdict.h"
#include "harness/scenario/source_place.h"

namespace holdfast::explore {

// Computes what a read-modify-write writes. False if it writes nothing: a compare-exchange fails, a wait goes on.
using Transform = bool (*)(std::uint64_t read, std::uint64_t operand, std::uint64_t expected, std::uint64_t* written);

// What a thread is about to do.
struct Operation {
  EventKind kind = EventKind::kFence;
  bool waits = false;                // does not go on until `transform` says true
  bool may_fail_spuriously = false;  // a weak compare-exchange
  std::memory_order order = std::memory_order_seq_cst;
  std::memory_order failure_order = std::memory_order_seq_cst;
  std::uint16_t location = 0;
  Transform transform = nullptr;
  std::uint64_t operand = 0;  // of a store: what it stores; of a choice: how many alternatives there are
  std::uint64_t expected = 0;
  harness::SourcePlace place{"", 0};
};

struct OperationResult {
  std::uint64_t value_read;
  bool has_written;
};

// How a location came to be, for tables.
struct LocationInfo {
  harness::SourcePlace place{"", 0};
  const char* name = nullptr;  // null unless it was given one
};

class Machine {
 public:
  enum class ThreadState : std::uint8_t { kReady, kWaiting, kEnded };

  // The one that runs the calling code. There is one machine in a process at a time.
  // Throws std::logic_error outside an execution.
  static Machine& Current();

  Machine();
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // For whoever drives.

  // Sets the program up and runs each thread up to its first operation. `graph` is where the events are, or will be.
  void Begin(const Program& program, const Graph& graph);

  std::size_t thread_count() const { return thread_count_; }
  const std::string& NameOfThread(std::size_t thread) const { return names_[thread]; }
  bool MayWaitForEver(std::size_t thread) const { return threads_->threads()[thread].may_wait_for_ever; }
  ThreadState StateOf(std::size_t thread) const { return fibers_[thread].state; }
  const Operation& PendingOf(std::size_t thread) const { return fibers_[thread].pending; }

  // How many events of a thread this run has come through.
  std::size_t Executed(std::size_t thread) const { return fibers_[thread].executed; }

  // The thread's pending operation became its next event in the graph: runs it up to the one after.
  // In the header: each function that has to return to whoever drives is one more return that the processor guesses
  // wrong, since there was a switch in between.
  void Complete(std::size_t thread, OperationResult result) {
    Fiber& fiber = fibers_[thread];
    fiber.result = result;
    ++fiber.executed;
    CheckAtomicAccess(thread);
    if (!finding_) {
      Resume(thread);
    }
  }

  // The pending operation waits, and does so for good in this execution.
  void Wait(std::size_t thread);

  // Runs the checks and takes everything down. REQUIRES: nothing can run any more.
  void RunChecks();

  const std::optional<Finding>& finding() const { return finding_; }
  void Report(Verdict verdict, std::string text);

  std::uint64_t InitialValue(std::uint16_t location) const { return locations_[location].value; }
  std::size_t location_count() const { return locations_.size(); }
  LocationInfo InfoOf(std::uint16_t location) const { return {locations_[location].place, locations_[location].name}; }

  // The memory that a thread can see changes in: its stack and registers, and all that the program allocated.
  std::uint64_t HashOfState(std::size_t thread) const;

  // For the primitives, called by the program.

  OperationResult Perform(const Operation& operation);
  std::uint16_t CreateLocation(std::uint64_t value, harness::SourcePlace place);
  void DestroyLocation(std::uint16_t location, harness::SourcePlace place);
  // REQUIRES: `name` lives as long as the machine.
  void NameLocation(std::uint16_t location, const char* name) { locations_[location].name = name; }
  void PlainRead(std::uint16_t location, harness::SourcePlace place);
  void PlainWrite(std::uint16_t location, harness::SourcePlace place);
  void ReportDoubleFree();

  std::size_t current_thread() const { return current_; }

  // Ends the execution with a finding. Does not come back when a thread calls it; otherwise it does, since destructors
  // may be who calls.
  void Fail(Verdict verdict, std::string text);

  // The same, and never comes back: throws where there is no thread.
  [[noreturn]] void FailProgram(Verdict verdict, std::string text);

 private:
  enum class Phase : std::uint8_t { kIdle, kSetUp, kThreads, kChecks };

  static constexpr std::size_t kStackSizeBytes = std::size_t{64} << 10;
  static constexpr std::uint64_t kPlainAccessesMax = 10'000'000;
  static constexpr std::uint16_t kNobody = 0xffff;

  struct Fiber {
    void* context = nullptr;
    std::byte* stack = nullptr;
    ThreadState state = ThreadState::kEnded;
    Operation pending;
    OperationResult result{};
    std::size_t executed = 0;
  };

  // When something was done: by whom, and after how many of its events.
  struct Epoch {
    std::uint16_t thread = kNobody;
    std::uint16_t executed = 0;
  };

  struct Location {
    std::uint64_t value = 0;  // the initial one, or in the set-up the present one
    harness::SourcePlace place{"", 0};
    const char* name = nullptr;
    bool is_alive = false;
    bool has_final_value = false;  // `value` is what the checks see
    Epoch created;
    Epoch destroyed;
    Epoch written;
    harness::SourcePlace written_place{"", 0};
    std::array<std::uint16_t, kThreadsMax> read{};  // one more than how many events the thread had executed
    harness::SourcePlace read_place{"", 0};
  };

  void Resume(std::size_t thread) {
    Fiber& fiber = fibers_[thread];
    arena_.Enter(thread);
    current_ = thread;
    fiber.context = boost::context::detail::jump_fcontext(fiber.context, nullptr).fctx;
    arena_.Leave();
  }
  void SwitchToDriver();
  void RunBody(std::size_t thread);
  template <typename Function>
  void RunGuarded(const Function& function, const char* what);
  void CheckAtomicAccess(std::size_t thread);
  void CheckPlain(std::uint16_t location, harness::SourcePlace place, const char* what);
  OperationResult PerformAtOnce(const Operation& operation);
  bool HappenedBefore(Epoch epoch) const;
  Location& RequireUsable(std::uint16_t location, harness::SourcePlace place, const char* what);
  std::string Say(std::uint16_t location, harness::SourcePlace place) const;
  std::uint64_t& FinalValue(std::uint16_t location);

  friend struct FiberEntry;

  Arena& arena_;
  const Graph* graph_ = nullptr;
  Threads* threads_ = nullptr;  // in the arena, and gone with it
  std::size_t thread_count_ = 0;
  std::array<std::string, kThreadsMax> names_;  // the program's own are gone once the checks have run
  std::array<Fiber, kThreadsMax> fibers_;
  std::vector<Location> locations_;
  // The n-th location that a thread creates (the set-up is thread kThreadsMax) has one number in all executions.
  std::array<std::vector<std::uint16_t>, kThreadsMax + 1> numbers_;
  std::array<std::size_t, kThreadsMax + 1> created_{};
  void* driver_context_ = nullptr;
  std::size_t current_ = 0;
  Phase phase_ = Phase::kIdle;
  std::uint64_t plain_accesses_ = 0;
  std::optional<Finding> finding_;
};

}  // namespace holdfast::explore

#endif  // HOLDFAST_HARNESS_EXPLORE_MACHINE_H_
