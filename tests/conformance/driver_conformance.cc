// Asks the driver that the loader finds one question a fact, and compares the answers with what was measured.
//
//   driver_conformance [--json]          all facts, each in a process of its own
//   driver_conformance --fact=ID         one fact, in this process
//   driver_conformance --list            the facts, one JSON line each
//
// Exit code 0: all met; 1: some not; 2: usage; 3: no driver or no device.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/fact.h"

namespace holdfast::conformance {
namespace {

enum ExitCode { kMet = 0, kUnmet = 1, kUsage = 2, kNoDriver = 3 };

constexpr std::chrono::seconds kFactDeadline(60);
constexpr char kAnswerMark = '\x1e';  // begins an answer on the way from the child to its parent
constexpr char kFieldMark = '\x1f';

std::vector<Fact> AllFacts() {
  std::vector<Fact> all;
  for (const auto& make : {&UserObjectFacts, &UserObjectMisuseFacts, &CallbackFacts, &NodeFacts, &GraphFacts,
                           &ExecutableFacts, &CaptureFacts, &CaptureWorkFacts, &CaptureBranchFacts, &CaptureGraphFacts,
                           &CaptureRuleFacts, &ExecutableNodeFacts, &GraphShapeFacts, &ConditionalFacts,
                           &MemoryNodeFacts, &CopyFacts, &KernelNodeFacts, &ContextFacts}) {
    for (Fact& fact : make()) all.push_back(std::move(fact));
  }
  return all;
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) >= 0x20)
      quoted += c;
    else
      quoted += ' ';
  }
  return quoted + "\"";
}

struct Outcome {
  std::vector<Answer> answers;
  std::string skipped;  // why; empty if it was asked
  bool met = true;
  std::string ending;  // how the process ended, if not as it should
};

void WriteAll(int file, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    if (count <= 0) return;
    done += static_cast<std::size_t>(count);
  }
}

// Runs one fact here. The answers go to `pipe` as soon as the fact returns: the end of the process is part of some.
int RunHere(const Fact& fact, int pipe) {
  Driver driver;
  std::string error;
  if (!Load(&driver, &error) || !Start(&driver, &error)) {
    std::fprintf(stderr, "driver_conformance: %s\n", error.c_str());
    return kNoDriver;
  }
  Report report(driver);
  fact.run(driver, report);
  bool met = true;
  for (const Answer& answer : report.answers()) {
    met = met && answer.met();
    if (pipe >= 0) {
      WriteAll(pipe, kAnswerMark + answer.question + kFieldMark + answer.expected + kFieldMark + answer.got);
    } else {
      std::printf("%s %s: expected %s, got %s\n", answer.met() ? "met  " : "UNMET", answer.question.c_str(),
                  answer.expected.c_str(), answer.got.c_str());
    }
  }
  std::fflush(stdout);
  return met ? kMet : kUnmet;
}

std::vector<std::string_view> Split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t found = text.find(mark);
    parts.push_back(text.substr(0, found));
    if (found == std::string_view::npos) return parts;
    text.remove_prefix(found + 1);
  }
}

void ParseAnswers(std::string_view text, std::vector<Answer>* answers) {
  for (const std::string_view part : Split(text, kAnswerMark)) {
    const std::vector<std::string_view> fields = Split(part, kFieldMark);
    if (fields.size() != 3) continue;
    answers->push_back(Answer{std::string(fields[0]), std::string(fields[1]), std::string(fields[2])});
  }
}

// What the child writes until it ends or the deadline passes; false if the deadline passed.
bool ReadUntilEnd(int file, std::string* text) {
  const auto end = std::chrono::steady_clock::now() + kFactDeadline;
  char buffer[4096];
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd waited{file, POLLIN, 0};
    if (::poll(&waited, 1, static_cast<int>(left.count())) <= 0) continue;
    const ssize_t count = ::read(file, buffer, sizeof(buffer));
    if (count <= 0) return true;
    text->append(buffer, static_cast<std::size_t>(count));
  }
}

void JudgeEnding(const Fact& fact, bool in_time, int status, Outcome* outcome) {
  if (!in_time) {
    outcome->ending = "did not end within 60 s";
  } else if (fact.ending == Ending::kCrashes) {
    if (!WIFSIGNALED(status)) outcome->ending = "was expected to crash and did not";
  } else if (WIFSIGNALED(status)) {
    outcome->ending = std::string("ended by signal: ") + ::strsignal(WTERMSIG(status));
  } else if (WEXITSTATUS(status) != kMet) {
    outcome->ending = "exit code " + std::to_string(WEXITSTATUS(status));
  }
}

