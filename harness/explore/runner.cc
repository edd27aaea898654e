#include "harness/explore/runner.h"

#include <getopt.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/explore/explorer.h"

namespace holdfast::explore {
namespace {

using Json = nlohmann::json;

constexpr char kUsage[] =
    "usage: --list | --program=NAME [--search=exhaustive|random|pct|bursts|starvation] [--model=rc11|sc]\n"
    "       [--seed=N] [--executions=N] [--milliseconds=N] [--events=N] [--preemptions=N] [--spurious-failures=N] "
    "[--replay=SCHEDULE]\n";

const std::map<std::string_view, Strategy>& Strategies() {
  static const std::map<std::string_view, Strategy> kStrategies{{"random", Strategy::kRandom},
                                                                {"pct", Strategy::kPct},
                                                                {"bursts", Strategy::kBursts},
                                                                {"starvation", Strategy::kStarvation}};
  return kStrategies;
}

struct Arguments {
  bool lists = false;
  std::string program;
  std::string replay;
  ExploreOptions options;
  std::optional<std::size_t> spurious_failures_max;
};

std::uint64_t ReadNumber(const char* option, std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("--" + std::string(option) + "=" + std::string(text) + ": expected a number");
  }
  return number;
}

void ReadOption(Arguments& arguments, const std::string& name, const std::string& text) {
  ExploreOptions& options = arguments.options;
  if (name == "list") {
    arguments.lists = true;
  } else if (name == "program") {
    arguments.program = text;
  } else if (name == "replay") {
    arguments.replay = text;
  } else if (name == "search") {
    const auto strategy = Strategies().find(text);
    if (strategy == Strategies().end() && text != "exhaustive") {
      throw std::invalid_argument("--search=" + text + ": there is no such search");
    }
    options.strategy = strategy == Strategies().end() ? std::nullopt : std::optional(strategy->second);
  } else if (name == "model") {
    if (text != "rc11" && text != "sc") {
      throw std::invalid_argument("--model=" + text + ": expected rc11 or sc");
    }
    options.limits.sequential_consistency = text == "sc";
  } else {
    const std::uint64_t number = ReadNumber(name.c_str(), text);
    if (name == "seed") {
      options.seed = number;
    } else if (name == "executions") {
      options.executions_max = number;
    } else if (name == "milliseconds") {
      options.time_max = std::chrono::milliseconds(number);
    } else if (name == "preemptions") {
      options.preemptions_max = number;
    } else if (name == "events") {
      if (number >= UINT16_MAX) {
        throw std::invalid_argument("a thread can have 65534 operations at most");
      }
      options.limits.events_of_a_thread_max = number;
    } else {
      arguments.spurious_failures_max = number;
    }
  }
}

Arguments ReadArguments(int count, char** words) {
  static const option kOptions[] = {{"list", no_argument, nullptr, 0},
                                    {"program", required_argument, nullptr, 0},
                                    {"replay", required_argument, nullptr, 0},
                                    {"search", required_argument, nullptr, 0},
                                    {"model", required_argument, nullptr, 0},
                                    {"seed", required_argument, nullptr, 0},
                                    {"executions", required_argument, nullptr, 0},
                                    {"milliseconds", required_argument, nullptr, 0},
                                    {"events", required_argument, nullptr, 0},
                                    {"preemptions", required_argument, nullptr, 0},
                                    {"spurious-failures", required_argument, nullptr, 0},
                                    {nullptr, 0, nullptr, 0}};
  Arguments arguments;
  int index = 0;
  int found = 0;
  while ((found = getopt_long(count, words, "", kOptions, &index)) == 0) {
    ReadOption(arguments, kOptions[index].name, optarg == nullptr ? "" : optarg);
  }
  if (found != -1 || optind != count || arguments.lists == !arguments.program.empty()) {
    throw std::invalid_argument(kUsage);
  }
  return arguments;
}

void List(const std::vector<Program>& programs, int output) {
  Json list = Json::array();
  for (const Program& program : programs) {
    list.push_back({{"name", program.name},
                    {"summary", program.summary},
                    {"expected", program.expected ? Json(NameOf(*program.expected)) : Json()}});
  }
  dprintf(output, "%s\n", list.dump().c_str());
}

Json Describe(const Exploration& result, const Limits& limits) {
  const Certificate& certificate = result.certificate;
  Json described{{"executions", certificate.executions},
                 {"blocked", certificate.blocked},
                 {"inconsistent", certificate.inconsistent},
                 {"faulty", certificate.faults},
                 {"is_complete", certificate.is_complete},
                 {"is_out_of_time", result.is_out_of_time},
                 {"duration_ms", static_cast<double>(result.duration.count()) / 1e6},
                 {"spurious_failures_max", limits.spurious_failures_max},
                 {"table", result.table},
                 {"failure", nullptr}};
  if (result.failure) {
    const Failure& failure = *result.failure;
    described["failure"] = {{"verdict", NameOf(failure.finding.verdict)},
                            {"is_fault", IsFault(failure.finding.verdict)},
                            {"text", failure.finding.text},
                            {"schedule", Format(failure.schedule)},
                            {"switches", failure.switches},
                            {"faults", failure.faults}};
  }
  return described;
}

}  // namespace

int RunMain(int argument_count, char** words, const std::vector<Program>& programs) {
  // What programs print is not for the command that reads.
  const int output = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  try {
    Arguments arguments = ReadArguments(argument_count, words);
    if (arguments.lists) {
      List(programs, output);
      return 0;
    }
    const auto program = std::find_if(programs.begin(), programs.end(),
                                      [&](const Program& known) { return known.name == arguments.program; });
    if (program == programs.end()) {
      throw std::invalid_argument("there is no program '" + arguments.program + "'");
    }
    Limits& limits = arguments.options.limits;
    limits.spurious_failures_max = arguments.spurious_failures_max.value_or(program->spurious_failures_max);
    const Exploration result = arguments.replay.empty()
                                   ? Explore(*program, arguments.options)
                                   : Replay(*program, arguments.options.limits, ParseSchedule(arguments.replay));
    dprintf(output, "%s\n", Describe(result, limits).dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
    return 0;
  } catch (const std::invalid_argument& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 2;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 3;
  }
}

}  // namespace holdfast::explore
