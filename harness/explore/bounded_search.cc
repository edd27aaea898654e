#include "harness/explore/bounded_search.h"

namespace holdfast::explore {
namespace {

// What makes an execution distinct: what its reads read, its choices, and the order of the writes of each location.
std::uint64_t HashOfExecution(const Graph& graph) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  for (std::uint16_t thread = 0; thread < kThreadsMax; ++thread) {
    add(graph.Size(thread));
    for (std::size_t index = 1; index <= graph.Size(thread); ++index) {
      const Event& event = graph.At({thread, static_cast<std::uint16_t>(index)});
      add(static_cast<std::uint64_t>(event.kind));
      add(event.location);
      add(event.modification_index);
      add(event.reads_from.IsInitial() ? 0 : event.reads_from.thread + std::uint64_t{1});
      add(event.reads_from.index);
      add(event.kind == EventKind::kChoice ? event.value_read : 0);
      add(event.is_spurious ? 1 : 0);
    }
  }
  return hash;
}

}  // namespace

std::size_t BoundedSearch::Decide(std::size_t count) {
  if (depth_ == decisions_.size()) {
    decisions_.push_back({count, 0});
  }
  return decisions_[depth_++].taken;
}

// The next run in depth-first order; false after the last one.
bool BoundedSearch::Advance() {
  decisions_.resize(depth_);
  while (!decisions_.empty() && ++decisions_.back().taken == decisions_.back().count) {
    decisions_.pop_back();
  }
  return !decisions_.empty();
}

Certificate BoundedSearch::Run(const SearchBounds& bounds, const Exhaustive::Visit& visit) {
  Certificate certificate;
  decisions_.clear();
  seen_.clear();
  runs_ = 0;
  do {
    depth_ = 0;
    run_.Run(*this);
    ++runs_;
    if (bounds.should_stop && bounds.should_stop()) {
      return certificate;
    }
    Execution& execution = run_.execution();
    if (!seen_.insert(HashOfExecution(execution.graph())).second) {
      continue;
    }
    const bool has_finding = execution.finding().has_value();
    const bool is_fault = has_finding && IsFault(execution.finding()->verdict);
    certificate.executions += has_finding && !is_fault ? 0 : 1;
    certificate.faults += has_finding ? 1 : 0;
    if (!visit(execution) || certificate.faults >= bounds.faults_max ||
        certificate.executions >= bounds.executions_max || (has_finding && !is_fault)) {
      return certificate;
    }
  } while (Advance());
  certificate.is_complete = true;
  return certificate;
}

}  // namespace holdfast::explore