Outcome RunInChild(const Fact& fact) {
  Outcome outcome;
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) std::abort();
  const pid_t child = ::fork();
  if (child == 0) {
    const int kept = ::dup(pipe[1]);
    const std::string name = "--fact=" + fact.id;
    const std::string descriptor = "--pipe=" + std::to_string(kept);
    ::execl("/proc/self/exe", "driver_conformance", name.c_str(), descriptor.c_str(), nullptr);
    ::_exit(kUsage);
  }
  ::close(pipe[1]);
  std::string text;
  const bool in_time = ReadUntilEnd(pipe[0], &text);
  if (!in_time) ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(pipe[0]);
  ParseAnswers(text, &outcome.answers);
  JudgeEnding(fact, in_time, status, &outcome);
  outcome.met = outcome.ending.empty();
  for (const Answer& answer : outcome.answers) outcome.met = outcome.met && answer.met();
  if (fact.ending == Ending::kReturns && outcome.answers.empty()) outcome.met = false;
  return outcome;
}

void Print(const Fact& fact, const Outcome& outcome) {
  const char* verdict = !outcome.skipped.empty() ? "skip " : outcome.met ? "met  " : "UNMET";
  std::printf("%s %-5s %s%s\n", verdict, fact.id.c_str(), fact.statement.c_str(),
              outcome.skipped.empty() ? "" : (" (" + outcome.skipped + ")").c_str());
  if (!outcome.ending.empty()) std::printf("        %s\n", outcome.ending.c_str());
  for (const Answer& answer : outcome.answers) {
    if (answer.met() && fact.id != "N9") continue;
    std::printf("        %s: expected %s, got %s\n", answer.question.c_str(), answer.expected.c_str(),
                answer.got.c_str());
  }
}

void PrintJson(const Fact& fact, const Outcome& outcome) {
  const char* verdict = !outcome.skipped.empty() ? "skipped" : outcome.met ? "met" : "unmet";
  std::string line = "{\"fact\":" + Quoted(fact.id) + ",\"statement\":" + Quoted(fact.statement) +
                     ",\"verdict\":" + Quoted(verdict) + ",\"reason\":" + Quoted(outcome.skipped + outcome.ending) +
                     ",\"answers\":[";
  for (std::size_t i = 0; i < outcome.answers.size(); ++i) {
    const Answer& answer = outcome.answers[i];
    if (i > 0) line += ',';
    line += "{\"question\":" + Quoted(answer.question) + ",\"expected\":" + Quoted(answer.expected) +
            ",\"got\":" + Quoted(answer.got) + "}";
  }
  std::printf("%s]}\n", line.c_str());
}

int RunAll(bool json) {
  Driver driver;
  std::string error;
  // Loaded, not started: what a child does must not depend on what its parent did.
  if (!Load(&driver, &error)) {
    std::fprintf(stderr, "driver_conformance: %s\n", error.c_str());
    return kNoDriver;
  }
  if (!json) std::printf("driver %d, %s\n", driver.version, driver.is_model ? "model" : "real");
  int unmet = 0;
  for (const Fact& fact : AllFacts()) {
    Outcome outcome;
    if (driver.is_model) outcome.skipped = fact.not_modelled;
    if (outcome.skipped.empty()) outcome = RunInChild(fact);
    if (outcome.ending == "exit code 3") return kNoDriver;
    if (!outcome.met) ++unmet;
    (json ? &PrintJson : &Print)(fact, outcome);
    std::fflush(stdout);
  }
  return unmet == 0 ? kMet : kUnmet;
}

int List() {
  for (const Fact& fact : AllFacts()) {
    std::printf("{\"fact\":%s,\"statement\":%s,\"model\":%s}\n", Quoted(fact.id).c_str(),
                Quoted(fact.statement).c_str(), fact.not_modelled.empty() ? "true" : "false");
  }
  return kMet;
}

int Usage() {
  std::fprintf(stderr, "usage: driver_conformance [--json | --list | --fact=ID]\n");
  return kUsage;
}

int Main(int count, char** arguments) {
  bool json = false;
  bool list = false;
  std::string name;
  int pipe = -1;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--json")
      json = true;
    else if (argument == "--list")
      list = true;
    else if (argument.starts_with("--fact="))
      name = argument.substr(7);
    else if (argument.starts_with("--pipe="))
      pipe = std::atoi(arguments[i] + 7);
    else
      return Usage();
  }
  if (list) return List();
  if (name.empty()) return RunAll(json);
  for (const Fact& fact : AllFacts()) {
    if (fact.id == name) return RunHere(fact, pipe);
  }
  return Usage();
}

}  // namespace
}  // namespace holdfast::conformance

int main(int count, char** arguments) { return holdfast::conformance::Main(count, arguments); }
