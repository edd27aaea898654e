#include "harness/explore/graph.h"

#include <algorithm>

namespace holdfast::explore {

bool HasAcquire(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_consume ||
         order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

bool HasRelease(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

std::size_t Graph::SizeOfAll() const {
  std::size_t size = 0;
  for (const std::vector<Event>& events : threads_) {
    size += events.size();
  }
  return size;
}

const Clock& Graph::HappensBefore(std::size_t thread) const {
  static const Clock kNothing;
  return threads_[thread].empty() ? kNothing : threads_[thread].back().happens_before;
}

const Graph::Location Graph::kUntouched;

Graph::Location& Graph::LocationAt(std::uint16_t location) {
  if (location >= locations_.size()) {
    locations_.resize(location + std::size_t{1});
  }
  return locations_[location];
}

// Coherence: whatever happens before the next event and writes the location or read a write of it is not older.
std::size_t Graph::FirstReadable(std::size_t thread, std::uint16_t location) const {
  const Clock& known = HappensBefore(thread);
  std::size_t first = 0;
  for (const Access& access : Accesses(location)) {
    // Without a branch, which nobody could foretell.
    first = std::max<std::size_t>(first, known.Includes(access.id) ? access.modification_index : 0);
  }
  return first;
}

EventId Graph::ReadModifyWriteOf(std::uint16_t location, std::size_t modification_index) const {
  const std::vector<EventId>& writes = Writes(location);
  if (modification_index < writes.size()) {
    const Event& next = At(writes[modification_index]);
    if (next.kind == EventKind::kReadModifyWrite && ModificationIndex(next.reads_from) == modification_index) {
      return writes[modification_index];
    }
  }
  return {};
}

Label& Graph::Extend(std::size_t thread) {
  std::vector<Event>& events = threads_[thread];
  return events.emplace_back(events.empty() ? nullptr : &events.back());
}

void Graph::Link(std::size_t thread, std::size_t after) {
  const EventId id = LastOf(thread);
  Event& event = At(id);
  event.happens_before.counts[thread] = event.causal.counts[thread] = id.index;
  // A read that waits has not happened yet: it orders nothing.
  if (event.is_waiting) {
    event.order = std::memory_order_relaxed;
  }
  if (event.Reads() && !event.reads_from.IsInitial()) {
    const Event& write = At(event.reads_from);
    event.causal.Join(write.causal);
    if (!event.is_waiting) {
      (HasAcquire(event.order) ? event.happens_before : event.pending).Join(write.message);
    }
    if (event.kind == EventKind::kReadModifyWrite) {
      event.message = write.message;
    }
  }
  if (event.kind == EventKind::kFence) {
    if (HasAcquire(event.order)) {
      event.happens_before.Join(event.pending);
    }
    if (HasRelease(event.order)) {
      event.release_fence = event.happens_before;
    }
  }
  if (event.Writes()) {
    event.message.Join(HasRelease(event.order) ? event.happens_before : event.release_fence);
    InsertWrite(id, after);
    LocationAt(event.location).accesses.push_back({id, event.modification_index});
  } else if (event.Reads()) {
    const auto index = static_cast<std::uint16_t>(ModificationIndex(event.reads_from));
    LocationAt(event.location).accesses.push_back({id, index});
  }
  sequential_count_ += event.IsSequentiallyConsistent() && event.kind != EventKind::kChoice ? 1 : 0;
}

void Graph::InsertWrite(EventId write, std::size_t after) {
  Event& event = At(write);
  Location& location = LocationAt(event.location);
  event.modification_index = static_cast<std::uint16_t>(after + 1);
  if (after < location.writes.size()) {
    for (std::size_t later = after; later < location.writes.size(); ++later) {
      ++At(location.writes[later]).modification_index;
    }
    for (Access& access : location.accesses) {
      access.modification_index += access.modification_index > after ? 1 : 0;
    }
  }
  location.writes.insert(location.writes.begin() + static_cast<std::ptrdiff_t>(after), write);
}

// After writes of the location have gone.
void Graph::Renumber(Location& location) {
  for (std::size_t index = 0; index < location.writes.size(); ++index) {
    At(location.writes[index]).modification_index = static_cast<std::uint16_t>(index + 1);
  }
  for (Access& access : location.accesses) {
    const Event& event = At(access.id);
    access.modification_index =
        static_cast<std::uint16_t>(ModificationIndex(event.Writes() ? access.id : event.reads_from));
  }
}

void Graph::Truncate(const std::array<std::size_t, kThreadsMax>& sizes) {
  const auto goes = [&sizes](EventId id) { return id.index > sizes[id.thread]; };
  for (Location& location : locations_) {
    std::erase_if(location.accesses, [&](const Access& access) { return goes(access.id); });
    if (std::erase_if(location.writes, goes) != 0) {
      Renumber(location);
    }
  }
  sequential_count_ = 0;
  for (std::size_t thread = 0; thread < kThreadsMax; ++thread) {
    threads_[thread].resize(std::min(sizes[thread], threads_[thread].size()));
    for (const Event& event : threads_[thread]) {
      sequential_count_ += event.IsSequentiallyConsistent() && event.kind != EventKind::kChoice ? 1 : 0;
    }
  }
}

void Graph::Clear() {
  for (std::vector<Event>& events : threads_) {
    events.clear();
  }
  for (Location& location : locations_) {
    location.writes.clear();
    location.accesses.clear();
  }
  sequential_count_ = 0;
}

bool Graph::AreOrdered(EventId before, EventId after) const {
  return !(before == after) && At(after).happens_before.Includes(before);
}

namespace {

bool AreOnOneLocation(const Event& left, const Event& right) {
  return left.kind != EventKind::kFence && right.kind != EventKind::kFence && left.kind != EventKind::kChoice &&
         right.kind != EventKind::kChoice && left.location == right.location;
}

// Choices and relaxed fences are events here, and none for the memory model.
bool OrdersNothing(const Event& event) {
  return event.kind == EventKind::kChoice ||
         (event.kind == EventKind::kFence && event.order == std::memory_order_relaxed);
}

}  // namespace

// scb of the paper: program order; happens-before between two steps to other locations; happens-before on one
// location; the order of the writes; from a read to the writes after the one that it reads.
bool Graph::IsBeforeInSequentialBase(EventId before, EventId after) const {
  if (before == after) {
    return false;
  }
  const Event& first = At(before);
  const Event& second = At(after);
  if (before.thread == after.thread && before.index < after.index) {
    return true;
  }
  if (AreOnOneLocation(first, second)) {
    if (AreOrdered(before, after)) {
      return true;
    }
    if (second.Writes()) {
      const std::size_t index = first.Writes() ? first.modification_index : ModificationIndex(first.reads_from);
      if (index < second.modification_index) {
        return true;
      }
    }
  }
  // The nearest event after the first one that is on another location, and the nearest before the second.
  EventId leaving = before;
  do {
    ++leaving.index;
  } while (leaving.index <= Size(leaving.thread) &&
           (AreOnOneLocation(first, At(leaving)) || OrdersNothing(At(leaving))));
  EventId arriving = after;
  do {
    --arriving.index;
  } while (arriving.index > 0 && (AreOnOneLocation(second, At(arriving)) || OrdersNothing(At(arriving))));
  return leaving.index <= Size(leaving.thread) && arriving.index > 0 && AreOrdered(leaving, arriving);
}

namespace {

// Extended coherence: reads-from, the order of the writes, and from reads to later writes, taken together.
bool IsCoherentlyBefore(const Graph& graph, const Event& first, const Event& second) {
  if (!AreOnOneLocation(first, second)) {
    return false;
  }
  const auto index = [&graph](const Event& event) -> std::size_t {
    return event.Writes() ? event.modification_index : graph.ModificationIndex(event.reads_from);
  };
  return first.Writes() && second.kind == EventKind::kRead ? index(first) <= index(second)
                                                           : index(first) < index(second);
}

}  // namespace

bool Graph::IsBeforeBetweenFences(EventId before, EventId after) const {
  if (AreOrdered(before, after)) {
    return true;
  }
  return AnyPair([&](EventId first, EventId second) {
    return AreOrdered(before, first) && AreOrdered(second, after) && IsCoherentlyBefore(*this, At(first), At(second));
  });
}

bool Graph::IsSequentiallyBefore(EventId before, EventId after) const {
  const bool from_fence = At(before).kind == EventKind::kFence;
  const bool to_fence = At(after).kind == EventKind::kFence;
  if (IsBeforeInSequentialBase(before, after)) {
    return true;
  }
  if (from_fence && to_fence && IsBeforeBetweenFences(before, after)) {
    return true;
  }
  if (!from_fence && !to_fence) {
    return false;
  }
  return AnyPair([&](EventId first, EventId second) {
    return (first == before || (from_fence && AreOrdered(before, first))) &&
           (second == after || (to_fence && AreOrdered(second, after))) && IsBeforeInSequentialBase(first, second);
  });
}

template <typename Predicate>
bool Graph::AnyPair(Predicate predicate) const {
  for (std::size_t thread = 0; thread < kThreadsMax; ++thread) {
    for (std::size_t index = 1; index <= Size(thread); ++index) {
      const EventId first{static_cast<std::uint16_t>(thread), static_cast<std::uint16_t>(index)};
      for (std::size_t other = 0; other < kThreadsMax; ++other) {
        for (std::size_t second = 1; second <= Size(other); ++second) {
          if (predicate(first, EventId{static_cast<std::uint16_t>(other), static_cast<std::uint16_t>(second)})) {
            return true;
          }
        }
      }
    }
  }
  return false;
}

bool Graph::HasSequentialOrder() const {
  if (sequential_count_ < 2) {
    return true;
  }
  std::vector<EventId> events;
  for (std::size_t thread = 0; thread < kThreadsMax; ++thread) {
    for (std::size_t index = 1; index <= Size(thread); ++index) {
      const EventId id{static_cast<std::uint16_t>(thread), static_cast<std::uint16_t>(index)};
      if (At(id).IsSequentiallyConsistent() && At(id).kind != EventKind::kChoice) {
        events.push_back(id);
      }
    }
  }
  // What has nothing before it comes first, then what is freed by it: what is left over is on a cycle or behind one.
  std::vector<std::size_t> waits_for(events.size(), 0);
  std::vector<std::vector<std::size_t>> followers(events.size());
  for (std::size_t first = 0; first < events.size(); ++first) {
    for (std::size_t second = 0; second < events.size(); ++second) {
      if (first != second && IsSequentiallyBefore(events[first], events[second])) {
        followers[first].push_back(second);
        ++waits_for[second];
      }
    }
  }
  std::vector<std::size_t> free;
  for (std::size_t event = 0; event < events.size(); ++event) {
    if (waits_for[event] == 0) {
      free.push_back(event);
    }
  }
  std::size_t ordered = 0;
  while (!free.empty()) {
    const std::size_t event = free.back();
    free.pop_back();
    ++ordered;
    for (const std::size_t follower : followers[event]) {
      if (--waits_for[follower] == 0) {
        free.push_back(follower);
      }
    }
  }
  return ordered == events.size();
}

}  // namespace holdfast::explore
