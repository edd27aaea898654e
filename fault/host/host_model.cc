#include "fault/host/host_model.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

namespace holdfast::fault {
namespace {

std::atomic<HostModel*> installed{nullptr};

int DoNothing(void*) { return 0; }

}  // namespace

HostModel::HostModel(HostVersion version, Decide decide, BeforeAdd before_add)
    : version_(version), decide_(std::move(decide)), before_add_(std::move(before_add)) {
  HostModel* expected = nullptr;
  if (!installed.compare_exchange_strong(expected, this)) {
    throw std::logic_error("HostModel: there is a host already");
  }
}

HostModel::~HostModel() { installed = nullptr; }

HostModel& HostModel::Installed() {
  HostModel* host = installed;
  if (host == nullptr) {
    throw std::logic_error("HostModel: there is no host");
  }
  return *host;
}

int HostModel::AddPendingCall(Call call, void* argument) { return Installed().Add(call, argument); }

int HostModel::Add(Call call, void* argument) {
  const SiteDecision decision = decide_ ? decide_() : SiteDecision{};
  if (before_add_) {
    before_add_();
  }
  if (decision.delay_ns > 0) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(decision.delay_ns));
  }
  if (decision.saturate > 0) {
    Saturate(decision.saturate);
  }
  const std::lock_guard lock(mutex_);
  if (finalized_) {
    return AddLate();
  }
  if (decision.fails || queue_.size() >= version_.capacity) {
    ++counts_.refused;
    return -1;
  }
  ++counts_.accepted;
  if (decision.drops) {
    ++counts_.lost;
    return 0;
  }
  queue_.push_back({call, argument});
  counts_.outstanding_peak = std::max(counts_.outstanding_peak, ++outstanding_);
  return 0;
}

// REQUIRES: mutex_ is held.
int HostModel::AddLate() {
  ++counts_.late;
  if (version_.late_call_is_fatal) {
    ++counts_.fatal;
  }
  return -1;
}

std::size_t HostModel::RunPending() {
  if (running_) {
    return 0;
  }
  running_ = true;
  std::size_t count = 0;
  while (true) {
    Pending pending;
    {
      const std::lock_guard lock(mutex_);
      if (busy_ || finalized_ || queue_.empty()) {
        break;
      }
      pending = queue_.front();
      queue_.pop_front();
      outstanding_ -= pending.call == &DoNothing ? 0 : 1;
      ++counts_.run;
    }
    ++count;
    if (pending.call(pending.argument) != 0) {
      break;
    }
  }
  running_ = false;
  return count;
}

void HostModel::SetBusy(bool busy) {
  const std::lock_guard lock(mutex_);
  busy_ = busy;
}

std::size_t HostModel::Saturate(std::size_t calls) {
  const std::lock_guard lock(mutex_);
  const std::size_t fitting = std::min(calls, version_.capacity - queue_.size());
  queue_.insert(queue_.end(), fitting, {&DoNothing, nullptr});
  return fitting;
}

bool HostModel::HasRoom() const {
  const std::lock_guard lock(mutex_);
  return queue_.size() < version_.capacity;
}

void HostModel::Finalize() {
  const std::lock_guard lock(mutex_);
  finalized_ = true;
  counts_.lost += queue_.size();
  queue_.clear();
  outstanding_ = 0;
}

void HostModel::Initialize() {
  const std::lock_guard lock(mutex_);
  finalized_ = false;
}

bool HostModel::IsFinalized() const {
  const std::lock_guard lock(mutex_);
  return finalized_;
}

HostCounts HostModel::Counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace holdfast::fault
