#include "tests/harness/explore/enumeration.h"

#include <utility>
#include <vector>

#include "tests/harness/explore/axioms.h"

namespace holdfast::explore {
namespace {

std::string Name(EventId id) {
  return id.IsInitial() ? "init" : std::to_string(id.thread) + "." + std::to_string(id.index);
}

std::string Describe(const Event& event) {
  switch (event.kind) {
    case EventKind::kFence:
      return "F";
    case EventKind::kChoice:
      return "C" + std::to_string(event.value_read);
    case EventKind::kWrite:
      return "W" + std::to_string(event.location);
    case EventKind::kRead:
    case EventKind::kReadModifyWrite:
      break;
  }
  return std::string(event.Writes() ? "U" : "R") + std::to_string(event.location) + "<" + Name(event.reads_from) +
         (event.is_spurious ? "!" : "") + (event.is_waiting ? "..." : "");
}

// One program's enumeration: a worklist of graphs, each met once however many ways of running lead to it.
class Enumeration {
 public:
  Enumeration(const Program& program, const Limits& limits, Judge judge)
      : execution_(machine_, program, limits), judge_(judge) {}

  std::set<std::string> Run() {
    worklist_.emplace_back(Graph(), 1);
    while (!worklist_.empty()) {
      const auto [graph, next_stamp] = std::move(worklist_.back());
      worklist_.pop_back();
      execution_.Restore(graph, next_stamp);
      bool is_over = true;
      for (std::size_t thread = 0; thread < machine_.thread_count() && !execution_.finding(); ++thread) {
        if (execution_.IsRunnable(thread)) {
          is_over = false;
          GoOn(thread);
        }
      }
      if (execution_.finding() || (is_over && execution_.Finish())) {
        complete_.insert(DescribeAll());
      }
    }
    return complete_;
  }

 private:
  void GoOn(std::size_t thread) {
    const std::uint32_t stamp = execution_.next_stamp();
    for (const Option& option : Options(thread)) {
      const bool explorer_agrees = execution_.Append(thread, option, stamp);
      const bool is_consistent =
          judge_ == Judge::kExplorer
              ? explorer_agrees
              : IsConsistent(execution_.graph(), machine_.location_count()) && !WaitsWithSomethingOld(thread);
      if (is_consistent && met_.insert(DescribeAll()).second) {
        worklist_.emplace_back(execution_.graph(), stamp + 1);
      }
      execution_.TakeBack(thread);
    }
  }

  std::vector<Option> Options(std::size_t thread) {
    const EventKind kind = machine_.PendingOf(thread).kind;
    if (judge_ == Judge::kExplorer || kind == EventKind::kFence || kind == EventKind::kChoice) {
      return execution_.OptionsOf(thread, false);
    }
    const std::vector<EventId>& writes = execution_.graph().Writes(machine_.PendingOf(thread).location);
    std::vector<Option> options;
    for (std::size_t after = 0; after <= writes.size(); ++after) {
      Option option;
      option.after = after;
      if (kind != EventKind::kWrite && after > 0) {
        option.reads_from = writes[after - 1];
      }
      options.push_back(option);
      if (kind == EventKind::kReadModifyWrite && execution_.MayFailSpuriously(thread, option)) {
        option.fails_spuriously = true;
        options.push_back(option);
      }
    }
    return options;
  }

  // That says nothing.
  bool WaitsWithSomethingOld(std::size_t thread) const {
    const Graph& graph = execution_.graph();
    const Event& event = graph.At({static_cast<std::uint16_t>(thread), static_cast<std::uint16_t>(graph.Size(thread))});
    return event.is_waiting && graph.ModificationIndex(event.reads_from) != graph.Writes(event.location).size();
  }

  std::string DescribeAll() const {
    return explore::Describe(execution_.graph(), machine_.thread_count(), machine_.location_count());
  }

  Machine machine_;
  Execution execution_;
  const Judge judge_;
  std::vector<std::pair<Graph, std::uint32_t>> worklist_;
  std::set<std::string> met_;
  std::set<std::string> complete_;
};

}  // namespace

std::string Describe(const Graph& graph, std::size_t thread_count, std::size_t location_count) {
  std::string text;
  for (std::uint16_t thread = 0; thread < thread_count; ++thread) {
    text += "| ";
    for (std::uint16_t index = 1; index <= graph.Size(thread); ++index) {
      text += Describe(graph.At({thread, index})) + " ";
    }
  }
  for (std::uint16_t location = 0; location < location_count; ++location) {
    text += "; " + std::to_string(location) + ":";
    for (const EventId write : graph.Writes(location)) {
      text += " " + Name(write);
    }
  }
  return text;
}

std::set<std::string> Enumerate(const Program& program, const Limits& limits, Judge judge) {
  return Enumeration(program, limits, judge).Run();
}

std::map<std::string, int> Search(const Program& program, const Limits& limits) {
  std::map<std::string, int> visited;
  Machine machine;
  Exhaustive search(machine, program, limits);
  SearchBounds bounds;
  bounds.faults_max = UINT64_MAX;
  search.Run(bounds, [&](const Execution& execution) {
    ++visited[Describe(execution.graph(), machine.thread_count(), machine.location_count())];
    return true;
  });
  return visited;
}

}  // namespace holdfast::explore
