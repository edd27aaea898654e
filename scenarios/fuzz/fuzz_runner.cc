// The program: draws sequences until its time is over, or replays given ones.
//
//   fuzz_runner --seed=S --max-time=SECONDS [--failure-out=FILE]   FILE holds the sequence that is being run
//   fuzz_runner --replay=FILE
//   fuzz_runner --corpus=FOLDER                                    all *.fuzz files of the folder
//
// Exit 0 no difference, 1 library and reference model differ, 2 usage or a file that is no sequence, 3 no shim. Events
// go where HOLDFAST_EVENTS says, as a scenario's.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/events.h"
#include "harness/scenario/scenario.h"
#include "scenarios/fuzz/environment.h"
#include "scenarios/fuzz/journal.h"
#include "scenarios/fuzz/random.h"
#include "scenarios/fuzz/runner.h"
#include "scenarios/fuzz/sequence.h"

namespace holdfast::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::optional<std::uint64_t> seed;
  std::optional<std::uint64_t> max_time_s;
  std::string failure_out;
  std::string replay;
  std::string corpus;
};

[[noreturn]] void EndWithUsage(const std::string& complaint) {
  std::fprintf(stderr,
               "fuzz_runner: %s\nusage: fuzz_runner --seed=S --max-time=SECONDS [--failure-out=FILE] | --replay=FILE | "
               "--corpus=FOLDER\n",
               complaint.c_str());
  std::exit(harness::kExitUsage);
}

[[noreturn]] void EndWith(harness::ExitCode code, const std::string& complaint) {
  std::fprintf(stderr, "fuzz_runner: %s\n", complaint.c_str());
  std::exit(code);
}

std::uint64_t ReadNumber(std::string_view argument, std::string_view text) {
  const bool is_hexadecimal = text.starts_with("0x");
  char* end = nullptr;
  const std::string digits(text);
  const std::uint64_t number = std::strtoull(digits.c_str(), &end, is_hexadecimal ? 16 : 10);
  if (digits.empty() || *end != '\0' || digits.front() < '0' || digits.front() > '9') {
    EndWithUsage(std::string(argument) + ": expected a number");
  }
  return number;
}

Options ReadOptions(int argument_count, char** arguments) {
  Options options;
  for (int i = 1; i < argument_count; ++i) {
    const std::string_view argument = arguments[i];
    const std::size_t equals = std::min(argument.find('='), argument.size());
    const std::string_view value = argument.substr(std::min(equals + 1, argument.size()));
    const std::string_view name = argument.substr(0, equals);
    if (name == "--seed") {
      options.seed = ReadNumber(argument, value);
    } else if (name == "--max-time") {
      options.max_time_s = ReadNumber(argument, value);
    } else if (name == "--failure-out") {
      options.failure_out = value;
    } else if (name == "--replay") {
      options.replay = value;
    } else if (name == "--corpus") {
      options.corpus = value;
    } else {
      EndWithUsage("unknown argument " + std::string(argument));
    }
  }
  const bool draws = options.seed && options.max_time_s;
  if (static_cast<int>(draws) + static_cast<int>(!options.replay.empty()) + static_cast<int>(!options.corpus.empty()) !=
      1) {
    EndWithUsage("give --seed and --max-time, or --replay, or --corpus");
  }
  return options;
}

const fault::ShimControl& FindShim() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) {
    EndWith(harness::kExitHarness, std::string("no libcuda.so.1: ") + dlerror());
  }
  const auto control = reinterpret_cast<fault::ShimControlFunction>(dlsym(driver, "holdfast_shim_control"));
  if (control == nullptr) {
    EndWith(harness::kExitHarness,
            "the libcuda.so.1 found is not the shim; put the shim's folder first in LD_LIBRARY_PATH, or use the "
            "holdfast command");
  }
  return *control();
}

// The files to replay, in the order of their names.
std::vector<std::string> FilesOf(const Options& options) {
  if (!options.replay.empty()) {
    return {options.replay};
  }
  std::vector<std::string> files;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(options.corpus, problem)) {
    if (entry.path().extension() == ".fuzz") {
      files.push_back(entry.path().string());
    }
  }
  if (problem) {
    EndWith(harness::kExitUsage, options.corpus + ": " + problem.message());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Sequence ReadSequence(const std::string& path, const fault::ShimControl& shim) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) {
    EndWith(harness::kExitUsage, path + ": cannot be read");
  }
  const auto can_strike = [&shim](const Fault& fault) {
    const bool armed = shim.arm({fault.site.c_str(), fault.nth, fault.persistent, fault.after, CUDA_ERROR_UNKNOWN});
    shim.disarm();
    return armed;
  };
  try {
    return ParseSequence(text, can_strike);
  } catch (const SequenceError& error) {
    EndWith(harness::kExitUsage, path + ": " + error.what());
  }
}

void WriteCounters(const Runner& runner, Clock::time_point began) {
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
  harness::WriteCounter("operations", runner.operations());
  harness::WriteCounter("sequences", runner.sequences());
  harness::WriteCounter("faults", runner.faults());
  harness::WriteCounter("elapsed_ms", static_cast<std::uint64_t>(elapsed.count()));
}

void DrawUntil(Runner& runner, std::uint64_t seed, Clock::time_point end) {
  Random seeds(seed);
  do {
    runner.RunDrawn(seeds.Next());
  } while (Clock::now() < end);
}

void Run(harness::Context& context, const Options& options) {
  std::vector<Sequence> sequences;
  if (!options.seed) {
    for (const std::string& file : FilesOf(options)) {
      sequences.push_back(ReadSequence(file, context.shim()));
    }
  }
  // A use of freed memory would show late, if at all, and otherwise in a replay.
  harness::SpoilFreedMemory();
  Environment environment(context);
  Journal journal(options.failure_out);
  Runner runner(environment, journal);
  const Clock::time_point began = Clock::now();
  environment.OnFailure([&] {
    journal.Finish();
    WriteCounters(runner, began);
  });
  for (const Sequence& sequence : sequences) {
    runner.Replay(sequence);
  }
  if (options.seed) {
    DrawUntil(runner, *options.seed, began + std::chrono::seconds(*options.max_time_s));
  }
  WriteCounters(runner, began);
  context.Oracle("the library agrees with the reference model");
}

int Main(int argument_count, char** arguments) {
  const Options options = ReadOptions(argument_count, arguments);
  const fault::ShimControl& shim = FindShim();
  shim.name_thread("main", 0);
  const harness::Scenario scenario{.name = "fuzz", .summary = "", .covers = {}, .catches = {}, .run = nullptr};
  harness::WriteEvent("start", {{"scenario", scenario.name}, {"variant", "only"}});
  harness::Context context(scenario, "only", shim);
  try {
    Run(context, options);
  } catch (const std::exception& error) {
    context.EndByException(error);
  }
  context.CheckNothingLeaked();
  harness::WriteEvent("finish");
  return harness::kExitClean;
}

}  // namespace
}  // namespace holdfast::fuzz

int main(int argument_count, char** arguments) { return holdfast::fuzz::Main(argument_count, arguments); }
