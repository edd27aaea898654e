// OwnerCounts: owners that cost next to nothing and tell how often and where they were released.
#ifndef HOLDFAST_SCENARIOS_FUZZ_OWNER_COUNTS_H_
#define HOLDFAST_SCENARIOS_FUZZ_OWNER_COUNTS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

#include "lib/handles/opaque_handle.h"
#include "lib/handles/resources.h"
#include "scenarios/support/cleanup_context.h"

namespace holdfast::fuzz {

// Owners are numbered from 0. Thread safety: owners may be released on any thread; the rest is for one thread.
class OwnerCounts {
 public:
  static constexpr std::size_t kMost = 2048;

  // A new reference to an owner that was never made before. `resource` is what the handle points to.
  template <typename Resource>
  std::shared_ptr<const Resource> Make(int owner, const Resource* resource) {
    Entry& entry = entries_[static_cast<std::size_t>(owner)];
    return std::shared_ptr<const Resource>(resource, [&entry](const Resource*) { entry.Release(); });
  }

  // Memory ordering: relaxed. Who has to see a release was synchronised with it by the drain or the wait before.
  unsigned releases(int owner) const { return Of(owner).releases.load(std::memory_order_relaxed); }
  bool was_released_outside(int owner) const { return Of(owner).outside.load(std::memory_order_relaxed); }

  // Forgets the first `count` owners. REQUIRES: nobody has a reference to them.
  void Reset(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      entries_[i].releases.store(0, std::memory_order_relaxed);
      entries_[i].outside.store(false, std::memory_order_relaxed);
    }
  }

 private:
  struct Entry {
    void Release() noexcept {
      if (!scenarios::InsideCleanup()) {
        outside.store(true, std::memory_order_relaxed);
      }
      releases.fetch_add(1, std::memory_order_relaxed);
    }

    std::atomic<unsigned> releases{0};
    std::atomic<bool> outside{false};  // of the cleanup context
  };

  const Entry& Of(int owner) const { return entries_[static_cast<std::size_t>(owner)]; }

  std::array<Entry, kMost> entries_;
};

}  // namespace holdfast::fuzz

#endif  // HOLDFAST_SCENARIOS_FUZZ_OWNER_COUNTS_H_
