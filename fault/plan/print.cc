#include "fault/plan/print.h"

#include <cstdio>

#include "fault/plan/words.h"

namespace holdfast::fault {
namespace {

// Writes one object, member by member.
class ObjectWriter {
 public:
  void Raw(std::string_view key, const std::string& json) {
    text_ += text_.size() == 1 ? "" : ",";
    text_ += JsonString(key) + ":" + json;
  }
  void Text(std::string_view key, std::string_view text) { Raw(key, JsonString(text)); }
  void Flag(std::string_view key, bool value) {
    if (value) Raw(key, "true");
  }
  template <typename Number>
  void Count(std::string_view key, const std::optional<Number>& value) {
    if (value) Raw(key, std::to_string(*value));
  }

  bool empty() const { return text_.size() == 1; }
  std::string Take() { return std::move(text_) + "}"; }

 private:
  std::string text_ = "{";
};

std::string ThreadText(const ThreadSelector& thread) {
  std::string text(WordOf(thread.role));
  if (thread.ordinal) text += "-" + std::to_string(*thread.ordinal);
  return text;
}

std::string WhenText(const When& when) {
  ObjectWriter object;
  object.Count("nth", when.nth);
  object.Count("first", when.first);
  object.Count("after", when.after);
  object.Count("every", when.every);
  object.Count("times", when.times);
  if (when.probability) {
    object.Text("probability",
                std::to_string(when.probability->numerator) + "/" + std::to_string(when.probability->denominator));
  }
  if (when.thread) object.Text("thread", ThreadText(*when.thread));
  if (!when.step.empty()) object.Text("step", when.step);
  if (when.counts_in_step) object.Text("count", "step");
  if (when.during) object.Text("while", WordOf(*when.during));
  return object.empty() ? "" : object.Take();
}

std::string HoldText(const Hold& hold) {
  ObjectWriter object;
  object.Count("rule", hold.rule);
  if (!hold.step.empty()) object.Text("step", hold.step);
  return object.Take();
}

std::string ActionText(const Rule& rule) {
  const Action& action = rule.action;
  ObjectWriter object;
  if (action.result && rule.site == PendingCallSite()) {
    object.Raw("return", std::to_string(*action.result));
  } else if (action.result) {
    object.Text("return", *ResultNameOf(*action.result));
  }
  object.Flag("after", action.after);
  if (action.delay_ns) object.Text("delay", DurationText(*action.delay_ns));
  if (action.hold) object.Raw("hold", HoldText(*action.hold));
  object.Flag("drop", action.drop);
  object.Count("repeat", action.repeat);
  if (action.deliver) object.Text("deliver", WordOf(*action.deliver));
  if (action.order) object.Text("order", WordOf(*action.order));
  object.Count("saturate", action.saturate);
  if (action.until) object.Raw("until", HoldText(*action.until));
  object.Flag("record", action.record);
  object.Flag("fail", action.fail);
  object.Flag("abort", action.abort);
  return object.Take();
}

std::string RulesText(const Plan& plan) {
  std::string text = "[";
  for (const Rule& rule : plan.rules) {
    ObjectWriter object;
    object.Text("site", SiteName(rule.site));
    if (const std::string when = WhenText(rule.when); !when.empty()) object.Raw("when", when);
    object.Raw("do", ActionText(rule));
    text += (text.size() == 1 ? "" : ",") + object.Take();
  }
  return text + "]";
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string result = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') {
      result += '\\';
      result += character;
    } else if (static_cast<unsigned char>(character) < 0x20) {
      char escaped[7];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned char>(character));
      result += escaped;
    } else {
      result += character;
    }
  }
  return result + "\"";
}

std::string NormalisedPlan(const Plan& plan) {
  ObjectWriter object;
  object.Raw("version", "1");
  if (plan.seed) object.Text("seed", SeedText(*plan.seed));
  object.Raw("rules", RulesText(plan));
  return object.Take();
}

std::string PlanDigest(const Plan& plan) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char character : RulesText(plan)) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3;
  }
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace holdfast::fault
