#include "scenarios/fuzz/operation.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <system_error>

namespace holdfast::fuzz {
namespace {

constexpr unsigned kMostThreads = 3;
constexpr std::uint64_t kGreatestNth = 1'000'000;

// The letter that names the slot in the text.
char PrefixOf(char letter) {
  switch (letter) {
    case 'd':
      return 'n';
    case 'w':
      return 'o';
    case 'r':
      return 'b';
    default:
      return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
}

std::optional<int> ParseOperand(char letter, std::string_view word, std::string* error) {
  if (word == "-" && MayBeAbsent(letter)) {
    return kAbsent;
  }
  const std::string expected = letter == '#'
                                   ? "a number below " + std::to_string(SlotsOf(letter))
                                   : std::string(1, PrefixOf(letter)) + "0 to " + PrefixOf(letter) +
                                         std::to_string(SlotsOf(letter) - 1) + (MayBeAbsent(letter) ? " or -" : "");
  std::string_view digits = word;
  if (letter != '#') {
    if (word.empty() || word.front() != PrefixOf(letter)) {
      *error = "operand \"" + std::string(word) + "\": expected " + expected;
      return std::nullopt;
    }
    digits.remove_prefix(1);
  }
  const std::optional<std::uint64_t> number = ParseNumber(digits, static_cast<std::uint64_t>(SlotsOf(letter) - 1));
  if (!number) {
    *error = "operand \"" + std::string(word) + "\": expected " + expected;
    return std::nullopt;
  }
  return static_cast<int>(*number);
}

std::optional<Opcode> FindOpcode(std::string_view name) {
  for (std::size_t i = 0; i < kOpcodes; ++i) {
    if (kOperations[i].name == name) {
      return static_cast<Opcode>(i);
    }
  }
  return std::nullopt;
}

}  // namespace

int SlotsOf(char letter) {
  switch (PrefixOf(letter)) {
    case 'g':
      return 8;
    case 'n':
      return 16;
    case 'e':
      return 4;
    case 'b':
      return 6;
    case 'c':
      return 4;
    case 'o':
      return 24;
    default:
      return 16;
  }
}

bool MayBeAbsent(char letter) { return letter == 'd' || letter == 'o' || letter == 'r'; }

bool IsResult(char letter) { return letter >= 'A' && letter <= 'Z'; }

void AppendText(const Operation& operation, std::string* text) {
  const OperationInfo& info = InfoOf(operation.opcode);
  *text += static_cast<char>('0' + operation.thread);
  *text += ' ';
  *text += info.name;
  for (std::size_t i = 0; i < info.operands.size(); ++i) {
    *text += ' ';
    const int operand = operation.operands[i];
    if (operand == kAbsent) {
      *text += '-';
      continue;
    }
    if (info.operands[i] != '#') {
      *text += PrefixOf(info.operands[i]);
    }
    if (operand >= 10) {
      *text += static_cast<char>('0' + operand / 10);
    }
    *text += static_cast<char>('0' + operand % 10);
  }
}

void AppendText(const Fault& fault, std::string* text) {
  *text += "fault " + fault.site + " nth=" + std::to_string(fault.nth);
  *text += fault.after ? " after" : "";
  *text += fault.persistent ? " persistent" : "";
}

std::string TextOf(const Operation& operation) {
  std::string text;
  AppendText(operation, &text);
  return text;
}

std::optional<Operation> ParseOperation(std::string_view line, std::string* error) {
  const std::vector<std::string_view> words = SplitWords(line);
  Operation operation;
  const std::optional<std::uint64_t> thread = ParseNumber(words.front(), kMostThreads - 1);
  if (!thread || words.size() < 2) {
    *error = "expected THREAD OPERATION OPERANDS..., with a thread of 0 to " + std::to_string(kMostThreads - 1);
    return std::nullopt;
  }
  operation.thread = static_cast<unsigned>(*thread);
  const std::optional<Opcode> opcode = FindOpcode(words[1]);
  if (!opcode) {
    *error = "there is no operation \"" + std::string(words[1]) + "\"";
    return std::nullopt;
  }
  operation.opcode = *opcode;
  const std::string_view operands = InfoOf(*opcode).operands;
  if (words.size() - 2 != operands.size()) {
    *error = std::string(words[1]) + " takes " + std::to_string(operands.size()) + " operands, not " +
             std::to_string(words.size() - 2);
    return std::nullopt;
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::optional<int> operand = ParseOperand(operands[i], words[i + 2], error);
    if (!operand) {
      return std::nullopt;
    }
    operation.operands[i] = *operand;
  }
  return operation;
}

std::optional<Fault> ParseFault(std::string_view line, std::string* error) {
  const std::vector<std::string_view> words = SplitWords(line);
  Fault fault;
  if (words.size() < 3 || !words[2].starts_with("nth=")) {
    *error = "expected: fault SITE nth=N [after] [persistent]";
    return std::nullopt;
  }
  fault.site = words[1];
  const std::optional<std::uint64_t> nth = ParseNumber(words[2].substr(4), kGreatestNth);
  if (!nth || *nth == 0) {
    *error = "\"" + std::string(words[2]) + "\": expected nth=1 or more";
    return std::nullopt;
  }
  fault.nth = static_cast<unsigned>(*nth);
  for (std::size_t i = 3; i < words.size(); ++i) {
    bool* const flag = words[i] == "after" ? &fault.after : words[i] == "persistent" ? &fault.persistent : nullptr;
    if (flag == nullptr || *flag) {
      *error = "\"" + std::string(words[i]) + "\": expected after or persistent, each once";
      return std::nullopt;
    }
    *flag = true;
  }
  return fault;
}

std::vector<std::string_view> SplitWords(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  while ((begin = line.find_first_not_of(" \t", begin)) != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

std::optional<std::uint64_t> ParseNumber(std::string_view text, std::uint64_t greatest) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size() || number > greatest) {
    return std::nullopt;
  }
  return number;
}

}  // namespace holdfast::fuzz
