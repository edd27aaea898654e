#include "scenarios/fuzz/interruption.h"

#include <chrono>

namespace holdfast::fuzz {
namespace {

constexpr unsigned kThreadOrdinal = 9;

// A driver may hold locks around a destructor that the other thread needs: then the task goes on behind it.
constexpr std::chrono::milliseconds kLongestWait{200};

}  // namespace

void Interruption::Run(CUgraph graph, const std::function<void()>& call, const std::function<void()>& task) {
  if (worker_ == nullptr) {
    worker_ = std::make_unique<Worker>(environment_.context(), kThreadOrdinal,
                                       [this] { environment_.device().MakeCurrent(); });
  }
  task_ = &task;
  is_due_.store(true, std::memory_order_release);
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

// Acquire: what Run wrote before it said that the task is due.
bool Interruption::Start() {
  const bool is_due = is_due_.exchange(false, std::memory_order_acquire);
  if (is_due) {
    worker_->Run(*task_);
  }
  return is_due;
}

}  // namespace holdfast::fuzz
