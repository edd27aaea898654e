#include "fault/model/ptx.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

namespace holdfast::fault::model {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsPunctuation(char c) { return c == '(' || c == ')' || c == ',' || c == '[' || c == ']' || c == '{' || c == '}'; }

// A word or one punctuation character at a time; comments are blanks.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  // Empty at the end of the text.
  std::string_view Next() {
    SkipBlanks();
    if (position_ >= text_.size()) return {};
    const std::size_t start = position_;
    if (IsPunctuation(text_[position_]) || text_[position_] == ';') return text_.substr(position_++, 1);
    while (position_ < text_.size() && !IsSpace(text_[position_]) && !IsPunctuation(text_[position_]) &&
           text_[position_] != ';' && !AtComment()) {
      ++position_;
    }
    return text_.substr(start, position_ - start);
  }

  std::string_view Peek() {
    const std::size_t position = position_;
    const std::string_view token = Next();
    position_ = position;
    return token;
  }

 private:
  bool AtComment() const {
    const std::string_view two = text_.substr(position_, 2);
    return two == "//" || two == "/*";
  }

  void SkipBlanks() {
    while (position_ < text_.size()) {
      if (IsSpace(text_[position_])) {
        ++position_;
      } else if (AtComment()) {
        const std::string_view end = text_[position_ + 1] == '/' ? "\n" : "*/";
        const std::size_t found = text_.find(end, position_ + 2);
        position_ = found == std::string_view::npos ? text_.size() : found + end.size();
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

// Bytes of a type such as ".u64"; none for a word that is no type.
std::optional<std::size_t> TypeBytes(std::string_view word) {
  if (word.size() < 3 || word[0] != '.' || std::string_view("busf").find(word[1]) == std::string_view::npos) return {};
  std::size_t bits = 0;
  const auto [end, error] = std::from_chars(word.data() + 2, word.data() + word.size(), bits);
  if (error != std::errc() || end != word.data() + word.size()) return {};
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 128) return {};
  return bits / 8;
}

std::optional<std::size_t> Number(std::string_view word) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return {};
  return value;
}

// One parameter, up to and without the ',' or ')' behind it: `.param [.align N] .TYPE [.ptr ...] NAME[COUNT]`.
// An .align behind the type is about what a pointer points to.
bool ParseParameter(Tokens& tokens, std::size_t* offset, std::vector<KernelParameter>* parameters) {
  if (tokens.Next() != ".param") return false;
  std::optional<std::size_t> bytes;
  std::size_t alignment = 0;
  std::size_t count = 1;
  while (tokens.Peek() != "," && tokens.Peek() != ")") {
    const std::string_view word = tokens.Next();
    if (word.empty()) return false;
    if (word == ".align") {
      const std::optional<std::size_t> number = Number(tokens.Next());
      if (!number || *number == 0) return false;
      if (!bytes) alignment = *number;
    } else if (word == "[") {
      const std::optional<std::size_t> number = Number(tokens.Next());
      if (!number || tokens.Next() != "]") return false;
      count = *number;
    } else if (!bytes) {
      bytes = TypeBytes(word);
    }
  }
  if (!bytes) return false;
  if (alignment < *bytes) alignment = *bytes;
  *offset = (*offset + alignment - 1) / alignment * alignment;
  parameters->push_back(KernelParameter{*offset, *bytes * count});
  *offset += *bytes * count;
  return true;
}

bool ParseEntry(Tokens& tokens, PtxEntry* entry) {
  entry->name = tokens.Next();
  if (entry->name.empty()) return false;
  if (tokens.Peek() != "(") return true;
  tokens.Next();
  std::size_t offset = 0;
  while (tokens.Peek() != ")") {
    if (!ParseParameter(tokens, &offset, &entry->parameters)) return false;
    if (tokens.Peek() == ",") tokens.Next();
  }
  tokens.Next();
  return true;
}

}  // namespace

int PtxTarget(std::string_view text) {
  constexpr std::string_view kPrefix = "sm_";
  Tokens tokens(text);
  for (std::string_view word = tokens.Next(); !word.empty(); word = tokens.Next()) {
    if (word != ".target") continue;
    const std::string_view target = tokens.Next();
    int number = 0;
    if (target.starts_with(kPrefix)) {
      std::from_chars(target.data() + kPrefix.size(), target.data() + target.size(), number);
    }
    return number;
  }
  return 0;
}

bool ParsePtx(std::string_view text, std::vector<PtxEntry>* entries) {
  Tokens tokens(text);
  bool has_version = false;
  for (std::string_view word = tokens.Next(); !word.empty(); word = tokens.Next()) {
    if (word == ".version") has_version = true;
    if (word != ".entry") continue;
    PtxEntry entry;
    if (!ParseEntry(tokens, &entry)) return false;
    entries->push_back(std::move(entry));
  }
  return has_version;
}

}  // namespace holdfast::fault::model
