#include "fault/plan/document.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <nlohmann/json.hpp>

#include "fault/plan/plan.h"
#include "fault/plan/words.h"

namespace holdfast::fault {
namespace {

// Where an offset lies in the text, both numbers from 1.
std::string LineAndColumn(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t last_break = before.rfind('\n');
  const std::size_t column = last_break == std::string_view::npos ? before.size() : before.size() - last_break - 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(std::max<std::size_t>(column, 1));
}

// The part of the reader's message that says what it met: without its own name ("[json.exception...]") and position.
std::string WhatWasMet(std::string message) {
  const std::size_t name = message.find("] ");
  if (message.starts_with('[') && name != std::string::npos) message.erase(0, name + 2);
  const std::size_t detail = message.find(" - ");
  if (detail != std::string::npos) message.erase(0, detail + 3);
  return message;
}

// Builds the document from the reader's events. The stack holds the containers that are open.
class DocumentBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit DocumentBuilder(std::string_view text) : text_(text) {}

  Value Take() { return std::move(root_); }

  bool null() override { return Add({}); }
  bool boolean(bool value) override {
    Value item;
    item.kind = Value::Kind::kBoolean;
    item.boolean = value;
    return Add(std::move(item));
  }
  bool number_integer(number_integer_t value) override {
    Value item;
    item.kind = Value::Kind::kInteger;
    item.negative = value < 0;
    item.magnitude = value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
    return Add(std::move(item));
  }
  bool number_unsigned(number_unsigned_t value) override {
    Value item;
    item.kind = Value::Kind::kInteger;
    item.magnitude = value;
    return Add(std::move(item));
  }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    // An integer that does not fit arrives here too.
    if (std::optional<Value> integer = ReadInteger(text)) return Add(*std::move(integer));
    Value item;
    item.kind = Value::Kind::kFraction;
    item.text = text;
    return Add(std::move(item));
  }
  bool string(string_t& value) override {
    Value item;
    item.kind = Value::Kind::kString;
    item.text = std::move(value);
    return Add(std::move(item));
  }
  bool binary(binary_t& /*value*/) override { return false; }  // text has none

  bool start_object(std::size_t /*elements*/) override { return Open(Value::Kind::kObject); }
  bool start_array(std::size_t /*elements*/) override { return Open(Value::Kind::kArray); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    if (open_.back()->Find(name) != nullptr) {
      throw PlanError(Under(places_.back(), name), "the key '" + name + "' is there twice; keep one of them");
    }
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*last_token*/,
                   const nlohmann::json::exception& error) override {
    throw PlanError(LineAndColumn(text_, position), "not JSON: " + WhatWasMet(error.what()));
  }

 private:
  std::string NextPlace() const {
    if (open_.empty()) return "";
    if (open_.back()->kind == Value::Kind::kObject) return Under(places_.back(), key_);
    return Under(places_.back(), open_.back()->elements.size());
  }

  // Puts the item where it belongs; the stack's pointers stay valid, since only the innermost container grows.
  Value* Insert(Value item) {
    if (open_.empty()) {
      root_ = std::move(item);
      return &root_;
    }
    Value& parent = *open_.back();
    if (parent.kind == Value::Kind::kObject) return &parent.members.emplace_back(Member{key_, std::move(item)}).value;
    return &parent.elements.emplace_back(std::move(item));
  }

  bool Add(Value item) {
    Insert(std::move(item));
    return true;
  }

  bool Open(Value::Kind kind) {
    std::string place = NextPlace();
    if (open_.size() == kDeepestNesting) {
      throw PlanError(place, "nested more than " + std::to_string(kDeepestNesting) + " deep; no plan needs that");
    }
    Value item;
    item.kind = kind;
    open_.push_back(Insert(std::move(item)));
    places_.push_back(std::move(place));
    return true;
  }

  bool Close() {
    open_.pop_back();
    places_.pop_back();
    return true;
  }

  std::string_view text_;
  Value root_;
  std::vector<Value*> open_;
  std::vector<std::string> places_;
  std::string key_;
};

}  // namespace

const Value* Value::Find(std::string_view key) const {
  for (const auto& [name, value] : members) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::string_view KindName(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kBoolean:
      return "true or false";
    case Value::Kind::kInteger:
      return "an integer";
    case Value::Kind::kFraction:
      return "a number with a fraction or an exponent";
    case Value::Kind::kString:
      return "a string";
    case Value::Kind::kArray:
      return "an array";
    case Value::Kind::kObject:
      return "an object";
  }
  return "";
}

std::optional<Value> ReadInteger(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  Value value;
  value.kind = Value::Kind::kInteger;
  value.negative = negative;
  value.magnitude = ParseDigits(digits).value_or(std::numeric_limits<std::uint64_t>::max());
  return value;
}

std::string Under(const std::string& place, std::string_view key) {
  std::string result = place + "/";
  for (const char character : key) {
    if (character == '~') {
      result += "~0";
    } else if (character == '/') {
      result += "~1";
    } else {
      result += character;
    }
  }
  return result;
}

std::string Under(const std::string& place, std::size_t index) { return place + "/" + std::to_string(index); }

Value ReadDocument(std::string_view text) {
  if (text.size() > kLargestDocumentBytes) {
    throw PlanError("", "larger than " + std::to_string(kLargestDocumentBytes >> 20) + " MiB; no plan needs that");
  }
  const bool blank = std::all_of(text.begin(), text.end(), [](char character) {
    return std::isspace(static_cast<unsigned char>(character)) != 0;
  });
  if (blank) throw PlanError("line 1, column 1", "empty; the smallest plan is {\"version\": 1, \"rules\": []}");
  DocumentBuilder builder(text);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder, nlohmann::json::input_format_t::json, /*strict=*/true,
                            /*ignore_comments=*/true);
  return builder.Take();
}

}  // namespace holdfast::fault
