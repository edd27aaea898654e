// The memory of a program under exploration: what its threads allocate comes from here, at the same addresses in each
// execution, and is never used twice in one. So a use after free reads what was freed, and is found, not suffered.
#ifndef HOLDFAST_HARNESS_EXPLORE_ARENA_H_
#define HOLDFAST_HARNESS_EXPLORE_ARENA_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "harness/explore/clock.h"

namespace holdfast::explore {

// Thread safety: none; the explorer has one thread.
class Arena {
 public:
  static Arena& Instance();

  // From now on the allocations of this process are those of `thread` (kThreadsMax: the set-up) ...
  void Enter(std::size_t thread) { current_ = thread; }
  // ... and from now on its own.
  void Leave() { current_ = kOutside; }
  bool IsEntered() const { return current_ != kOutside; }
  std::size_t current() const { return current_; }

  // Forgets everything.
  void Reset();

  // Null when the region of the thread is used up.
  void* Allocate(std::size_t size_bytes, std::size_t alignment_bytes);

  bool Owns(const void* address) const;

  // Whose memory an address is in, and how far from its beginning.
  struct MemoryPlace {
    std::size_t thread;
    std::size_t offset;
  };
  std::optional<MemoryPlace> Find(std::uint64_t address) const;

  // False if it was freed before, or is no allocation.
  bool Free(void* address);

  // Calls `add(first, last)` with what each thread and the set-up have used.
  template <typename Function>
  void ForEachRegion(Function add) const {
    for (std::size_t region = 0; region <= kThreadsMax; ++region) {
      const std::byte* const first = memory_ + region * kRegionSizeBytes;
      add(first, first + used_[region]);
    }
  }

  // What was allocated and not freed.
  std::size_t live_count() const { return live_count_; }

 private:
  static constexpr std::size_t kOutside = kThreadsMax + 1;
  static constexpr std::size_t kRegionSizeBytes = std::size_t{1} << 20;

  Arena();

  std::byte* memory_;
  std::array<std::size_t, kThreadsMax + 1> used_{};
  std::size_t live_count_ = 0;
  std::size_t current_ = kOutside;
};

}  // namespace holdfast::explore

#endif  // HOLDFAST_HARNESS_EXPLORE_ARENA_H_
