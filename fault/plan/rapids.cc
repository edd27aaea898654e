#include "fault/plan/rapids.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "fault/plan/interpret.h"
#include "fault/plan/words.h"

namespace holdfast::fault {
namespace {

constexpr std::string_view kDriverSection = "cudaDriverFaults";
constexpr std::string_view kRuntimeSection = "cudaRuntimeFaults";

const Value& RequireMember(const Value& object, const std::string& place, std::string_view key) {
  const Value* member = object.Find(key);
  if (member == nullptr) throw PlanError(place, "has no \"" + std::string(key) + "\"");
  return *member;
}

std::int64_t SubstituteResult(const Value& entry, const std::string& place) {
  const std::string at = Under(place, "substituteReturnCode");
  const std::uint64_t code = RequireCount(RequireMember(entry, place, "substituteReturnCode"), at, 0);
  if (code == 0) throw PlanError(at, "0 is CUDA_SUCCESS, which is no fault");
  if (!ResultNameOf(static_cast<std::int64_t>(code))) {
    throw PlanError(at, std::to_string(code) + " is not the value of a CUresult");
  }
  return static_cast<std::int64_t>(code);
}

std::int64_t ResultOf(const Value& entry, const std::string& place) {
  const std::string at = Under(place, "injectionType");
  const std::uint64_t type = RequireCount(RequireMember(entry, place, "injectionType"), at, 0);
  if (type == 2) return SubstituteResult(entry, place);
  if (type > 2) throw PlanError(at, "must be 0 (trap), 1 (assertion) or 2 (return code)");
  return *FindResult(type == 0 ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_ASSERT");
}

void ReadPercent(const Value& entry, const std::string& place, When& when) {
  const std::string at = Under(place, "percent");
  const Value& percent = RequireMember(entry, place, "percent");
  if (percent.kind == Value::Kind::kInteger && percent.magnitude == 0) {
    throw PlanError(at, "a rule of 0 percent can never match; leave the entry out");
  }
  const std::uint64_t count = RequireCount(percent, at, 1, 100);
  if (count == 100) return;
  const std::uint64_t divisor = std::gcd(count, std::uint64_t{100});
  when.probability = Ratio{count / divisor, 100 / divisor};
}

Rule InterpretEntry(const std::string& name, const Value& entry, const std::string& place) {
  const bool number =
      !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (number) throw PlanError(place, "names a call by its CUPTI callback id; write its name");
  RequireMembers(entry, place, {"percent", "injectionType", "interceptionCount", "substituteReturnCode"});
  Rule rule;
  rule.place = place;
  rule.site = RequireSite(name, place);
  if (rule.site != kEverySite && !IsEntryPoint(AllSites()[rule.site])) {
    throw PlanError(place, "'" + name + "' is no driver entry point, and this section is about those");
  }
  ReadPercent(entry, place, rule.when);
  if (const Value* count = entry.Find("interceptionCount")) {
    rule.when.times = RequireCount(*count, Under(place, "interceptionCount"));
  }
  rule.action.result = ResultOf(entry, place);
  return rule;
}

void CheckSettings(const Value& document) {
  if (const Value* level = document.Find("logLevel")) RequireCount(*level, "/logLevel", 0);
  const Value* dynamic = document.Find("dynamic");
  if (dynamic != nullptr && dynamic->kind != Value::Kind::kBoolean) {
    throw PlanError("/dynamic", "must be true or false, not " + std::string(KindName(dynamic->kind)));
  }
  const Value* runtime = document.Find(kRuntimeSection);
  if (runtime == nullptr) return;
  const std::string place = Under("", kRuntimeSection);
  if (runtime->kind != Value::Kind::kObject) {
    throw PlanError(place, "must be an object, not " + std::string(KindName(runtime->kind)));
  }
  if (!runtime->members.empty()) {
    throw PlanError(
        Under(place, runtime->members.front().key),
        "the shim stands below the runtime API and cannot fail its calls; name the driver call that it makes "
        "under cudaDriverFaults");
  }
}

}  // namespace

bool LooksLikeRapids(const Value& document) {
  return document.Find(kDriverSection) != nullptr || document.Find(kRuntimeSection) != nullptr;
}

Plan InterpretRapids(const Value& document) {
  RequireMembers(document, "", {"logLevel", "dynamic", "seed", kDriverSection, kRuntimeSection});
  CheckSettings(document);
  Plan plan;
  if (const Value* seed = document.Find("seed")) {
    const bool text = seed->kind == Value::Kind::kString;
    plan.seed = text ? ParseSeed(seed->text, "/seed") : RequireCount(*seed, "/seed", 0);
  }
  const Value* faults = document.Find(kDriverSection);
  if (faults == nullptr) return plan;
  const std::string place = Under("", kDriverSection);
  if (faults->kind != Value::Kind::kObject) {
    throw PlanError(place, "must be an object, not " + std::string(KindName(faults->kind)));
  }
  // Their look-up prefers a name to "*", and ours takes the first rule that fires: names first.
  for (const bool every : {false, true}) {
    for (const auto& [name, entry] : faults->members) {
      if ((name == "*") == every) plan.rules.push_back(InterpretEntry(name, entry, Under(place, name)));
    }
  }
  return plan;
}

}  // namespace holdfast::fault
