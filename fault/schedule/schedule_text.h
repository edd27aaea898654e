// The order of threads as a short text, the same as the explorer's (harness/explore/schedule.h) but for options, which
// there are none of here, and for more threads: "x1:a3b2a#5f3a9c01" is three steps of thread a, two of b and one of a,
// and a hash of the points at which they were taken.
//
// The text is written into a mapped file and is whole after each step, so that it is there however the process ends.
#ifndef HOLDFAST_FAULT_SCHEDULE_SCHEDULE_TEXT_H_
#define HOLDFAST_FAULT_SCHEDULE_SCHEDULE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::schedule {

inline constexpr std::size_t kThreadsMax = 52;  // alive at once: a to z, A to Z
inline constexpr std::size_t kStepsMax = 10'000'000;

char LetterOf(std::size_t thread);

// kThreadsMax if it is no letter.
std::size_t ThreadOf(char letter);

class ScheduleWriter {
 public:
  // Writes into this memory, which outlives it.
  void Begin(char* memory, std::size_t size);

  // False, and nothing changed, if there is no room left or there are kStepsMax steps already.
  bool Append(std::size_t thread, std::uint32_t hash);

  std::size_t steps() const { return steps_; }

 private:
  char* run_ = nullptr;  // where the last run of one thread starts
  const char* end_ = nullptr;
  std::size_t last_ = kThreadsMax;
  std::size_t count_ = 0;
  std::size_t steps_ = 0;
};

// What is wrong with a text.
struct ScheduleProblem {
  const char* what = nullptr;  // null: nothing
  std::size_t position = 0;
};

// Reads a text into `threads`, the thread of each step, which has room for kStepsMax.
ScheduleProblem ReadSchedule(std::string_view text, std::uint8_t* threads, std::size_t& steps);

}  // namespace holdfast::schedule

#endif  // HOLDFAST_FAULT_SCHEDULE_SCHEDULE_TEXT_H_
