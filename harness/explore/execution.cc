#include "harness/explore/execution.h"

#include <string>
#include <string_view>

namespace holdfast::explore {

Execution::Execution(Machine& machine, const Program& program, const Limits& limits)
    : machine_(machine), program_(program), limits_(limits) {}

void Execution::Begin() {
  graph_.Clear();
  next_stamp_ = 1;
  spurious_failures_ = 0;
  for (std::vector<Look>& looks : looks_) {
    looks.clear();
  }
  machine_.Begin(program_, graph_);
}

void Execution::Restore(const Graph& graph, std::uint32_t next_stamp) {
  Begin();
  graph_ = graph;
  next_stamp_ = next_stamp;
  bool has_moved = true;
  while (has_moved && !finding()) {
    has_moved = false;
    for (std::size_t thread = 0; thread < machine_.thread_count() && !finding(); ++thread) {
      while (!finding() && RestoreNext(thread)) {
        has_moved = true;
      }
    }
  }
}

// Whether what the thread is about to do is what it did before.
bool Execution::IsTheSame(std::size_t thread, const Event& event) const {
  const Operation& operation = machine_.PendingOf(thread);
  Option option;
  option.reads_from = event.reads_from;
  option.alternative = static_cast<std::uint16_t>(event.value_read);
  option.fails_spuriously = event.is_spurious;
  const bool has_location = event.Reads() || event.Writes();
  if (has_location && operation.location != event.location) {
    return false;
  }
  Label outcome;
  Evaluate(operation, option, outcome);
  return outcome.kind == event.kind && outcome.value_read == event.value_read &&
         outcome.value_written == event.value_written;
}

// False if the thread has come as far as the graph, or has to wait for another to come to what it reads.
bool Execution::RestoreNext(std::size_t thread) {
  const std::size_t executed = machine_.Executed(thread);
  if (executed == graph_.Size(thread)) {
    return false;
  }
  const Event& event = graph_.At({static_cast<std::uint16_t>(thread), static_cast<std::uint16_t>(executed + 1)});
  if (event.Reads() && machine_.Executed(event.reads_from.thread) < event.reads_from.index) {
    return false;
  }
  if (!IsRunnable(thread) || !IsTheSame(thread, event)) {
    machine_.Report(Verdict::kNotDeterministic, "thread " + machine_.NameOfThread(thread) +
                                                    " did something else than before, given the same values (" +
                                                    event.place.Text() + "): it depends on addresses, time or chance");
    return false;
  }
  spurious_failures_ += event.is_spurious ? 1 : 0;
  if (event.kind == EventKind::kRead && !event.is_waiting) {
    NoteLook(thread, executed, event);
  }
  if (event.is_waiting) {
    machine_.Wait(thread);
  } else {
    machine_.Complete(thread, {event.value_read, event.Writes()});
  }
  return true;
}

// The order that an operation has in this search.
std::memory_order Execution::OrderOf(std::memory_order order, const harness::SourcePlace& place) const {
  if (limits_.sequential_consistency) {
    return std::memory_order_seq_cst;
  }
  const std::optional<Weakening>& weakening = limits_.weakening;
  if (weakening && weakening->line == place.line && weakening->from == order) {
    const std::string_view file = place.file;
    const std::string_view end = weakening->file;
    if (file.size() >= end.size() && file.substr(file.size() - end.size()) == end) {
      return weakening->to;
    }
  }
  return order;
}

// What the operation would be with an option: kind, order, values, and whether it would wait.
void Execution::Evaluate(const Operation& operation, const Option& option, Label& outcome) const {
  outcome.kind = operation.kind;
  outcome.order = operation.order;
  switch (operation.kind) {
    case EventKind::kFence:
      break;
    case EventKind::kChoice:
      outcome.value_read = option.alternative;
      outcome.value_written = operation.operand;
      break;
    case EventKind::kWrite:
      outcome.value_written = operation.operand;
      break;
    case EventKind::kRead:
    case EventKind::kReadModifyWrite:
      outcome.value_read = ValueOf(operation.location, option.reads_from);
      if (operation.transform == nullptr) {
        outcome.value_written = operation.operand;
      } else if (option.fails_spuriously || !operation.transform(outcome.value_read, operation.operand,
                                                                 operation.expected, &outcome.value_written)) {
        outcome.kind = EventKind::kRead;
        outcome.order = operation.failure_order;
        outcome.is_waiting = operation.waits;
      }
      if (outcome.kind == EventKind::kRead) {
        outcome.value_written = 0;
      }
      break;
  }
  outcome.order = OrderOf(outcome.order, operation.place);
}

const std::vector<Option>& Execution::OptionsOf(std::size_t thread, bool all) {
  options_.clear();
  const Operation& operation = machine_.PendingOf(thread);
  switch (operation.kind) {
    case EventKind::kFence:
      options_.push_back({});
      break;
    case EventKind::kChoice:
      for (std::uint16_t alternative = 0; alternative < operation.operand; ++alternative) {
        options_.push_back({.alternative = alternative});
      }
      break;
    case EventKind::kWrite: {
      const std::size_t first = graph_.FirstReadable(thread, operation.location);
      for (std::size_t after = graph_.Writes(operation.location).size() + 1; after-- > first;) {
        if (graph_.ReadModifyWriteOf(operation.location, after).IsInitial()) {
          options_.push_back({.after = static_cast<std::uint16_t>(after)});
        }
      }
      break;
    }
    case EventKind::kRead:
    case EventKind::kReadModifyWrite:
      AddReads(thread, operation, all);
      break;
  }
  return options_;
}

void Execution::AddReads(std::size_t thread, const Operation& operation, bool all) {
  const std::vector<EventId>& writes = graph_.Writes(operation.location);
  const std::size_t first = graph_.FirstReadable(thread, operation.location);
  for (std::size_t index = writes.size() + 1; index-- > first;) {
    const EventId write = index == 0 ? EventId{} : writes[index - 1];
    Option option{.reads_from = write, .after = static_cast<std::uint16_t>(index)};
    if (operation.kind == EventKind::kRead && operation.transform == nullptr) {
      options_.push_back(option);  // whatever the value is
      continue;
    }
    Label outcome;
    Evaluate(operation, option, outcome);
    if (outcome.is_waiting && index != writes.size()) {
      continue;  // to wait with an old value says nothing that waiting with the newest one does not
    }
    if (outcome.kind == EventKind::kReadModifyWrite) {
      option.breaks_atomicity = !graph_.ReadModifyWriteOf(operation.location, index).IsInitial();
    }
    if (all || !option.breaks_atomicity) {
      options_.push_back(option);
    }
    if (MayFailSpuriously(thread, option)) {
      options_.push_back({.reads_from = write, .fails_spuriously = true});
    }
  }
}

bool Execution::MayFailSpuriously(std::size_t thread, const Option& option) const {
  const Operation& operation = machine_.PendingOf(thread);
  if (!operation.may_fail_spuriously || spurious_failures_ >= limits_.spurious_failures_max) {
    return false;
  }
  Label outcome;
  Evaluate(operation, option, outcome);
  return outcome.kind == EventKind::kReadModifyWrite;
}

bool Execution::Append(std::size_t thread, const Option& option, std::uint32_t stamp) {
  const Operation& operation = machine_.PendingOf(thread);
  const std::size_t executed = graph_.Size(thread);
  Label& event = graph_.Extend(thread);
  Evaluate(operation, option, event);
  event.is_spurious = option.fails_spuriously;
  event.location = operation.location;
  event.place = operation.place;
  event.reads_from = option.reads_from;
  event.stamp = stamp;
  if (event.kind == EventKind::kRead && !event.is_waiting) {
    event.spins_since = NoteLook(thread, executed, event);
    event.is_waiting = event.is_spinning = event.spins_since != 0;
  }
  spurious_failures_ += event.is_spurious ? 1 : 0;
  graph_.Link(thread, option.after);
  if (graph_.Size(thread) > limits_.events_of_a_thread_max) {
    machine_.Report(Verdict::kTooManySteps, "thread " + machine_.NameOfThread(thread) + " has more than " +
                                                std::to_string(limits_.events_of_a_thread_max) +
                                                " operations, the last at " + event.place.Text() +
                                                ": a loop without a bound?");
    return false;
  }
  if (option.breaks_atomicity || (event.is_waiting && !event.is_spinning && !ReadsTheLast(event))) {
    return false;
  }
  return event.kind == EventKind::kChoice || graph_.HasSequentialOrder();
}

void Execution::TakeBack(std::size_t thread) {
  std::array<std::size_t, kThreadsMax> sizes{};
  for (std::size_t other = 0; other < kThreadsMax; ++other) {
    sizes[other] = graph_.Size(other);
  }
  const EventId last = graph_.LastOf(thread);
  spurious_failures_ -= graph_.At(last).is_spurious ? 1 : 0;
  --sizes[thread];
  graph_.Truncate(sizes);
  // Else the next try at this step would meet the look of this one and take it for an earlier round of a loop.
  std::erase_if(looks_[thread], [&](const Look& look) { return look.index >= sizes[thread]; });
}

// A thread that reads what it read before, with nothing written in between and memory, stack and registers as they
// were then, goes round in a loop; only a new value can end it. Returns the event with which the round before began; 0
// if it does not go round.
std::uint16_t Execution::NoteLook(std::size_t thread, std::size_t executed, const Label& label) {
  bool repeats = false;
  std::size_t index = executed;
  for (; index > 0 && !repeats; --index) {
    const Event& earlier = graph_.At({static_cast<std::uint16_t>(thread), static_cast<std::uint16_t>(index)});
    if (earlier.kind != EventKind::kRead) {
      break;
    }
    repeats = earlier.location == label.location && earlier.reads_from == label.reads_from &&
              earlier.place.line == label.place.line && earlier.place.file == label.place.file;
  }
  if (!repeats) {
    return 0;
  }
  const std::uint64_t hash = machine_.HashOfState(thread);
  for (const Look& look : looks_[thread]) {
    if (look.hash == hash && look.index <= executed && look.index > FirstOfReads(thread, executed)) {
      return static_cast<std::uint16_t>(look.index + 1);
    }
  }
  looks_[thread].push_back({executed, hash});
  return 0;
}

// How many events of the thread come before those last ones that only read.
std::size_t Execution::FirstOfReads(std::size_t thread, std::size_t executed) const {
  while (executed > 0 && graph_.At({static_cast<std::uint16_t>(thread), static_cast<std::uint16_t>(executed)}).kind ==
                             EventKind::kRead) {
    --executed;
  }
  return executed;
}

bool Execution::ReadsTheLast(const Label& read) const {
  return graph_.ModificationIndex(read.reads_from) == graph_.Writes(read.location).size();
}

// Whether one of the reads that the thread goes round in could read something newer.
bool Execution::ReadsSomethingOld(std::size_t thread) const {
  const auto size = static_cast<std::uint16_t>(graph_.Size(thread));
  const auto owner = static_cast<std::uint16_t>(thread);
  for (std::uint16_t index = graph_.At({owner, size}).spins_since; index < size; ++index) {
    if (!ReadsTheLast(graph_.At({owner, index}))) {
      return true;
    }
  }
  return false;
}

bool Execution::Finish() {
  bool may_all_wait = true;
  bool is_any_spinning = false;
  std::string who;
  for (std::size_t thread = 0; thread < machine_.thread_count(); ++thread) {
    if (machine_.StateOf(thread) != Machine::ThreadState::kWaiting) {
      continue;
    }
    const Event& event = graph_.At(graph_.LastOf(thread));
    if (event.is_spurious || !ReadsTheLast(event)) {
      return false;
    }
    if (event.is_spinning && ReadsSomethingOld(thread)) {
      return false;
    }
    if (!machine_.MayWaitForEver(thread)) {
      may_all_wait = false;
      is_any_spinning = is_any_spinning || event.is_spinning;
      who += (who.empty() ? "" : ", ") + machine_.NameOfThread(thread) + " at " + event.place.Text();
    }
  }
  if (!may_all_wait) {
    machine_.Report(is_any_spinning ? Verdict::kLivelock : Verdict::kDeadlock,
                    std::string(is_any_spinning ? "goes round for ever: " : "waits for ever: ") + who);
    return true;
  }
  machine_.RunChecks();
  return true;
}

}  // namespace holdfast::explore
