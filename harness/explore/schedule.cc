#include "harness/explore/schedule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <stdexcept>
#include <utility>

namespace holdfast::explore {
namespace {

constexpr std::string_view kVersion = "x1:";
constexpr std::size_t kStepsMax = 1'000'000;

[[noreturn]] void Refuse(std::string_view text, std::size_t position, const std::string& what) {
  throw std::invalid_argument("the schedule '" + std::string(text) + "' is wrong at character " +
                              std::to_string(position + 1) + ": " + what);
}

// Reads a number and moves behind it.
template <typename Number>
Number ReadNumber(std::string_view text, std::size_t& position, int base, const char* what) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data() + position, end, number, base);
  if (error != std::errc()) {
    Refuse(text, position, std::string("expected ") + what);
  }
  position = static_cast<std::size_t>(next - text.data());
  return number;
}

bool IsDigit(std::string_view text, std::size_t position) {
  return position < text.size() && text[position] >= '0' && text[position] <= '9';
}

// How far each thread has come.
using Progress = std::array<std::uint16_t, kThreadsMax>;

bool MayComeNext(const Graph& graph, const Progress& progress, std::size_t thread, bool with_waiting) {
  if (progress[thread] == graph.Size(thread)) {
    return false;
  }
  const Event& event = graph.At({static_cast<std::uint16_t>(thread), static_cast<std::uint16_t>(progress[thread] + 1)});
  if (event.is_waiting && !with_waiting) {
    return false;
  }
  return !event.Reads() || event.reads_from.index <= progress[event.reads_from.thread] || event.reads_from.IsInitial();
}

bool HasOnlyWaitingLeft(const Graph& graph, const Progress& progress) {
  for (std::size_t thread = 0; thread < kThreadsMax; ++thread) {
    if (MayComeNext(graph, progress, thread, false)) {
      return false;
    }
  }
  return true;
}

// A stretch of one thread, and the one before it.
struct Stretch {
  Progress progress;
  std::size_t thread;
  std::size_t previous;  // index of another, or its own for the first
};

std::vector<EventId> Unroll(const std::vector<Stretch>& stretches, std::size_t last) {
  std::vector<EventId> order;
  for (std::size_t index = last; stretches[index].previous != index; index = stretches[index].previous) {
    const Stretch& stretch = stretches[index];
    const Progress& before = stretches[stretch.previous].progress;
    for (std::uint16_t event = stretch.progress[stretch.thread]; event > before[stretch.thread]; --event) {
      order.push_back({static_cast<std::uint16_t>(stretch.thread), event});
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace

std::string Format(const Schedule& schedule) {
  std::string text(kVersion);
  const std::vector<Step>& steps = schedule.steps;
  for (std::size_t first = 0; first < steps.size();) {
    std::size_t last = first;
    while (steps[last].option == 0 && last + 1 < steps.size() && steps[last + 1].thread == steps[first].thread) {
      ++last;
    }
    text += static_cast<char>('a' + steps[first].thread);
    if (last > first) {
      text += std::to_string(last - first + 1);
    }
    if (steps[last].option != 0) {
      text += "." + std::to_string(steps[last].option);
    }
    first = last + 1;
  }
  std::array<char, 9> digits{};
  std::to_chars(digits.data(), digits.data() + 8, schedule.hash, 16);
  return text + "#" + digits.data();
}

Schedule ParseSchedule(std::string_view text) {
  if (text.substr(0, kVersion.size()) != kVersion) {
    Refuse(text, 0, "it begins with " + std::string(kVersion));
  }
  Schedule schedule;
  std::size_t position = kVersion.size();
  while (position < text.size() && text[position] != '#') {
    const char letter = text[position];
    if (letter < 'a' || letter >= static_cast<char>('a' + kThreadsMax)) {
      Refuse(text, position, "expected a thread, a to h, or # and the hash");
    }
    ++position;
    const std::size_t count = IsDigit(text, position) ? ReadNumber<std::size_t>(text, position, 10, "a count") : 1;
    if (count == 0 || count > kStepsMax - schedule.steps.size()) {
      Refuse(text, position, "a count is at least 1, and there are at most " + std::to_string(kStepsMax) + " steps");
    }
    schedule.steps.insert(schedule.steps.end(), count, Step{static_cast<std::size_t>(letter - 'a'), 0});
    if (position < text.size() && text[position] == '.') {
      schedule.steps.back().option = ReadNumber<std::size_t>(text, ++position, 10, "the number of an option");
    }
  }
  if (position == text.size()) {
    Refuse(text, position, "expected # and the hash: was it cut off?");
  }
  schedule.hash = ReadNumber<std::uint32_t>(text, ++position, 16, "the hash, in hexadecimal");
  if (position != text.size()) {
    Refuse(text, position, "there is something after the hash");
  }
  return schedule;
}

std::size_t SwitchesOf(const std::vector<EventId>& order) {
  std::size_t switches = 0;
  for (std::size_t index = 1; index < order.size(); ++index) {
    switches += order[index].thread != order[index - 1].thread ? 1 : 0;
  }
  return switches;
}

// Breadth first over stretches. To go on with a thread as long as it can never takes a possibility away from another,
// so only whole stretches need to be looked at.
std::vector<EventId> OrderWithFewestSwitches(const Graph& graph) {
  std::vector<Stretch> stretches{{Progress{}, kThreadsMax, 0}};
  std::set<Progress> seen;
  for (std::size_t index = 0; index < stretches.size(); ++index) {
    const Progress from = stretches[index].progress;
    const bool with_waiting = HasOnlyWaitingLeft(graph, from);
    bool is_end = true;
    for (std::size_t thread = 0; thread < kThreadsMax; ++thread) {
      is_end = is_end && from[thread] == graph.Size(thread);
      Progress to = from;
      while (MayComeNext(graph, to, thread, with_waiting)) {
        ++to[thread];
      }
      if (to != from && seen.insert(to).second) {
        stretches.push_back({to, thread, index});
      }
    }
    if (is_end) {
      return Unroll(stretches, index);
    }
  }
  throw std::logic_error("explore: a graph whose events cannot be put in order");
}

std::uint32_t HashOf(const Graph& graph, const std::vector<EventId>& order) {
  std::uint32_t hash = 2166136261;  // FNV-1a
  const auto add = [&hash](std::size_t value) { hash = (hash ^ static_cast<std::uint32_t>(value)) * 16777619; };
  for (const EventId id : order) {
    const Event& event = graph.At(id);
    add(id.thread);
    add(static_cast<std::size_t>(event.kind));
    add(event.location);
    add(event.reads_from.IsInitial() ? 0 : event.reads_from.thread + std::size_t{1});
    add(event.reads_from.index);
  }
  return hash;
}

std::size_t FaultsOf(const Graph& graph) {
  std::size_t faults = 0;
  for (std::uint16_t thread = 0; thread < kThreadsMax; ++thread) {
    for (std::size_t index = 1; index <= graph.Size(thread); ++index) {
      const Event& event = graph.At({thread, static_cast<std::uint16_t>(index)});
      faults += event.is_spurious || (event.kind == EventKind::kChoice && event.value_read != 0) ? 1 : 0;
    }
  }
  return faults;
}

}  // namespace holdfast::explore
