#include "harness/explore/table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include "harness/explore/arena.h"

namespace holdfast::explore {
namespace {

const char* NameOf(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_consume:
      return "consume";
    case std::memory_order_acquire:
      return "acquire";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      return "seq_cst";
  }
  return "?";
}

// Addresses of the program's memory by whose it is and where it lies there: they are the same in each run.
std::string ValueText(std::uint64_t value) {
  std::array<char, 20> digits{};
  if (const auto place = Arena::Instance().Find(value)) {
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), place->offset, 16).ptr;
    const std::string owner =
        place->thread == kThreadsMax ? "setup" : std::string(1, static_cast<char>('a' + place->thread));
    return "&" + owner + "+" + std::string(digits.data(), end);
  }
  const bool is_large = value > 1'000'000;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, is_large ? 16 : 10).ptr;
  return (is_large ? "0x" : "") + std::string(digits.data(), end);
}

std::string BaseName(const char* file) {
  const std::string_view path = file;
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string PlaceText(const harness::SourcePlace& place) {
  return BaseName(place.file) + ":" + std::to_string(place.line);
}

std::string LocationText(const Machine& machine, std::uint16_t location) {
  const LocationInfo info = machine.InfoOf(location);
  return info.name != nullptr ? info.name : "v" + std::to_string(location);
}

// The line that a write has in the table.
using Numbers = std::map<std::pair<std::uint16_t, std::uint16_t>, std::size_t>;

std::string SourceText(const Event& event, const Numbers& numbers) {
  if (event.reads_from.IsInitial()) {
    return "initial";
  }
  return "#" + std::to_string(numbers.at({event.reads_from.thread, event.reads_from.index}));
}

std::string EventText(const Graph& graph, EventId id, const Machine& machine, const Numbers& numbers) {
  const Event& event = graph.At(id);
  const std::string order = NameOf(event.order);
  switch (event.kind) {
    case EventKind::kFence:
      return "fence " + order;
    case EventKind::kChoice:
      return "chooses " + ValueText(event.value_read) + " of " + ValueText(event.value_written);
    case EventKind::kWrite: {
      const std::size_t later = graph.Writes(event.location).size() - event.modification_index;
      return LocationText(machine, event.location) + " = " + ValueText(event.value_written) + " " + order +
             (later == 0 ? "" : ", before " + std::to_string(later) + " other writes");
    }
    case EventKind::kRead: {
      const std::size_t newer = graph.Writes(event.location).size() - graph.ModificationIndex(event.reads_from);
      return LocationText(machine, event.location) + " is " + ValueText(event.value_read) + " " + order + ", from " +
             SourceText(event, numbers) + (newer == 0 ? "" : " (" + std::to_string(newer) + " older than the last)") +
             (event.is_waiting    ? ", waits"
              : event.is_spurious ? ", fails spuriously"
                                  : "");
    }
    case EventKind::kReadModifyWrite:
      return LocationText(machine, event.location) + " " + ValueText(event.value_read) + " -> " +
             ValueText(event.value_written) + " " + order + ", from " + SourceText(event, numbers);
  }
  return "";
}

// The lines of a cell, none longer than `width`.
std::vector<std::string> Wrap(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (std::size_t first = 0; first < text.size();) {
    const std::size_t space = std::min(text.find(' ', first), text.size());
    const std::string word = text.substr(first, space - first);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) {
      lines.emplace_back();
    }
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    first = space + 1;
  }
  return lines;
}

std::string Padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

}  // namespace

std::string TableOf(const Graph& graph, const std::vector<EventId>& order, const Machine& machine) {
  const std::size_t threads = machine.thread_count();
  const std::size_t width = std::max<std::size_t>(24, 104 / std::max<std::size_t>(1, threads));
  std::string table = Padded("", 6);
  for (std::size_t thread = 0; thread < threads; ++thread) {
    table += Padded(std::string(1, static_cast<char>('a' + thread)) + ": " + machine.NameOfThread(thread), width + 2);
  }
  table += "at\n";
  Numbers numbers;
  std::map<std::uint16_t, std::string> legend;
  for (std::size_t index = 0; index < order.size(); ++index) {
    const EventId id = order[index];
    const Event& event = graph.At(id);
    numbers[{id.thread, id.index}] = index + 1;
    if (event.Reads() || event.Writes()) {
      const LocationInfo info = machine.InfoOf(event.location);
      legend[event.location] = LocationText(machine, event.location) + ": made at " + PlaceText(info.place);
    }
    const std::vector<std::string> lines = Wrap(EventText(graph, id, machine, numbers), width);
    for (std::size_t line = 0; line < lines.size(); ++line) {
      table += Padded(line == 0 ? "#" + std::to_string(index + 1) : "", 6);
      table += Padded("", id.thread * (width + 2));
      table +=
          line == 0 ? Padded(lines[line], (threads - id.thread) * (width + 2)) + PlaceText(event.place) : lines[line];
      table += "\n";
    }
  }
  for (const auto& [location, text] : legend) {
    table += "  " + text + "\n";
  }
  return table;
}

}  // namespace holdfast::explore
