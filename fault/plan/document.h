// A JSON document as written: members in order, numbers told apart, and nothing silently dropped.
//
// Reading refuses what a general JSON reader lets pass: two equal keys in one object (at any depth), a document that is
// too deep or too large to be a plan, a number that does not fit. Comments are allowed.
#ifndef HOLDFAST_FAULT_PLAN_DOCUMENT_H_
#define HOLDFAST_FAULT_PLAN_DOCUMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::fault {

struct Member;

struct Value {
  enum class Kind : std::uint8_t { kNull, kBoolean, kInteger, kFraction, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  bool boolean = false;
  bool negative = false;        // of an integer
  std::uint64_t magnitude = 0;  // of an integer; the largest there is for one that does not fit
  std::string text;             // of a string, without its quotes; of a fraction, as written
  std::vector<Value> elements;
  std::vector<Member> members;  // of an object, in order

  const Value* Find(std::string_view key) const;
};

struct Member {
  std::string key;
  Value value;
};

// "an object", "a string", ...: for sentences.
std::string_view KindName(Value::Kind kind);

// The integer that the text is: digits, perhaps after a minus. nullopt if it is none.
std::optional<Value> ReadInteger(std::string_view text);

// `place` followed by one more token of a JSON pointer.
std::string Under(const std::string& place, std::string_view key);
std::string Under(const std::string& place, std::size_t index);

inline constexpr std::size_t kLargestDocumentBytes = 1 << 20;
inline constexpr std::size_t kDeepestNesting = 16;

// Throws PlanError.
Value ReadDocument(std::string_view text);

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_PLAN_DOCUMENT_H_
