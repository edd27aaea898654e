#include "fault/host/host_model.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace holdfast::fault {
namespace {

constexpr char kSite[] = "Py_AddPendingCall";
constexpr std::size_t kCapacityUpTo12 = 31;
constexpr std::size_t kCapacityFrom13 = 32;

int DoNothing(void*) { return 0; }

const char* Words(HostPhase phase) {
  return phase == HostPhase::kFinalizing ? "while the host was finalizing" : "after the host was finalized";
}

}  // namespace

HostModel::HostModel(HostOptions options) : options_(std::move(options)), main_thread_(std::this_thread::get_id()) {}

std::size_t HostModel::capacity() const { return crashes_after_end() ? kCapacityUpTo12 : kCapacityFrom13; }

// REQUIRES: mutex_ is held.
bool HostModel::Push(const Call& call) {
  if (queue_.size() >= capacity()) return false;
  queue_.push_back(call);
  const auto fillers =
      std::count_if(queue_.begin(), queue_.end(), [](const Call& queued) { return queued.function == &DoNothing; });
  counts_.outstanding_peak = std::max(counts_.outstanding_peak, queue_.size() - static_cast<std::size_t>(fillers));
  return true;
}

// REQUIRES: mutex_ is held.
std::size_t HostModel::PushFillers(std::size_t count) {
  std::size_t pushed = 0;
  while (pushed < count && Push(Call{&DoNothing, nullptr, generation_})) ++pushed;
  counts_.fillers += pushed;
  return pushed;
}

int HostModel::AddPendingCall(PendingFunction function, void* argument) {
  const SiteDecision decision = options_.decide ? options_.decide(kSite) : SiteDecision{};
  const bool from_destructor = options_.in_destructor && options_.in_destructor();
  // The wait is the fault itself; nobody waits here for something to happen.
  if (decision.delay_ns > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(decision.delay_ns));
  const std::lock_guard<std::mutex> lock(mutex_);
  ++calls_by_thread_[std::this_thread::get_id()];
  if (from_destructor) ++counts_.from_destructors;
  if (phase_ != HostPhase::kRunning && crashes_after_end()) {
    violations_.push_back({std::this_thread::get_id(), phase_, std::string(kSite) + " was called " + Words(phase_)});
    ++counts_.refused;
    return -1;
  }
  if (decision.fails) {
    ++counts_.refused;
    return static_cast<int>(decision.result);
  }
  PushFillers(decision.saturate);
  if (decision.drops) {
    ++counts_.accepted;
    ++counts_.lost;
    return 0;
  }
  if (!Push(Call{function, argument, generation_})) {
    ++counts_.refused;
    return -1;
  }
  ++counts_.accepted;
  return 0;
}

int HostModel::RunPending() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (std::this_thread::get_id() != main_thread_ || busy_ || running_ || phase_ == HostPhase::kFinalized) return 0;
    running_ = true;
  }
  return RunQueued(capacity());
}

// REQUIRES: the calling thread has set running_. No lock is held while a call runs: it may add calls.
int HostModel::RunQueued(std::size_t count) {
  int result = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  while (count-- > 0 && !queue_.empty() && result == 0) {
    const Call call = queue_.front();
    queue_.pop_front();
    if (call.function != &DoNothing) {
      ++counts_.run;
      if (call.generation != generation_) ++counts_.stale;
    }
    lock.unlock();
    result = call.function(call.argument) == 0 ? 0 : -1;
    lock.lock();
    if (result != 0) ++counts_.failed;
  }
  running_ = false;
  return result;
}

void HostModel::SetBusy(bool busy) {
  const std::lock_guard<std::mutex> lock(mutex_);
  busy_ = busy;
}

std::size_t HostModel::Saturate(std::size_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return PushFillers(count);
}

void HostModel::BeginFinalization(bool flush) {
  if (flush) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (std::this_thread::get_id() != main_thread_) throw std::logic_error("only the main thread can flush");
      if (running_) throw std::logic_error("a pending call cannot finalize the host");
      running_ = true;
    }
    RunQueued(capacity());
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (phase_ != HostPhase::kRunning) throw std::logic_error("the host is finalized already");
  phase_ = HostPhase::kFinalizing;
}

void HostModel::FinishFinalization() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (phase_ != HostPhase::kFinalizing) throw std::logic_error("finalization has not begun");
  phase_ = HostPhase::kFinalized;
  if (!crashes_after_end()) return;
  for (const Call& call : queue_) counts_.lost += call.function == &DoNothing ? 0 : 1;
  queue_.clear();
}

void HostModel::Reinitialize() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (phase_ != HostPhase::kFinalized) throw std::logic_error("the host is not finalized");
  phase_ = HostPhase::kRunning;
  main_thread_ = std::this_thread::get_id();
  busy_ = false;
  ++generation_;
}

HostPhase HostModel::phase() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return phase_;
}

std::uint64_t HostModel::generation() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return generation_;
}

std::size_t HostModel::outstanding() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return queue_.size();
}

HostCounts HostModel::counts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return counts_;
}

std::vector<HostViolation> HostModel::violations() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return violations_;
}

std::map<std::thread::id, std::uint64_t> HostModel::calls_by_thread() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return calls_by_thread_;
}

}  // namespace holdfast::fault
