#include "fault/plan/load.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "fault/plan/check.h"
#include "fault/plan/document.h"
#include "fault/plan/interpret.h"
#include "fault/plan/one_line.h"
#include "fault/plan/rapids.h"

namespace holdfast::fault {
namespace {

[[noreturn]] void RefuseFile() { throw PlanError("", std::string("cannot be read: ") + std::strerror(errno)); }

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// Opens a regular file, or the standard input, whatever that is: the harness writes merged plans into it.
File OpenPlan(const std::string& path) {
  // Without O_NONBLOCK, a named pipe that nobody writes to would hold up the open.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (descriptor < 0) RefuseFile();
  File file(fdopen(descriptor, "r"), &std::fclose);
  if (file == nullptr) {
    close(descriptor);
    RefuseFile();
  }
  struct stat status;
  if (fstat(descriptor, &status) != 0) RefuseFile();
  if (S_ISDIR(status.st_mode)) throw PlanError("", "is a directory; a plan is a file");
  if (!S_ISREG(status.st_mode) && path != "/dev/stdin") {
    throw PlanError("", "is a pipe or a device; a plan is a regular file, or comes through /dev/stdin");
  }
  if (fcntl(descriptor, F_SETFL, O_RDONLY) != 0) RefuseFile();  // reading may wait for who writes
  return file;
}

std::string ReadWholeFile(const std::string& path) {
  const File file = OpenPlan(path);
  std::string text;
  char buffer[1 << 14];
  // One byte past the limit is enough for ReadDocument to refuse it; an input without end must not fill memory.
  while (text.size() <= kLargestDocumentBytes) {
    const std::size_t count = std::fread(buffer, 1, sizeof(buffer), file.get());
    if (count == 0) break;
    text.append(buffer, count);
  }
  if (std::ferror(file.get()) != 0) RefuseFile();
  return text;
}

}  // namespace

Plan LoadPlanText(std::string_view text) {
  const Value document = ReadDocument(text);
  Plan plan = LooksLikeRapids(document) ? InterpretRapids(document) : InterpretPlan(document);
  CheckRules(plan.rules);
  return plan;
}

Plan LoadPlanFile(const std::string& path) { return LoadPlanText(ReadWholeFile(path)); }

Plan WithCommandLine(Plan plan, const std::vector<std::string>& one_line_rules, std::optional<std::uint64_t> seed) {
  std::vector<Rule> rules;
  for (std::size_t index = 0; index < one_line_rules.size(); ++index) {
    rules.push_back(ParseOneLineRule(one_line_rules[index], "--fault[" + std::to_string(index) + "]"));
  }
  for (Rule& rule : plan.rules) {
    if (rule.action.hold && rule.action.hold->rule) *rule.action.hold->rule += one_line_rules.size();
    rules.push_back(std::move(rule));
  }
  plan.rules = std::move(rules);
  if (seed) plan.seed = seed;
  CheckRules(plan.rules);
  return plan;
}

}  // namespace holdfast::fault
