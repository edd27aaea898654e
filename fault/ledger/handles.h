// Sets of handles: those alive, and those known to be dead.
//
// A handle is a number here: the ledger never looks through it. Not thread-safe; the ledger locks.
#ifndef HOLDFAST_FAULT_LEDGER_HANDLES_H_
#define HOLDFAST_FAULT_LEDGER_HANDLES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <unordered_set>

namespace holdfast::fault {

using Handle = std::uintptr_t;

// Handles of one kind that are alive.
//
// A destroy call is told before it is made, since the driver may give the handle out again, on another thread, before
// the call is back.
class LiveHandles {
 public:
  void Created(Handle handle) { alive_.insert(handle); }

  // ENSURES: the handle is not alive; true if it was.
  bool Destroying(Handle handle) {
    kept_.erase(handle);
    return alive_.erase(handle) != 0;
  }

  // The call failed: what Destroying took is back.
  void NotDestroyed(Handle handle) { alive_.insert(handle); }

  // A fault kept the destroy call from the driver. The handle is alive, and not the subject's any more.
  void Kept(Handle handle) {
    if (alive_.contains(handle)) kept_.insert(handle);
  }

  std::size_t count() const { return alive_.size() - kept_.size(); }
  std::size_t kept() const { return kept_.size(); }
  bool Has(Handle handle) const { return alive_.contains(handle); }
  bool IsKept(Handle handle) const { return kept_.contains(handle); }

 private:
  std::unordered_set<Handle> alive_;
  std::unordered_set<Handle> kept_;  // a part of alive_
};

// Handles that were destroyed and not given out since. Remembers the last kCapacity, so a very old handle may be
// forgotten, and then its misuse is not noticed.
class DeadHandles {
 public:
  static constexpr std::size_t kCapacity = 1 << 16;

  void Died(Handle handle) {
    if (!dead_.emplace(handle, State{++deaths_, false}).second) dead_[handle] = {deaths_, false};
    order_.emplace_back(handle, deaths_);
    if (order_.size() > kCapacity) ForgetOldest();
  }

  void GivenOut(Handle handle) { dead_.erase(handle); }

  // Whether the handle is dead and nobody was told so yet.
  bool IsNewMisuse(Handle handle) {
    const auto found = dead_.find(handle);
    if (found == dead_.end() || found->second.told) return false;
    found->second.told = true;
    return true;
  }

 private:
  struct State {
    std::uint64_t death;
    bool told;
  };

  void ForgetOldest() {
    const auto [handle, death] = order_.front();
    order_.pop_front();
    const auto found = dead_.find(handle);
    if (found != dead_.end() && found->second.death == death) dead_.erase(found);
  }

  std::unordered_map<Handle, State> dead_;
  std::deque<std::pair<Handle, std::uint64_t>> order_;
  std::uint64_t deaths_ = 0;
};

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_LEDGER_HANDLES_H_
