// An execution as a graph: the events of each thread in their order, which write each read reads from, and for each
// location the order of its writes. What RC11 says of executions is computed here and nowhere else.
//
// Source: Lahav, Vafeiadis, Kang, Hur, Dreyer, "Repairing Sequential Consistency in C/C++11" (PLDI 2017), with the
// release sequences of C++20 (read-modify-writes alone go on with one). A read-modify-write is one event here.
// Reads from what has not run yet (load buffering) do not exist: program order and reads-from together have no cycle.
#ifndef HOLDFAST_HARNESS_EXPLORE_GRAPH_H_
#define HOLDFAST_HARNESS_EXPLORE_GRAPH_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "harness/explore/clock.h"
#include "harness/scenario/source_place.h"

namespace holdfast::explore {

enum class EventKind : std::uint8_t { kRead, kWrite, kReadModifyWrite, kFence, kChoice };

// What an event is, before anything is known of what comes before it.
struct Label {
  EventKind kind = EventKind::kFence;
  // A read that has to wait for another value: its thread goes no further.
  bool is_waiting = false;
  bool is_spurious = false;  // a weak compare-exchange that failed although it need not have
  bool is_spinning = false;  // waits because its thread would go round in a loop and change nothing
  std::memory_order order = std::memory_order_relaxed;
  std::uint16_t location = 0;            // of accesses
  std::uint16_t modification_index = 0;  // of writes: the place among the writes of the location, from 1
  EventId reads_from;                    // of reads
  std::uint16_t spins_since = 0;         // of a read that spins: the event with which the round before began
  std::uint32_t stamp = 0;               // events were added in this order
  std::uint64_t value_read = 0;          // of a choice: the alternative taken
  std::uint64_t value_written = 0;       // of a choice: how many alternatives there were
  harness::SourcePlace place{"", 0};

  bool Reads() const { return kind == EventKind::kRead || kind == EventKind::kReadModifyWrite; }
  bool Writes() const { return kind == EventKind::kWrite || kind == EventKind::kReadModifyWrite; }
  bool IsSequentiallyConsistent() const { return order == std::memory_order_seq_cst; }
};

struct Event : Label {
  Event() = default;

  // Knows what the one before it in its thread knows; null for the first one.
  explicit Event(const Event* previous) {
    if (previous != nullptr) {
      happens_before = previous->happens_before;
      causal = previous->causal;
      pending = previous->pending;
      release_fence = previous->release_fence;
    }
  }

  Clock happens_before;  // what happens before the event, itself included
  Clock causal;          // program order and reads-from, itself included
  Clock message;         // of writes: what who acquires from it gets to know
  Clock pending;         // what an acquire fence would get to know
  Clock release_fence;   // what happened before the last release fence
};

// An event on a location.
struct Access {
  EventId id;
  std::uint16_t modification_index;  // of the write that it is, or that it reads
};

// Copies are cheap enough to keep one for each alternative: a few flat arrays.
class Graph {
 public:
  // How many events a thread has.
  std::size_t Size(std::size_t thread) const { return threads_[thread].size(); }
  std::size_t SizeOfAll() const;
  EventId LastOf(std::size_t thread) const {
    return {static_cast<std::uint16_t>(thread), static_cast<std::uint16_t>(Size(thread))};
  }
  const Event& At(EventId id) const { return threads_[id.thread][id.index - 1u]; }
  Event& At(EventId id) { return threads_[id.thread][id.index - 1u]; }

  // The writes of a location in their order, the initial one left out; and all its events.
  const std::vector<EventId>& Writes(std::uint16_t location) const { return LocationAt(location).writes; }
  const std::vector<Access>& Accesses(std::uint16_t location) const { return LocationAt(location).accesses; }

  // The place of a write (or of the initial one, 0) in the order of its location.
  std::size_t ModificationIndex(EventId write) const { return write.IsInitial() ? 0 : At(write).modification_index; }

  // What happens before the next event of a thread.
  const Clock& HappensBefore(std::size_t thread) const;

  // The first write, in the order of the location, that the next read of `thread` may read from; also the place after
  // which its next write may go.
  std::size_t FirstReadable(std::size_t thread, std::uint16_t location) const;

  // The read-modify-write that reads from a write, if there is one. Its id is initial if not.
  EventId ReadModifyWriteOf(std::uint16_t location, std::size_t modification_index) const;

  // Adds an event at the end of a thread; a write goes into the order of its location right after the one of index
  // `after`.
  void Add(std::size_t thread, const Label& label, std::size_t after) {
    Extend(thread) = label;
    Link(thread, after);
  }

  // The same in two steps, without a copy: between them the caller fills in the label.
  Label& Extend(std::size_t thread);
  void Link(std::size_t thread, std::size_t after);

  // Keeps so many events of each thread. REQUIRES: nothing kept reads from what goes.
  void Truncate(const std::array<std::size_t, kThreadsMax>& sizes);

  // Whether the accesses and fences that are sequentially consistent can be put into one order (acyclic psc).
  // The other axioms hold by the way that events are added.
  bool HasSequentialOrder() const;

  void Clear();

 private:
  struct Location {
    std::vector<EventId> writes;
    std::vector<Access> accesses;
  };

  static const Location kUntouched;

  // Allocates nothing: programs come here by their checks and destructors, while what is allocated is theirs.
  const Location& LocationAt(std::uint16_t location) const {
    return location < locations_.size() ? locations_[location] : kUntouched;
  }
  Location& LocationAt(std::uint16_t location);
  void InsertWrite(EventId write, std::size_t after);
  void Renumber(Location& location);
  bool AreOrdered(EventId before, EventId after) const;
  bool IsBeforeInSequentialBase(EventId before, EventId after) const;
  bool IsBeforeBetweenFences(EventId before, EventId after) const;
  bool IsSequentiallyBefore(EventId before, EventId after) const;

  // Whether a pair of events is as asked.
  template <typename Predicate>
  bool AnyPair(Predicate predicate) const;

  std::array<std::vector<Event>, kThreadsMax> threads_;
  std::vector<Location> locations_;
  std::size_t sequential_count_ = 0;
};

bool HasAcquire(std::memory_order order);
bool HasRelease(std::memory_order order);

}  // namespace holdfast::explore

#endif  // HOLDFAST_HARNESS_EXPLORE_GRAPH_H_
