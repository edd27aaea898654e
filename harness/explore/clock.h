// Vector clocks: how much of each thread something knows of.
#ifndef HOLDFAST_HARNESS_EXPLORE_CLOCK_H_
#define HOLDFAST_HARNESS_EXPLORE_CLOCK_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace holdfast::explore {

// Besides the code that sets a program up. A clock of eight 16-bit counts is one vector register.
inline constexpr std::size_t kThreadsMax = 8;

// Which event of which thread. The first event of a thread has the index 1.
struct EventId {
  std::uint16_t thread = 0;
  std::uint16_t index = 0;  // 0: the value that a location begins with, whatever the thread

  bool IsInitial() const { return index == 0; }
  friend bool operator==(const EventId& left, const EventId& right) {
    return left.index == right.index && (left.index == 0 || left.thread == right.thread);
  }
};

struct alignas(16) Clock {
  std::array<std::uint16_t, kThreadsMax> counts{};

  bool Includes(EventId event) const { return counts[event.thread] >= event.index; }

  void Join(const Clock& other) {
    for (std::size_t thread = 0; thread < kThreadsMax; ++thread) {
      counts[thread] = std::max(counts[thread], other.counts[thread]);
    }
  }
};

}  // namespace holdfast::explore

#endif  // HOLDFAST_HARNESS_EXPLORE_CLOCK_H_
