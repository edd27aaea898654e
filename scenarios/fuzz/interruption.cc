#include "scenarios/fuzz/interruption.h"

#include <chrono>
#include <utility>

namespace holdfast::fuzz {
namespace {

constexpr unsigned kThreadOrdinal = 9;

// A driver may hold locks around a destructor that the other thread needs: then the task goes on behind it.
constexpr std::chrono::milliseconds kLongestWait{200};

}  // namespace

void Interruption::Run(CUgraph graph, const std::function<void()>& call, std::function<void()> task) {
  if (worker_ == nullptr) {
    worker_ = std::make_unique<Worker>(environment_.context(), kThreadOrdinal,
                                       [this] { environment_.device().MakeCurrent(); });
  }
  {
    const std::lock_guard lock(mutex_);
    task_ = std::move(task);
  }
  if (graph != nullptr) {
    live_objects_.fetch_add(1, std::memory_order_relaxed);
    environment_.RetainObject(graph, &OnDestroyed, this);
  }
  call();
  (void)Start();
  worker_->Wait();
}

void Interruption::OnDestroyed(void* interruption) {
  auto* self = static_cast<Interruption*>(interruption);
  if (self->Start()) {
    (void)self->worker_->WaitFor(kLongestWait);
  }
  self->live_objects_.fetch_sub(1, std::memory_order_relaxed);
}

// Taken and handed over under one lock: a caller that finds the task taken may wait for the worker at once.
bool Interruption::Start() {
  const std::lock_guard lock(mutex_);
  if (task_ == nullptr) {
    return false;
  }
  worker_->Run(std::exchange(task_, nullptr));
  return true;
}

}  // namespace holdfast::fuzz
