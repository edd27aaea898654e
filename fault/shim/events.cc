#include "fault/shim/events.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fault/plan/print.h"

namespace holdfast::fault {
namespace {

int g_file = -1;
std::atomic<std::uint64_t> g_findings{0};

void WriteLine(std::string line) {
  if (g_file < 0) return;
  line += '\n';
  while (write(g_file, line.data(), line.size()) < 0 && errno == EINTR) {
  }
}

std::string ResultText(const FaultEvent& event) {
  const Action& action = *event.action;
  if (!action.result) return "null";
  if (*action.result < 0) return std::to_string(*action.result);
  return JsonString(ResultNameOf(*action.result).value_or("CUDA_ERROR_UNKNOWN"));
}

}  // namespace

void OpenEvents() {
  const char* path = std::getenv("HOLDFAST_EVENTS");
  if (path == nullptr || path[0] == '\0') return;
  g_file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (g_file >= 0) return;
  dprintf(STDERR_FILENO, "holdfast: HOLDFAST_EVENTS=%s: %s\n", path, std::strerror(errno));
  _exit(2);
}

std::string_view ActionWord(const Action& action) {
  if (action.abort) return "abort";
  if (action.result) return action.after ? "return-after" : "return";
  if (action.fail) return "fail";
  if (action.drop) return "drop";
  if (action.deliver) return "deliver";
  if (action.hold) return "hold";
  if (action.repeat) return "repeat";
  if (action.saturate) return "saturate";
  return action.delay_ns ? "delay" : "record";
}

void WriteFault(const FaultEvent& event) {
  std::string line = R"({"event":"fault","site":)" + JsonString(event.site);
  if (!event.call.empty()) line += R"(,"call":)" + JsonString(event.call);
  line += R"(,"ordinal":)" + std::to_string(event.ordinal) + R"(,"thread":)" + JsonString(event.thread) +
          R"(,"rule":)" + std::to_string(event.rule) + R"(,"action":)" + JsonString(ActionWord(*event.action)) +
          R"(,"result":)" + ResultText(event) + "}";
  WriteLine(std::move(line));
}

void WriteFinding(std::string_view kind, std::string_view message) {
  g_findings.fetch_add(1, std::memory_order_relaxed);  // a count, no order
  WriteLine(R"({"event":"finding","kind":)" + JsonString(kind) + R"(,"message":)" + JsonString(message) + "}");
}

std::uint64_t FindingsWritten() { return g_findings.load(std::memory_order_relaxed); }

void WriteVisits(const VisitsEvent& event) {
  WriteLine(R"({"event":"visits","step":)" + JsonString(event.step) + R"(,"thread":)" + JsonString(event.thread) +
            R"(,"site":)" + JsonString(event.site.name) + R"(,"count":)" + std::to_string(event.count) + R"(,"kind":)" +
            JsonString(event.site.kind) + R"(,"before":)" + (CanFailBefore(event.site) ? "true" : "false") +
            R"(,"after":)" + (CanFailAfter(event.site) ? "true" : "false") + R"(,"reason":)" +
            JsonString(event.site.reason) + "}");
}

void WritePendingCall(const PendingCallEvent& event) {
  WriteLine(R"({"event":"pending-call","ordinal":)" + std::to_string(event.ordinal) + R"(,"thread":)" +
            JsonString(event.thread) + R"(,"outcome":)" + JsonString(event.outcome) + R"(,"result":)" +
            std::to_string(event.result) + "}");
}

void WriteCounter(std::string_view name, std::uint64_t value) {
  WriteLine(R"({"event":"counter","name":)" + JsonString(name) + R"(,"value":)" + std::to_string(value) + "}");
}

void WriteSubject(int driver_version, bool model, std::string_view device) {
  WriteLine(R"({"event":"subject","driver_version":)" + std::to_string(driver_version) + R"(,"driver":)" +
            (model ? R"("model")" : R"("real")") + R"(,"device":)" + JsonString(device) + "}");
}

}  // namespace holdfast::fault
