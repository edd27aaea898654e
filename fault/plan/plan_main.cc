// holdfast_plan: loads a plan the way the shim does, and prints what it means.
//
//   holdfast_plan [--plan=FILE] [--fault=RULE]... [--seed=S]   prints {"plan": ..., "digest": "..."}
//   holdfast_plan --sites                                      prints the sites, what each can do, and why
//
// Exit codes: 0 it loads; 2 it does not, or the command line is wrong, with one sentence on stderr.

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "fault/plan/load.h"
#include "fault/plan/print.h"
#include "fault/plan/words.h"

namespace {

using holdfast::fault::AllEntryPoints;
using holdfast::fault::AllSites;
using holdfast::fault::EntryPoint;
using holdfast::fault::JsonString;
using holdfast::fault::Mark;
using holdfast::fault::Plan;
using holdfast::fault::PlanError;
using holdfast::fault::Site;

constexpr std::string_view kUsage =
    "usage: holdfast_plan [--plan=FILE] [--fault=RULE]... [--seed=SEED]\n"
    "       holdfast_plan --sites\n"
    "RULE is SITE[:key=value,...], for example cuGraphAddHostNode:nth=1,return=CUDA_ERROR_OUT_OF_MEMORY\n";

struct Options {
  std::string plan_path;
  std::vector<std::string> faults;
  std::string seed;
  bool sites = false;
  bool help = false;
};

int Refuse(const std::string& sentence) {
  std::fprintf(stderr, "holdfast: %s\n", sentence.c_str());
  return 2;
}

// False at an option that is none.
bool ParseOptions(int count, char** words, Options& options) {
  for (int index = 1; index < count; ++index) {
    const std::string_view word = words[index];
    if (word.starts_with("--plan=")) {
      options.plan_path = word.substr(7);
    } else if (word.starts_with("--fault=")) {
      options.faults.emplace_back(word.substr(8));
    } else if (word.starts_with("--seed=")) {
      options.seed = word.substr(7);
    } else if (word == "--sites") {
      options.sites = true;
    } else if (word == "--help") {
      options.help = true;
    } else {
      Refuse("unknown option '" + std::string(word) + "'; see holdfast_plan --help");
      return false;
    }
  }
  return true;
}

std::string_view MarkName(Mark mark) {
  switch (mark) {
    case Mark::kBefore:
      return "before";
    case Mark::kAfter:
      return "after";
    case Mark::kBoth:
      return "both";
    case Mark::kNone:
      return "none";
    case Mark::kForward:
      return "forward";
    case Mark::kOwn:
      return "own";
  }
  return "";
}

void PrintSites() {
  std::string text = "[";
  for (std::size_t index = 0; index < AllSites().size(); ++index) {
    const Site& site = AllSites()[index];
    std::string names;
    for (const EntryPoint& entry_point : AllEntryPoints()) {
      if (entry_point.site == index) names += (names.empty() ? "" : ", ") + JsonString(entry_point.name);
    }
    text += (index == 0 ? "\n" : ",\n");
    text += "  {\"site\": " + JsonString(site.name) + ", \"mark\": " + JsonString(MarkName(site.mark)) +
            ", \"kind\": " + JsonString(site.kind) + ", \"repeat\": " + (site.repeatable ? "true" : "false") +
            ", \"entry_points\": [" + names + "], \"reason\": " + JsonString(site.reason) + "}";
  }
  std::printf("%s\n]\n", text.c_str());
}

int PrintPlan(const Options& options) {
  std::string source;  // what a PlanError's place is relative to
  try {
    Plan plan;
    if (!options.plan_path.empty()) {
      source = options.plan_path + ": ";
      plan = holdfast::fault::LoadPlanFile(options.plan_path);
    }
    source.clear();
    std::optional<std::uint64_t> seed;
    if (!options.seed.empty()) seed = holdfast::fault::ParseSeed(options.seed, "--seed");
    plan = holdfast::fault::WithCommandLine(std::move(plan), options.faults, seed);
    std::printf("{\"plan\": %s, \"digest\": \"%s\"}\n", holdfast::fault::NormalisedPlan(plan).c_str(),
                holdfast::fault::PlanDigest(plan).c_str());
    return 0;
  } catch (const PlanError& error) {
    const bool from_file = !options.plan_path.empty() && error.place().starts_with('/');
    return Refuse((from_file ? options.plan_path + ": " : source) + error.what());
  }
}

}  // namespace

int main(int argument_count, char** arguments) {
  Options options;
  if (!ParseOptions(argument_count, arguments, options)) return 2;
  if (options.help) {
    std::printf("%s", std::string(kUsage).c_str());
    return 0;
  }
  if (options.sites) {
    PrintSites();
    return 0;
  }
  return PrintPlan(options);
}
