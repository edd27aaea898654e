#include "harness/explore/exhaustive.h"

#include <algorithm>
#include <utility>

namespace holdfast::explore {

Exhaustive::Exhaustive(Machine& machine, const Program& program, const Limits& limits)
    : execution_(machine, program, limits) {}

Certificate Exhaustive::Run(const SearchBounds& bounds, const Visit& visit) {
  certificate_ = {};
  items_.clear();
  std::unique_ptr<Item> item;
  do {
    const bool has_ended = Explore(item.get());
    const bool has_finding = execution_.finding().has_value();
    const bool is_fault = has_finding && IsFault(execution_.finding()->verdict);
    if (item != nullptr) {
      spare_.push_back(std::move(item));
    }
    if (has_ended || has_finding) {
      certificate_.executions += has_finding && !is_fault ? 0 : 1;
      certificate_.faults += has_finding ? 1 : 0;
      if (!visit(execution_) || certificate_.faults >= bounds.faults_max ||
          certificate_.executions >= bounds.executions_max || (has_finding && !is_fault)) {
        certificate_.is_complete = items_.empty() && (!has_finding || is_fault);
        return certificate_;
      }
    }
    if (items_.empty()) {
      break;
    }
    if (bounds.should_stop && bounds.should_stop()) {
      return certificate_;
    }
    item = std::move(items_.back());
    items_.pop_back();
  } while (true);
  certificate_.is_complete = true;
  return certificate_;
}

// Takes one execution to its end, leaving the alternatives for later. False if it says nothing.
bool Exhaustive::Explore(const Item* item) {
  if (item == nullptr) {
    execution_.Begin();
  } else {
    execution_.Restore(item->graph, item->next_stamp);
    if (execution_.finding()) {
      return true;
    }
    PostponeSpuriousFailure(*item);
    if (!Take(item->thread, item->option, item->stamp, item->looks_back)) {
      ++certificate_.inconsistent;
      return false;
    }
  }
  while (!execution_.finding()) {
    std::size_t thread = 0;
    while (thread < execution_.machine().thread_count() && !execution_.IsRunnable(thread)) {
      ++thread;
    }
    if (thread == execution_.machine().thread_count()) {
      if (execution_.Finish()) {
        return true;
      }
      ++certificate_.blocked;
      return false;
    }
    if (!Step(thread)) {
      ++certificate_.inconsistent;
      return false;
    }
  }
  return true;
}

// A weak compare-exchange that reads again may fail all the same.
void Exhaustive::PostponeSpuriousFailure(const Item& item) {
  if (item.stamp == 0 || item.option.fails_spuriously || !execution_.IsRunnable(item.thread)) {
    return;
  }
  if (execution_.MayFailSpuriously(item.thread, item.option)) {
    std::unique_ptr<Item> failing = NewItem();
    *failing = item;
    failing->option.fails_spuriously = true;
    items_.push_back(std::move(failing));
  }
}

bool Exhaustive::Step(std::size_t thread) {
  const std::vector<Option> options = execution_.OptionsOf(thread, true);
  const bool is_store = execution_.machine().PendingOf(thread).kind == EventKind::kWrite;
  for (std::size_t other = options.size(); other-- > 1;) {
    // What a store undoes does not depend on its place; what a read-modify-write undoes depends on what it reads.
    Postpone(thread, options[other], !is_store);
  }
  return Take(thread, options[0], 0, true);
}

void Exhaustive::Postpone(std::size_t thread, const Option& option, bool looks_back) {
  std::unique_ptr<Item> item = NewItem();
  item->graph = execution_.graph();
  item->next_stamp = execution_.next_stamp();
  item->thread = thread;
  item->option = option;
  item->stamp = 0;
  item->looks_back = looks_back;
  items_.push_back(std::move(item));
}

bool Exhaustive::Take(std::size_t thread, const Option& option, std::uint32_t stamp, bool looks_back) {
  if (stamp == 0) {
    stamp = execution_.TakeStamp();
  }
  const bool is_consistent = execution_.Append(thread, option, stamp);
  if (execution_.finding()) {
    return true;
  }
  const Event& event = execution_.graph().At(execution_.graph().LastOf(thread));
  if (event.Writes() && looks_back) {
    LookBack(thread);
  }
  if (!is_consistent) {
    return false;
  }
  execution_.RunOn(thread);
  return true;
}

// Every earlier read that the newest write of `thread` does not depend on could have read it.
void Exhaustive::LookBack(std::size_t thread) {
  const Graph& graph = execution_.graph();
  const EventId write = graph.LastOf(thread);
  for (const auto& [access, index] : graph.Accesses(graph.At(write).location)) {
    if (!(access == write) && graph.At(access).Reads() && !graph.At(write).causal.Includes(access)) {
      Revisit(access, write);
    }
  }
}

// Whether an event was added as the search adds it by itself, were there nothing but what came before it and what
// leads to the write: then this is the one execution out of those that differ in it from which to go on.
bool Exhaustive::MayBeUndone(EventId id, const Clock& causes) const {
  const Graph& graph = execution_.graph();
  const Event& event = graph.At(id);
  if (event.kind == EventKind::kFence) {
    return true;
  }
  if (event.kind == EventKind::kChoice) {
    return event.value_read == 0;
  }
  if (event.is_spurious) {
    return false;
  }
  const auto is_earlier = [&](EventId other) {
    return other.IsInitial() || causes.Includes(other) || graph.At(other).stamp <= event.stamp;
  };
  if (event.Reads() && !is_earlier(event.reads_from)) {
    return false;
  }
  const std::size_t index = event.Reads() ? graph.ModificationIndex(event.reads_from) : event.modification_index;
  for (const Access& access : graph.Accesses(event.location)) {
    if (access.id == id || !is_earlier(access.id)) {
      continue;
    }
    const Event& earlier = graph.At(access.id);
    if (earlier.Reads() && event.Writes() && earlier.reads_from == id) {
      return false;
    }
    if (earlier.Writes() && earlier.modification_index > index) {
      return false;
    }
  }
  return true;
}

void Exhaustive::Revisit(EventId read, EventId write) {
  const Graph& graph = execution_.graph();
  // The write itself is what leads to it, but for the question what was there before it.
  Clock causes = graph.At(write).causal;
  causes.counts[write.thread] = static_cast<std::uint16_t>(write.index - 1);
  const std::uint32_t stamp = graph.At(read).stamp;
  std::array<std::size_t, kThreadsMax> kept{};
  for (std::size_t thread = 0; thread < kThreadsMax; ++thread) {
    kept[thread] = causes.counts[thread];
    for (std::size_t index = kept[thread] + 1; index <= graph.Size(thread); ++index) {
      const EventId event{static_cast<std::uint16_t>(thread), static_cast<std::uint16_t>(index)};
      if (event == write) {
        break;
      }
      if (graph.At(event).stamp < stamp) {
        kept[thread] = index;
      } else if (!MayBeUndone(event, causes)) {
        return;
      }
    }
  }
  kept[write.thread] = write.index - std::size_t{1};
  PostponeRevisit(read, write, kept);
}

// The write in each place that it may have now that only `kept` events of each thread are left beside it.
void Exhaustive::PostponeRevisit(EventId read, EventId write, const std::array<std::size_t, kThreadsMax>& kept) {
  const Event& event = execution_.graph().At(write);
  Graph without = execution_.graph();
  without.Truncate(kept);
  const bool is_store = event.kind == EventKind::kWrite;
  const std::size_t last =
      is_store ? without.Writes(event.location).size() : without.ModificationIndex(event.reads_from);
  const std::size_t first = is_store ? without.FirstReadable(write.thread, event.location) : last;
  for (std::size_t after = first; after <= last; ++after) {
    if (!without.ReadModifyWriteOf(event.location, after).IsInitial()) {
      continue;
    }
    std::unique_ptr<Item> item = NewItem();
    item->graph = without;
    item->graph.Add(write.thread, event, after);
    if (item->graph.FirstReadable(read.thread, event.location) > after + 1) {
      spare_.push_back(std::move(item));
      continue;
    }
    item->next_stamp = execution_.next_stamp();
    item->thread = read.thread;
    item->option = {.reads_from = write, .after = static_cast<std::uint16_t>(after + 1)};
    item->stamp = execution_.graph().At(read).stamp;
    item->looks_back = true;
    items_.push_back(std::move(item));
  }
}

std::unique_ptr<Exhaustive::Item> Exhaustive::NewItem() {
  if (spare_.empty()) {
    return std::make_unique<Item>();
  }
  std::unique_ptr<Item> item = std::move(spare_.back());
  spare_.pop_back();
  return item;
}

}  // namespace holdfast::explore
