#include "tests/harness/explore/axioms.h"

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace holdfast::explore {
namespace {

constexpr std::size_t kEventsMax = 32;

// A relation on events; bit `j` of row `i`: i is related to j.
class Relation {
 public:
  explicit Relation(std::size_t size) : rows_(size, 0) {}

  bool Has(std::size_t from, std::size_t to) const { return (rows_[from] >> to & 1u) != 0; }
  void Put(std::size_t from, std::size_t to) { rows_[from] |= std::uint32_t{1} << to; }
  std::size_t size() const { return rows_.size(); }

  bool IsIrreflexive() const {
    for (std::size_t event = 0; event < size(); ++event) {
      if (Has(event, event)) {
        return false;
      }
    }
    return true;
  }

  Relation Closed() const {
    Relation closed = *this;
    for (std::size_t middle = 0; middle < size(); ++middle) {
      for (std::size_t from = 0; from < size(); ++from) {
        if (closed.Has(from, middle)) {
          closed.rows_[from] |= closed.rows_[middle];
        }
      }
    }
    return closed;
  }

  Relation OrSame() const {
    Relation result = *this;
    for (std::size_t event = 0; event < size(); ++event) {
      result.Put(event, event);
    }
    return result;
  }

  // What of it a predicate of pairs keeps.
  template <typename Predicate>
  Relation Where(Predicate holds) const {
    Relation result(size());
    for (std::size_t from = 0; from < size(); ++from) {
      for (std::size_t to = 0; to < size(); ++to) {
        if (Has(from, to) && holds(from, to)) {
          result.Put(from, to);
        }
      }
    }
    return result;
  }

  friend Relation operator|(Relation left, const Relation& right) {
    for (std::size_t event = 0; event < left.size(); ++event) {
      left.rows_[event] |= right.rows_[event];
    }
    return left;
  }

  // First the one, then the other.
  friend Relation operator*(const Relation& left, const Relation& right) {
    Relation result(left.size());
    for (std::size_t from = 0; from < left.size(); ++from) {
      for (std::size_t middle = 0; middle < left.size(); ++middle) {
        if (left.Has(from, middle)) {
          result.rows_[from] |= right.rows_[middle];
        }
      }
    }
    return result;
  }

 private:
  std::vector<std::uint32_t> rows_;
};

// The names are those of the paper.
class Axioms {
 public:
  Axioms(const Graph& graph, std::size_t location_count) : graph_(graph) {
    for (std::uint16_t thread = 0; thread < kThreadsMax; ++thread) {
      for (std::uint16_t index = 1; index <= graph.Size(thread); ++index) {
        ids_.push_back({thread, index});
      }
    }
    if (ids_.size() > kEventsMax) {
      throw std::length_error("axioms: too many events");
    }
    place_.resize(ids_.size(), 0);
    for (std::size_t location = 0; location < location_count; ++location) {
      std::size_t place = 0;
      for (const EventId write : graph.Writes(static_cast<std::uint16_t>(location))) {
        place_[Find(write)] = ++place;
      }
    }
  }

  bool Hold() const {
    const Relation sb = All([this](std::size_t a, std::size_t b) {
      return ids_[a].thread == ids_[b].thread && ids_[a].index < ids_[b].index;
    });
    const Relation rf = All([this](std::size_t a, std::size_t b) {
      return At(b).Reads() && !At(b).reads_from.IsInitial() && At(b).reads_from == ids_[a];
    });
    const Relation mo = All([this](std::size_t a, std::size_t b) {
      return IsSameLocation(a, b) && At(a).Writes() && At(b).Writes() && place_[a] < place_[b];
    });
    const Relation rb = All([this](std::size_t a, std::size_t b) {
      return a != b && IsSameLocation(a, b) && At(a).Reads() && At(b).Writes() && PlaceRead(a) < place_[b];
    });
    const Relation eco = (rf | mo | rb).Closed();
    const Relation hb = (sb | SynchronizesWith(sb, rf)).Closed();
    return IsAtomic() && (sb | rf).Closed().IsIrreflexive() && (hb * eco.OrSame()).IsIrreflexive() &&
           HasSequentialConsistency(sb, mo, rb, eco, hb);
  }

 private:
  const Event& At(std::size_t event) const { return graph_.At(ids_[event]); }
  bool IsAccess(std::size_t event) const { return At(event).Reads() || At(event).Writes(); }
  bool IsFence(std::size_t event) const { return At(event).kind == EventKind::kFence; }
  bool IsSc(std::size_t event) const { return IsOrdered(event) && At(event).order == std::memory_order_seq_cst; }
  // Not a choice: that is nothing of the memory's.
  bool IsOrdered(std::size_t event) const { return At(event).kind != EventKind::kChoice; }
  bool IsSameLocation(std::size_t a, std::size_t b) const {
    return IsAccess(a) && IsAccess(b) && At(a).location == At(b).location;
  }
  bool IsRelease(std::size_t event) const {
    const std::memory_order order = At(event).order;
    return IsOrdered(event) && (order == std::memory_order_release || order == std::memory_order_acq_rel ||
                                order == std::memory_order_seq_cst);
  }
  bool IsAcquire(std::size_t event) const {
    const std::memory_order order = At(event).order;
    return IsOrdered(event) && (order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
                                order == std::memory_order_seq_cst);
  }

  std::size_t Find(EventId id) const {
    std::size_t event = 0;
    while (!(ids_[event] == id)) {
      ++event;
    }
    return event;
  }

  std::size_t PlaceRead(std::size_t event) const {
    const EventId write = At(event).reads_from;
    return write.IsInitial() ? 0 : place_[Find(write)];
  }

  template <typename Predicate>
  Relation All(Predicate holds) const {
    Relation relation(ids_.size());
    for (std::size_t a = 0; a < ids_.size(); ++a) {
      for (std::size_t b = 0; b < ids_.size(); ++b) {
        if (holds(a, b)) {
          relation.Put(a, b);
        }
      }
    }
    return relation;
  }

  template <typename Predicate>
  Relation Same(Predicate holds) const {
    return All([&](std::size_t a, std::size_t b) { return a == b && holds(a); });
  }

  // sw = [rel] ; ([F] ; sb)? ; [W] ; (rf ; [RMW])* ; rf ; (sb ; [F])? ; [acq]
  Relation SynchronizesWith(const Relation& sb, const Relation& rf) const {
    const Relation release = Same([this](std::size_t e) { return IsRelease(e); });
    const Relation acquire = Same([this](std::size_t e) { return IsAcquire(e); });
    const Relation fences = Same([this](std::size_t e) { return IsFence(e); });
    const Relation writes = Same([this](std::size_t e) { return At(e).Writes(); });
    const Relation updates = Same([this](std::size_t e) { return At(e).kind == EventKind::kReadModifyWrite; });
    const Relation sequence = writes * (rf * updates).Closed().OrSame();
    return release * (fences * sb).OrSame() * sequence * rf * (sb * fences).OrSame() * acquire;
  }

  bool IsAtomic() const {
    for (std::size_t event = 0; event < ids_.size(); ++event) {
      if (At(event).kind == EventKind::kReadModifyWrite && PlaceRead(event) + 1 != place_[event]) {
        return false;
      }
    }
    return true;
  }

  bool HasSequentialConsistency(const Relation& sb, const Relation& mo, const Relation& rb, const Relation& eco,
                                const Relation& hb) const {
    const auto is_same = [this](std::size_t a, std::size_t b) { return IsSameLocation(a, b); };
    const auto is_other = [this](std::size_t a, std::size_t b) { return !IsSameLocation(a, b); };
    const Relation away = sb.Where(is_other);
    const Relation scb = sb | away * hb * away | hb.Where(is_same) | mo | rb;
    const Relation accesses = Same([this](std::size_t e) { return IsSc(e); });
    const Relation fences = Same([this](std::size_t e) { return IsSc(e) && IsFence(e); });
    const Relation base = (accesses | fences * hb.OrSame()) * scb * (accesses | hb.OrSame() * fences);
    const Relation between_fences = fences * (hb | hb * eco * hb) * fences;
    return (base | between_fences).Closed().IsIrreflexive();
  }

  const Graph& graph_;
  std::vector<EventId> ids_;
  std::vector<std::size_t> place_;  // of writes: the place in the order of the location, from 1
};

}  // namespace

bool IsConsistent(const Graph& graph, std::size_t location_count) { return Axioms(graph, location_count).Hold(); }

}  // namespace holdfast::explore
