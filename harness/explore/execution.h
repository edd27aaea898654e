// One execution as it comes to be: the graph so far, and the machine whose threads have come as far.
#ifndef HOLDFAST_HARNESS_EXPLORE_EXECUTION_H_
#define HOLDFAST_HARNESS_EXPLORE_EXECUTION_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/explore/graph.h"
#include "harness/explore/machine.h"
#include "harness/explore/program.h"

namespace holdfast::explore {

// One way for a pending operation to become an event.
struct Option {
  EventId reads_from{};           // of reads
  std::uint16_t after = 0;        // of plain stores: the place in the order of writes
  std::uint16_t alternative = 0;  // of choices
  bool fails_spuriously = false;
  // Two read-modify-writes would read one write: only for searches that undo the other one.
  bool breaks_atomicity = false;
};

// One memory order of the code under exploration taken as a weaker one, without compiling it anew.
struct Weakening {
  std::string file;  // as places have it, or the end of it
  unsigned line = 0;
  std::memory_order from = std::memory_order_seq_cst;  // which of the orders that are named on the line
  std::memory_order to = std::memory_order_relaxed;
};

struct Limits {
  std::size_t events_of_a_thread_max = 2000;
  std::size_t spurious_failures_max = 1;
  bool sequential_consistency = false;  // every access as if it were seq_cst
  std::optional<Weakening> weakening = std::nullopt;
};

class Execution {
 public:
  Execution(Machine& machine, const Program& program, const Limits& limits);

  // Starts anew, with nothing executed.
  void Begin();

  // Starts anew and runs the threads through a graph that this program led to before.
  void Restore(const Graph& graph, std::uint32_t next_stamp);

  const Graph& graph() const { return graph_; }
  Machine& machine() { return machine_; }
  const Machine& machine() const { return machine_; }
  std::uint32_t next_stamp() const { return next_stamp_; }
  std::uint32_t TakeStamp() { return next_stamp_++; }

  bool IsRunnable(std::size_t thread) const { return machine_.StateOf(thread) == Machine::ThreadState::kReady; }

  // All ways for the thread's pending operation, the one that comes last in the order of its location first. With
  // `all`, those that break atomicity too. Not yet judged by HasSequentialOrder.
  const std::vector<Option>& OptionsOf(std::size_t thread, bool all);

  // The first of them, without a list. REQUIRES: the operation does not wait.
  Option UsualOption(std::size_t thread) const {
    const Operation& operation = machine_.PendingOf(thread);
    Option option;
    if (operation.kind != EventKind::kFence && operation.kind != EventKind::kChoice) {
      const std::vector<EventId>& writes = graph_.Writes(operation.location);
      option.after = static_cast<std::uint16_t>(writes.size());
      if (operation.kind != EventKind::kWrite && !writes.empty()) {
        option.reads_from = writes.back();
      }
    }
    return option;
  }

  // Whether the pending operation is a weak compare-exchange that would succeed with the option, and may yet fail.
  bool MayFailSpuriously(std::size_t thread, const Option& option) const;

  // Whether the thread would wait if it took the option.
  bool WouldWait(std::size_t thread, const Option& option) const {
    Label outcome;
    Evaluate(machine_.PendingOf(thread), option, outcome);
    return outcome.is_waiting;
  }

  // Adds the event. False if the graph is not consistent now: then nothing more can be done with this execution.
  // The thread has not run on: RunOn does that.
  bool Append(std::size_t thread, const Option& option, std::uint32_t stamp);

  // Lets the thread that Append was last called for run up to its next operation.
  void RunOn(std::size_t thread) {
    const Event& event = graph_.At(graph_.LastOf(thread));
    if (event.is_waiting) {
      machine_.Wait(thread);
    } else {
      machine_.Complete(thread, {event.value_read, event.Writes()});
    }
  }

  // Takes back what Append did. REQUIRES: RunOn was not called.
  void TakeBack(std::size_t thread);

  // Nothing can run any more. Runs the checks; says what is wrong, if anything is; false if a thread waits for
  // what in this execution it could have seen already, so that the execution says nothing.
  bool Finish();

  const std::optional<Finding>& finding() const { return machine_.finding(); }

  std::uint64_t ValueOf(std::uint16_t location, EventId write) const {
    return write.IsInitial() ? machine_.InitialValue(location) : graph_.At(write).value_written;
  }

 private:
  std::memory_order OrderOf(std::memory_order order, const harness::SourcePlace& place) const;
  void Evaluate(const Operation& operation, const Option& option, Label& outcome) const;
  bool RestoreNext(std::size_t thread);
  bool IsTheSame(std::size_t thread, const Event& event) const;
  std::uint16_t NoteLook(std::size_t thread, std::size_t executed, const Label& label);
  std::size_t FirstOfReads(std::size_t thread, std::size_t executed) const;
  bool ReadsTheLast(const Label& read) const;
  bool ReadsSomethingOld(std::size_t thread) const;
  void AddReads(std::size_t thread, const Operation& operation, bool all);

  Machine& machine_;
  const Program& program_;
  const Limits limits_;
  Graph graph_;
  std::uint32_t next_stamp_ = 1;
  std::size_t spurious_failures_ = 0;
  std::vector<Option> options_;

  // Of each thread, of reads that repeat an earlier one: what memory looked like before them.
  struct Look {
    std::size_t index;
    std::uint64_t hash;
  };
  std::array<std::vector<Look>, kThreadsMax> looks_;
};

}  // namespace holdfast::explore

#endif  // HOLDFAST_HARNESS_EXPLORE_EXECUTION_H_
