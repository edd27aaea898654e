#include "fault/model/delivery.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "fault/model/call.h"
#include "fault/model/settings.h"

namespace holdfast::fault::model {
namespace {

struct Internal {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> jobs;  // guarded by mutex
  std::vector<DueDestructor> held;         // guarded by mutex
  std::uint64_t launches = 0;              // guarded by mutex
  bool busy = false;                       // guarded by mutex
  bool started = false;                    // guarded by mutex
};

// Never destroyed: the internal thread outlives main, as the real driver's does.
Internal& State() {
  static auto* state = new Internal;
  return *state;
}

thread_local bool on_internal_thread = false;
thread_local std::vector<DueDestructor>* collected = nullptr;

void Run(const DueDestructor& due) {
  const CallbackScope scope;
  due.function(due.payload);
}

void InternalThread() {
  on_internal_thread = true;
  Internal& state = State();
  std::unique_lock<std::mutex> lock(state.mutex);
  while (true) {
    state.changed.wait(lock, [&state] { return !state.jobs.empty(); });
    std::function<void()> job = std::move(state.jobs.front());
    state.jobs.pop_front();
    state.busy = true;
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
    state.busy = false;
    state.changed.notify_all();
  }
}

// REQUIRES: state.mutex is held.
void Push(Internal& state, std::function<void()> job) {
  state.jobs.push_back(std::move(job));
  if (!state.started) {
    state.started = true;
    std::thread(InternalThread).detach();
  }
  state.changed.notify_all();
}

// A fixed sequence of inline and not, drawn from the seed (splitmix64).
bool NextMixedIsInline() {
  static std::atomic<std::uint64_t> position{0};
  const std::uint64_t ordinal = position.fetch_add(1, std::memory_order_relaxed);
  std::uint64_t value = InitialSettings().seed + (ordinal + 1) * 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return ((value ^ (value >> 31)) & 1) == 0;
}

}  // namespace

DueCollector::DueCollector(std::vector<DueDestructor>* due) { collected = due; }

DueCollector::~DueCollector() { collected = nullptr; }

void Deliver(const DueDestructor& due) {
  if (collected != nullptr) {
    collected->push_back(due);
    return;
  }
  const Delivery delivery = CurrentDelivery();
  Internal& state = State();
  if (delivery == Delivery::kHeld) {
    const std::lock_guard<std::mutex> lock(state.mutex);
    state.held.push_back(due);
    return;
  }
  const bool is_inline =
      delivery == Delivery::kInline || on_internal_thread || (delivery == Delivery::kMixed && NextMixedIsInline());
  if (is_inline) {
    Run(due);
  } else {
    RunOnInternalThread([due] { Run(due); });
  }
}

void ReleaseHeld() {
  Internal& state = State();
  const std::lock_guard<std::mutex> lock(state.mutex);
  for (const DueDestructor& due : state.held) Push(state, [due] { Run(due); });
  state.held.clear();
}

void RunOnInternalThread(std::function<void()> job) {
  Internal& state = State();
  const std::lock_guard<std::mutex> lock(state.mutex);
  Push(state, std::move(job));
}

void LaunchBegins() {
  Internal& state = State();
  const std::lock_guard<std::mutex> lock(state.mutex);
  ++state.launches;
}

void LaunchEnds(std::function<void()> last) {
  Internal& state = State();
  const std::lock_guard<std::mutex> lock(state.mutex);
  Push(state, std::move(last));
  --state.launches;
}

std::uint64_t LaunchesInFlight() {
  Internal& state = State();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return state.launches;
}

void Quiesce() {
  Internal& state = State();
  std::unique_lock<std::mutex> lock(state.mutex);
  state.changed.wait(lock, [&state] { return state.launches == 0 && state.jobs.empty() && !state.busy; });
}

}  // namespace holdfast::fault::model
