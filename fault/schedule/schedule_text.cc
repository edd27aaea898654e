#include "fault/schedule/schedule_text.h"

#include <charconv>
#include <cstring>

namespace holdfast::schedule {
namespace {

constexpr std::string_view kVersion = "x1:";
constexpr std::size_t kLettersOfACase = 26;
constexpr std::size_t kLongestRun = 32;  // a letter, a count, #, a hash and the end

}  // namespace

char LetterOf(std::size_t thread) {
  return static_cast<char>(thread < kLettersOfACase ? 'a' + thread : 'A' + (thread - kLettersOfACase));
}

std::size_t ThreadOf(char letter) {
  if (letter >= 'a' && letter <= 'z') return static_cast<std::size_t>(letter - 'a');
  if (letter >= 'A' && letter <= 'Z') return static_cast<std::size_t>(letter - 'A') + kLettersOfACase;
  return kThreadsMax;
}

void ScheduleWriter::Begin(char* memory, std::size_t size) {
  std::memcpy(memory, kVersion.data(), kVersion.size());
  run_ = memory + kVersion.size();
  end_ = memory + size;
}

bool ScheduleWriter::Append(std::size_t thread, std::uint32_t hash) {
  if (steps_ == kStepsMax) return false;
  if (thread != last_ && last_ != kThreadsMax) {
    char* const behind = static_cast<char*>(std::memchr(run_, '#', kLongestRun));
    if (static_cast<std::size_t>(end_ - behind) < kLongestRun) return false;
    run_ = behind;
  }
  count_ = thread == last_ ? count_ + 1 : 1;
  last_ = thread;
  ++steps_;
  char run[2 * kLongestRun] = {LetterOf(thread)};
  char* next = run + 1;
  if (count_ > 1) next = std::to_chars(next, next + kLongestRun / 2, count_).ptr;
  *next++ = '#';
  next = std::to_chars(next, next + kLongestRun / 2, hash, 16).ptr;
  *next++ = '\0';
  std::memcpy(run_, run, static_cast<std::size_t>(next - run));
  return true;
}

ScheduleProblem ReadSchedule(std::string_view text, std::uint8_t* threads, std::size_t& steps) {
  if (text.substr(0, kVersion.size()) != kVersion) return {"it does not begin with x1:", 0};
  std::size_t position = kVersion.size();
  const char* const end = text.data() + text.size();
  steps = 0;
  while (position < text.size() && text[position] != '#') {
    const std::size_t thread = ThreadOf(text[position]);
    if (thread == kThreadsMax) return {"there is no thread of this name", position};
    std::size_t count = 1;
    const auto [behind, error] = std::from_chars(text.data() + ++position, end, count);
    if (error == std::errc::result_out_of_range || count == 0 || count > kStepsMax - steps) {
      return {"a count is at least 1, and there are at most ten million steps", position};
    }
    position = static_cast<std::size_t>(behind - text.data());
    std::memset(threads + steps, static_cast<int>(thread), count);
    steps += count;
  }
  if (position == text.size()) return {"there is no # and no hash: was it cut off?", position};
  return {};
}

}  // namespace holdfast::schedule
