#include "fault/model/call.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

namespace holdfast::fault::model {
namespace {

thread_local const char* current_call = nullptr;
thread_local int callback_depth = 0;

// Written by cuInit, read by every call. Release and acquire: what cuInit made is visible to who saw it done.
std::atomic<bool> initialized{false};

struct UnmodelledLog {
  std::mutex mutex;
  std::set<std::string> names;  // guarded by mutex
  std::string joined;           // guarded by mutex
};

// Never destroyed: threads of the driver may still be running when the process ends.
UnmodelledLog& Log() {
  static auto* log = new UnmodelledLog;
  return *log;
}

// One line, one write, so that lines of several processes do not mix.
void AppendEvent(const std::string& name) {
  const char* path = std::getenv("HOLDFAST_EVENTS");
  if (path == nullptr || *path == '\0') return;
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return;
  const std::string line = "{\"event\":\"unsupported\",\"site\":\"" + name + "\"}\n";
  if (::write(file, line.data(), line.size()) < 0) std::perror("holdfast model driver: HOLDFAST_EVENTS");
  ::close(file);
}

}  // namespace

std::uint64_t ThreadNumber() noexcept {
  static std::atomic<std::uint64_t> next{1};
  thread_local const std::uint64_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

const char* CurrentCall() noexcept { return current_call != nullptr ? current_call : "the driver's own thread"; }

void Misuse(const std::string& what) noexcept {
  const std::string line = std::string("holdfast model driver: ") + CurrentCall() + ": " + what + "\n";
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) std::abort();
  std::abort();
}

void NoteUnmodelled(const char* name) noexcept {
  UnmodelledLog& log = Log();
  const std::lock_guard<std::mutex> lock(log.mutex);
  if (log.names.insert(name).second) AppendEvent(name);
}

const char* UnmodelledNames() {
  UnmodelledLog& log = Log();
  const std::lock_guard<std::mutex> lock(log.mutex);
  log.joined.clear();
  for (const std::string& name : log.names) {
    if (!log.joined.empty()) log.joined += ',';
    log.joined += name;
  }
  return log.joined.c_str();
}

void SetInitialized() noexcept { initialized.store(true, std::memory_order_release); }

void RequireNoCallback() { Require(callback_depth == 0, CUDA_ERROR_NOT_PERMITTED); }

CallbackScope::CallbackScope() noexcept { ++callback_depth; }
CallbackScope::~CallbackScope() { --callback_depth; }

namespace internal {

CallName::CallName(const char* name) noexcept : previous_(current_call) { current_call = name; }
CallName::~CallName() { current_call = previous_; }

CUresult CheckRule(Rule rule) noexcept {
  if (rule == Rule::kAlways) return CUDA_SUCCESS;
  if (!initialized.load(std::memory_order_acquire)) return CUDA_ERROR_NOT_INITIALIZED;
  if (rule == Rule::kInCallback) return CUDA_SUCCESS;
  if (callback_depth == 0) return rule == Rule::kUnsafe ? CheckCaptures() : CUDA_SUCCESS;
  return rule == Rule::kNodeOfExec ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_PERMITTED;
}

}  // namespace internal
}  // namespace holdfast::fault::model
