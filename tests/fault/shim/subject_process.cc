#include "tests/fault/shim/subject_process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "fault/plan/load.h"
#include "fault/plan/print.h"

namespace holdfast::fault {
namespace {

std::string AbsolutePath(const char* variable) {
  const char* path = std::getenv(variable);
  char absolute[PATH_MAX];
  if (path == nullptr || realpath(path, absolute) == nullptr) {
    std::fprintf(stderr, "%s has to name a library\n", variable);
    std::exit(1);
  }
  return absolute;
}

std::string Scratch(const char* name) {
  const char* folder = std::getenv("TEST_TMPDIR");
  return std::string(folder == nullptr ? "/tmp" : folder) + "/" + std::to_string(getpid()) + "." + name;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t start = 0;
  for (std::size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
    lines.push_back(text.substr(start, end - start));
  }
  return lines;
}

[[noreturn]] void RunChild(const std::function<void(LoadedShim&)>& body, const Environment& environment,
                           const std::string& errors) {
  const int file = open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || dup2(file, STDERR_FILENO) < 0) _exit(99);
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  LoadedShim shim;
  body(shim);
  std::fflush(nullptr);
  _exit(::testing::Test::HasFailure() ? 1 : 0);
}

}  // namespace

LoadedShim::LoadedShim() : library_(dlopen(AbsolutePath("HOLDFAST_SHIM").c_str(), RTLD_NOW | RTLD_GLOBAL)) {
  if (library_ == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    _exit(98);
  }
  control_ = reinterpret_cast<ShimControlFunction>(Symbol("holdfast_shim_control"))();
}

void* LoadedShim::Symbol(const char* name) const { return dlsym(library_, name); }

int LoadedShim::DriverCalls(const char* name) const {
  return reinterpret_cast<int (*)(const char*)>(control_->driver_symbol("fake_driver_calls"))(name);
}

int ProcessResult::Count(const std::vector<std::string>& texts) const {
  return static_cast<int>(std::count_if(events.begin(), events.end(), [&](const std::string& event) {
    return std::all_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return event.find(text) != std::string::npos; });
  }));
}

ProcessResult RunSubject(const std::vector<std::string>& rules, const std::function<void(LoadedShim&)>& body,
                         const Environment& environment) {
  const std::string plan = Scratch("plan.json"), events = Scratch("events.jsonl"), errors = Scratch("errors.txt");
  std::ofstream(plan) << NormalisedPlan(WithCommandLine(Plan{}, rules, std::nullopt));
  Environment all = {
      {"HOLDFAST_PLAN", plan}, {"HOLDFAST_EVENTS", events}, {"HOLDFAST_DRIVER", AbsolutePath("HOLDFAST_FAKE_DRIVER")}};
  for (const auto& [name, value] : environment) all[name] = value;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) RunChild(body, all, errors);
  int status = 0;
  waitpid(child, &status, 0);
  ProcessResult result;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.errors = ReadFile(errors);
  result.events = Lines(ReadFile(events));
  for (const std::string& path : {plan, events, errors}) std::remove(path.c_str());
  return result;
}

ProcessResult RunGoodSubject(const std::vector<std::string>& rules, const std::function<void(LoadedShim&)>& body) {
  ProcessResult result = RunSubject(rules, body);
  EXPECT_EQ(result.exit_code, 0) << "signal " << result.signal << "\n" << result.errors;
  return result;
}

}  // namespace holdfast::fault
