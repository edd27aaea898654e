#include "scenarios/fuzz/sequence.h"

#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <utility>

namespace holdfast::fuzz {
namespace {

constexpr std::string_view kMagic = "holdfast-fuzz";
constexpr unsigned kMostParallel = 1000;

constexpr std::pair<std::string_view, fault::Delivery> kDeliveries[] = {
    {"inline", fault::Delivery::kInline},
    {"thread", fault::Delivery::kThread},
    {"held", fault::Delivery::kHeld},
    {"mixed", fault::Delivery::kMixed},
};
constexpr std::pair<std::string_view, fault::HandleReuse> kReuses[] = {
    {"at-once", fault::HandleReuse::kAtOnce},
    {"never", fault::HandleReuse::kNever},
};

template <typename Value, std::size_t kCount>
std::string_view WordOf(const std::pair<std::string_view, Value> (&words)[kCount], Value value) {
  for (const auto& [word, named] : words) {
    if (named == value) {
      return word;
    }
  }
  return words[0].first;
}

template <typename Value, std::size_t kCount>
bool ReadWord(const std::pair<std::string_view, Value> (&words)[kCount], std::string_view text, Value* value) {
  for (const auto& [word, named] : words) {
    if (word == text) {
      *value = named;
      return true;
    }
  }
  return false;
}

bool ReadSeed(std::string_view text, std::uint64_t* seed) {
  if (!text.starts_with("0x")) {
    return false;
  }
  text.remove_prefix(2);
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), *seed, 16);
  return !text.empty() && problem == std::errc() && end == text.data() + text.size();
}

bool ReadSetting(std::string_view key, std::string_view value, Settings* settings) {
  if (key == "seed") {
    return ReadSeed(value, &settings->seed);
  }
  if (key == "reuse") {
    return ReadWord(kReuses, value, &settings->reuse);
  }
  if (key == "delivery") {
    return ReadWord(kDeliveries, value, &settings->delivery);
  }
  const std::optional<std::uint64_t> settle = ParseNumber(value, kMostSettle);
  if (key != "settle" || !settle || *settle == 0) {
    return false;
  }
  settings->settle = static_cast<unsigned>(*settle);
  return true;
}

// Reads a text line by line.
class Parser {
 public:
  Parser(std::string_view text, const std::function<bool(const Fault&)>& can_strike)
      : rest_(text), can_strike_(can_strike) {}

  Sequence Run() {
    bool has_header = false;
    for (std::string_view line; NextLine(&line);) {
      if (!has_header) {
        ReadHeader(line);
        has_header = true;
      } else {
        ReadLine(line);
      }
    }
    if (!has_header) {
      Refuse("there is no header \"holdfast-fuzz 1 ...\"");
    }
    return std::move(sequence_);
  }

 private:
  [[noreturn]] void Refuse(const std::string& reason) const {
    throw SequenceError("line " + std::to_string(number_) + ": " + reason);
  }

  // The next line that is neither blank nor a comment.
  bool NextLine(std::string_view* line) {
    while (!rest_.empty()) {
      ++number_;
      const std::size_t end = rest_.find('\n');
      *line = rest_.substr(0, end);
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
      const std::size_t first = line->find_first_not_of(" \t\r");
      if (first != std::string_view::npos && (*line)[first] != '#') {
        line->remove_prefix(first);
        line->remove_suffix(line->size() - 1 - line->find_last_not_of(" \t\r"));
        return true;
      }
    }
    return false;
  }

  void ReadHeader(std::string_view line) {
    const std::vector<std::string_view> words = SplitWords(line);
    if (words.size() < 2 || words[0] != kMagic || words[1] != "1") {
      Refuse("expected a header \"holdfast-fuzz 1 ...\", this is no sequence or one of another version");
    }
    for (std::size_t i = 2; i < words.size(); ++i) {
      const std::size_t equals = std::min(words[i].find('='), words[i].size());
      const std::string_view value = words[i].substr(std::min(equals + 1, words[i].size()));
      if (!ReadSetting(words[i].substr(0, equals), value, &sequence_.settings)) {
        Refuse("\"" + std::string(words[i]) + "\": expected seed=0x..., reuse=at-once|never, " +
               "delivery=inline|thread|held|mixed or settle=1..." + std::to_string(kMostSettle));
      }
    }
  }

  void ReadLine(std::string_view line) {
    std::string error;
    const std::string_view word = SplitWords(line).front();
    if (word == "fault") {
      std::optional<Fault> fault = ParseFault(line, &error);
      if (!fault) {
        Refuse(error);
      }
      if (!can_strike_(*fault)) {
        Refuse("no call can fail that way: there is no site \"" + fault->site + "\", or not this kind of fault at it");
      }
      faults_.push_back(std::move(*fault));
    } else if (word == "parallel") {
      ReadParallel(line);
    } else {
      std::optional<Operation> operation = ParseOperation(line, &error);
      if (!operation) {
        Refuse(error);
      }
      operation->faults = std::exchange(faults_, {});
      sequence_.lines.push_back({0, false, std::move(*operation)});
    }
  }

  void ReadParallel(std::string_view line) {
    const std::vector<std::string_view> words = SplitWords(line);
    const bool inside = words.size() == 3 && words[2] == "inside";
    const std::optional<std::uint64_t> count =
        words.size() == 2 || inside ? ParseNumber(words[1], kMostParallel) : std::optional<std::uint64_t>();
    if (!count || *count == 0) {
      Refuse("expected: parallel N [inside], with N operations of 1 to " + std::to_string(kMostParallel));
    }
    sequence_.lines.push_back({static_cast<unsigned>(*count), inside, {}});
  }

  std::string_view rest_;
  const std::function<bool(const Fault&)>& can_strike_;
  unsigned number_ = 0;
  Sequence sequence_;
  std::vector<Fault> faults_;
};

}  // namespace

std::string TextOf(const Settings& settings) {
  char seed[32];
  std::snprintf(seed, sizeof seed, "0x%016" PRIx64, settings.seed);
  return std::string(kMagic) + " 1 seed=" + seed + " reuse=" + std::string(WordOf(kReuses, settings.reuse)) +
         " delivery=" + std::string(WordOf(kDeliveries, settings.delivery)) +
         " settle=" + std::to_string(settings.settle) + "\n";
}

void AppendText(const Line& line, std::string* text) {
  if (line.parallel != 0) {
    *text += "parallel " + std::to_string(line.parallel) + (line.inside ? " inside\n" : "\n");
    return;
  }
  for (const Fault& fault : line.operation.faults) {
    AppendText(fault, text);
    *text += '\n';
  }
  AppendText(line.operation, text);
  *text += '\n';
}

std::string TextOf(const Sequence& sequence) {
  std::string text = TextOf(sequence.settings);
  for (const Line& line : sequence.lines) {
    AppendText(line, &text);
  }
  return text;
}

Sequence ParseSequence(std::string_view text, const std::function<bool(const Fault&)>& can_strike) {
  return Parser(text, can_strike).Run();
}

}  // namespace holdfast::fuzz
