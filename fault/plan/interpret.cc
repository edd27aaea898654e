#include "fault/plan/interpret.h"

#include <algorithm>
#include <array>
#include <vector>

#include "fault/plan/words.h"

namespace holdfast::fault {
namespace {

constexpr std::uint64_t kMostRepeats = 1000;
constexpr std::uint64_t kMostNoOps = 1'000'000;
constexpr std::size_t kLongestStepName = 128;

[[noreturn]] void RefuseType(const Value& value, const std::string& place, std::string_view wanted) {
  throw PlanError(place, "must be " + std::string(wanted) + ", not " + std::string(KindName(value.kind)));
}

bool RequireTrue(const Value& value, const std::string& place) {
  if (value.kind != Value::Kind::kBoolean) RefuseType(value, place, "true");
  if (!value.boolean) throw PlanError(place, "false does nothing; leave it out");
  return true;
}

std::string RequireStep(const Value& value, const std::string& place) {
  const std::string& name = RequireText(value, place);
  if (name.empty()) throw PlanError(place, "a step without a name is never announced, so the rule can never match");
  if (name.size() > kLongestStepName) {
    throw PlanError(place, "a step's name has at most " + std::to_string(kLongestStepName) + " bytes");
  }
  const bool printable = std::none_of(name.begin(), name.end(), [](char character) {
    const auto byte = static_cast<unsigned char>(character);
    return byte < 0x20 || byte == 0x7f;
  });
  if (!printable) throw PlanError(place, "a step's name has no control characters");
  return name;
}

// The one of `choices` whose word the text is.
template <typename Choice, std::size_t kCount>
Choice RequireWord(const Value& value, const std::string& place, const std::array<Choice, kCount>& choices) {
  const std::string& text = RequireText(value, place);
  std::string words;
  for (const Choice choice : choices) {
    if (text == WordOf(choice)) return choice;
    words += (words.empty() ? "" : ", ") + std::string(WordOf(choice));
  }
  throw PlanError(place, "'" + text + "' is none of " + words);
}

ThreadSelector RequireThread(const Value& value, const std::string& place) {
  if (value.kind == Value::Kind::kString) return ParseThread(value.text, place);
  if (value.kind != Value::Kind::kInteger) RefuseType(value, place, "main, subject, callback or a thread's number");
  const std::uint64_t ordinal = RequireCount(value, place, 0, UINT32_MAX);
  if (ordinal == 0) return {Role::kMain, std::nullopt};
  return {Role::kSubject, static_cast<std::uint32_t>(ordinal)};
}

When InterpretWhen(const Value& value, const std::string& place) {
  RequireMembers(value, place,
                 {"nth", "first", "after", "every", "times", "probability", "thread", "step", "count", "while"});
  When when;
  const auto count = [&](std::string_view key) -> std::optional<std::uint64_t> {
    const Value* member = value.Find(key);
    if (member == nullptr) return std::nullopt;
    return RequireCount(*member, Under(place, key));
  };
  when.nth = count("nth");
  when.first = count("first");
  when.after = count("after");
  when.every = count("every");
  when.times = count("times");
  if (const Value* member = value.Find("probability")) {
    const std::string at = Under(place, "probability");
    if (member->kind != Value::Kind::kString) RefuseType(*member, at, "a ratio in quotes such as \"1/64\"");
    when.probability = ParseRatio(member->text, at);
  }
  if (const Value* member = value.Find("thread")) when.thread = RequireThread(*member, Under(place, "thread"));
  if (const Value* member = value.Find("step")) when.step = RequireStep(*member, Under(place, "step"));
  if (const Value* member = value.Find("count")) {
    const std::string& from = RequireText(*member, Under(place, "count"));
    if (from != "step") {
      throw PlanError(Under(place, "count"),
                      "'" + from + "' is nothing to count from; write \"step\", or leave it out");
    }
    when.counts_in_step = true;
  }
  if (const Value* member = value.Find("while")) {
    when.during =
        RequireWord(*member, Under(place, "while"),
                    std::array{Context::kCapture, Context::kDrain, Context::kCallback, Context::kFinalization});
  }
  return when;
}

std::int64_t RequireDriverResult(const Value& value, const std::string& place) {
  if (value.kind != Value::Kind::kString) {
    RefuseType(value, place, "the name of a CUresult, such as CUDA_ERROR_UNKNOWN");
  }
  const auto result = FindResult(value.text);
  if (!result) {
    const std::string_view nearest = NearestResult(value.text);
    throw PlanError(place, "'" + value.text + "' is not the name of a CUresult" +
                               (nearest.empty() ? std::string() : "; did you mean " + std::string(nearest) + "?"));
  }
  if (*result == 0) {
    throw PlanError(place, "CUDA_SUCCESS is no fault: the call would be skipped, or masked, and nobody told");
  }
  return *result;
}

std::int64_t InterpretResult(const Value& value, const std::string& place, SiteId site) {
  const bool driver = site == kEverySite || IsEntryPoint(AllSites()[site]);
  if (driver) return RequireDriverResult(value, place);
  if (site != PendingCallSite()) {
    throw PlanError(place,
                    std::string(SiteName(site)) + " returns no result; " +
                        (site == AllocationSite() ? "write \"fail\": true" : "use deliver, delay, hold or drop"));
  }
  if (value.kind != Value::Kind::kInteger || !value.negative || value.magnitude != 1) {
    throw PlanError(place, "Py_AddPendingCall can only answer -1; write \"return\": -1");
  }
  return -1;
}

Hold InterpretHold(const Value& value, const std::string& place) {
  RequireMembers(value, place, {"rule", "step"});
  if (value.members.size() != 1) {
    throw PlanError(place, "must say what releases it: {\"rule\": N} or {\"step\": \"NAME\"}, one of the two");
  }
  Hold hold;
  if (const Value* member = value.Find("rule")) hold.rule = RequireCount(*member, Under(place, "rule"), 0);
  if (const Value* member = value.Find("step")) hold.step = RequireStep(*member, Under(place, "step"));
  return hold;
}

Action InterpretAction(const Value& value, const std::string& place, SiteId site) {
  RequireMembers(value, place,
                 {"return", "after", "delay", "hold", "drop", "repeat", "deliver", "order", "saturate", "until",
                  "record", "fail", "abort"});
  if (value.members.empty()) throw PlanError(place, "does nothing; name at least one action");
  Action action;
  const auto flag = [&](std::string_view key) {
    const Value* member = value.Find(key);
    return member != nullptr && RequireTrue(*member, Under(place, key));
  };
  if (const Value* member = value.Find("return")) {
    action.result = InterpretResult(*member, Under(place, "return"), site);
  }
  action.after = flag("after");
  if (const Value* member = value.Find("delay")) {
    action.delay_ns = ParseDuration(RequireText(*member, Under(place, "delay")), Under(place, "delay"));
  }
  if (const Value* member = value.Find("hold")) action.hold = InterpretHold(*member, Under(place, "hold"));
  action.drop = flag("drop");
  if (const Value* member = value.Find("repeat")) {
    action.repeat = static_cast<std::uint32_t>(RequireCount(*member, Under(place, "repeat"), 1, kMostRepeats));
  }
  if (const Value* member = value.Find("deliver")) {
    action.deliver = RequireWord(*member, Under(place, "deliver"),
                                 std::array{Delivery::kInline, Delivery::kThread, Delivery::kHeld});
  }
  if (const Value* member = value.Find("order")) {
    action.order = RequireWord(*member, Under(place, "order"), std::array{Order::kFifo, Order::kLifo});
  }
  if (const Value* member = value.Find("saturate")) {
    action.saturate = static_cast<std::uint32_t>(RequireCount(*member, Under(place, "saturate"), 1, kMostNoOps));
  }
  if (const Value* member = value.Find("until")) action.until = InterpretHold(*member, Under(place, "until"));
  action.record = flag("record");
  action.fail = flag("fail");
  action.abort = flag("abort");
  return action;
}

}  // namespace

SiteId RequireSite(std::string_view name, const std::string& place) {
  if (name == "*") return kEverySite;
  const SiteId site = FindSite(name);
  if (site != kNoSite) return site;
  const std::string_view nearest = NearestSite(name);
  throw PlanError(place, "'" + std::string(name) + "' is no site" +
                             (nearest.empty() ? "; holdfast_plan --sites lists them"
                                              : "; did you mean " + std::string(nearest) + "?"));
}

void RequireMembers(const Value& object, const std::string& place, std::initializer_list<std::string_view> known) {
  if (object.kind != Value::Kind::kObject) RefuseType(object, place, "an object");
  const std::vector<std::string_view> names(known);
  for (const auto& [key, value] : object.members) {
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    const std::string_view nearest = NearestName(key, names);
    std::string all;
    for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
    throw PlanError(Under(place, key),
                    "unknown key '" + key + "'; " +
                        (nearest.empty() ? "known here: " + all : "did you mean " + std::string(nearest) + "?"));
  }
}

std::uint64_t RequireCount(const Value& value, const std::string& place, std::uint64_t lowest, std::uint64_t highest) {
  if (value.kind != Value::Kind::kInteger) RefuseType(value, place, "an integer");
  if (!value.negative && value.magnitude < lowest) {
    throw PlanError(place, std::to_string(value.magnitude) + " can never match, since counting starts at " +
                               std::to_string(lowest) + "; leave it out");
  }
  if (!value.negative && value.magnitude > highest) {
    throw PlanError(place, "the number is too large; the most is " + std::to_string(highest));
  }
  if (value.negative) {
    throw PlanError(place, "must lie between " + std::to_string(lowest) + " and " + std::to_string(highest));
  }
  return value.magnitude;
}

const std::string& RequireText(const Value& value, const std::string& place) {
  if (value.kind != Value::Kind::kString) RefuseType(value, place, "a string");
  return value.text;
}

Rule InterpretRule(const Value& value, const std::string& place) {
  RequireMembers(value, place, {"site", "when", "do"});
  Rule rule;
  rule.place = place;
  const Value* site = value.Find("site");
  if (site == nullptr) throw PlanError(place, "has no \"site\": name the call that is to fail");
  rule.site = RequireSite(RequireText(*site, Under(place, "site")), Under(place, "site"));
  if (const Value* when = value.Find("when")) rule.when = InterpretWhen(*when, Under(place, "when"));
  const Value* action = value.Find("do");
  if (action == nullptr) throw PlanError(place, "has no \"do\": say what is to happen");
  rule.action = InterpretAction(*action, Under(place, "do"), rule.site);
  return rule;
}

Plan InterpretPlan(const Value& document) {
  RequireMembers(document, "", {"version", "seed", "rules", "$schema"});
  const Value* version = document.Find("version");
  if (version == nullptr) throw PlanError("/version", "missing; this loader reads \"version\": 1");
  if (RequireCount(*version, "/version", 0) != 1) {
    throw PlanError("/version", "version " + std::to_string(version->magnitude) + " is unknown; this loader reads 1");
  }
  Plan plan;
  if (const Value* seed = document.Find("seed")) {
    if (seed->kind != Value::Kind::kString) RefuseType(*seed, "/seed", "a string such as \"0x1c0ffee\"");
    plan.seed = ParseSeed(seed->text, "/seed");
  }
  if (const Value* schema = document.Find("$schema")) RequireText(*schema, "/$schema");
  const Value* rules = document.Find("rules");
  if (rules == nullptr) throw PlanError("/rules", "missing; a plan without faults says \"rules\": []");
  if (rules->kind != Value::Kind::kArray) RefuseType(*rules, "/rules", "an array");
  for (std::size_t index = 0; index < rules->elements.size(); ++index) {
    plan.rules.push_back(InterpretRule(rules->elements[index], Under("/rules", index)));
  }
  return plan;
}

}  // namespace holdfast::fault
