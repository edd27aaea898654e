#include "fault/plan/one_line.h"

#include <algorithm>
#include <array>
#include <vector>

#include "fault/plan/document.h"
#include "fault/plan/interpret.h"

namespace holdfast::fault {
namespace {

constexpr std::array<std::string_view, 9> kWhenKeys = {"nth",    "first", "every", "times", "probability",
                                                       "thread", "step",  "count", "while"};
constexpr std::array<std::string_view, 12> kActionKeys = {"return", "delay",    "hold",  "drop",   "repeat", "deliver",
                                                          "order",  "saturate", "until", "record", "fail",   "abort"};

template <typename Keys>
bool Has(const Keys& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

Value TextValue(std::string_view text) {
  Value value;
  value.kind = Value::Kind::kString;
  value.text = text;
  return value;
}

Value TrueValue() {
  Value value;
  value.kind = Value::Kind::kBoolean;
  value.boolean = true;
  return value;
}

// An integer where the text is one, else the text.
Value NumberOrText(std::string_view text) { return ReadInteger(text).value_or(TextValue(text)); }

Value ObjectValue() {
  Value value;
  value.kind = Value::Kind::kObject;
  return value;
}

// The value of `hold` or `until`, whichever `key` is.
Value HoldValue(std::string_view key, std::string_view text, const std::string& place) {
  const std::size_t colon = text.find(':');
  const std::string_view word = text.substr(0, colon);
  if (colon == std::string_view::npos || (word != "step" && word != "rule")) {
    const std::string form(key);
    throw PlanError(place, "says what ends it: " + form + "=step:NAME or " + form + "=rule:N");
  }
  const std::string_view rest = text.substr(colon + 1);
  Value hold = ObjectValue();
  hold.members.push_back({std::string(word), word == "step" ? TextValue(rest) : NumberOrText(rest)});
  return hold;
}

class OneLineParser {
 public:
  OneLineParser(std::string_view text, const std::string& place) : text_(text), place_(place) {}

  Rule Parse() {
    const std::size_t colon = text_.find(':');
    Value rule = ObjectValue();
    rule.members.push_back({"site", TextValue(text_.substr(0, colon))});
    if (colon != std::string_view::npos) ParseItems(colon + 1);
    if (!when_.members.empty()) rule.members.push_back({"when", std::move(when_)});
    if (!action_.members.empty()) rule.members.push_back({"do", std::move(action_)});
    return InterpretRule(rule, place_);
  }

 private:
  void ParseItems(std::size_t start) {
    while (true) {
      const std::size_t comma = std::min(text_.find(',', start), text_.size());
      ParseItem(text_.substr(start, comma - start), start + 1);
      if (comma == text_.size()) return;
      start = comma + 1;
    }
  }

  void ParseItem(std::string_view item, std::size_t column) {
    if (item.empty()) {
      throw PlanError(place_ + ", column " + std::to_string(column),
                      "expected key=value; the form is SITE:key=value,...");
    }
    const std::size_t equals = item.find('=');
    const std::string_view key = item.substr(0, equals);
    const bool alone = equals == std::string_view::npos || item.substr(equals + 1) == "true";
    const std::string_view value = equals == std::string_view::npos ? "" : item.substr(equals + 1);
    if (key == "after") {
      Put(alone ? action_ : when_, alone ? "do" : "when", key, alone ? TrueValue() : NumberOrText(value));
    } else if (key == "hold" || key == "until") {
      Put(action_, "do", key, HoldValue(key, value, Under(Under(place_, "do"), key)));
    } else if (Has(kWhenKeys, key)) {
      Put(when_, "when", key, IsNumeric(key) ? NumberOrText(value) : TextValue(value));
    } else if (Has(kActionKeys, key)) {
      Put(action_, "do", key, alone ? TrueValue() : IsNumeric(key) ? NumberOrText(value) : TextValue(value));
    } else {
      RefuseKey(key, column);
    }
  }

  static bool IsNumeric(std::string_view key) {
    return key != "probability" && key != "step" && key != "count" && key != "while" && key != "delay" &&
           key != "deliver" && key != "order";
  }

  void Put(Value& object, std::string_view name, std::string_view key, Value value) {
    if (object.Find(key) != nullptr) {
      throw PlanError(Under(Under(place_, name), key), "is there twice; keep one of them");
    }
    object.members.push_back({std::string(key), std::move(value)});
  }

  [[noreturn]] void RefuseKey(std::string_view key, std::size_t column) {
    std::vector<std::string_view> names(kWhenKeys.begin(), kWhenKeys.end());
    names.insert(names.end(), kActionKeys.begin(), kActionKeys.end());
    names.push_back("after");
    const std::string_view nearest = NearestName(key, names);
    throw PlanError(place_ + ", column " + std::to_string(column),
                    "unknown key '" + std::string(key) + "'" +
                        (nearest.empty() ? "" : "; did you mean " + std::string(nearest) + "?"));
  }

  std::string_view text_;
  std::string place_;
  Value when_ = ObjectValue();
  Value action_ = ObjectValue();
};

}  // namespace

Rule ParseOneLineRule(std::string_view text, const std::string& place) {
  if (text.empty()) throw PlanError(place, "empty; the form is SITE:key=value,...");
  return OneLineParser(text, place).Parse();
}

}  // namespace holdfast::fault
