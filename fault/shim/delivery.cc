#include "fault/shim/delivery.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "fault/shim/injector.h"

namespace holdfast::fault {
namespace {

thread_local bool t_is_delivery_thread __attribute__((tls_model("initial-exec"))) = false;

}  // namespace

void DeliveryQueue::Enqueue(Payload* payload) {
  {
    const std::lock_guard lock(mutex_);
    payload->next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = payload;
    last_ = payload;
    if (!thread_started_) StartThread();
  }
  changed_.notify_all();
}

void DeliveryQueue::StartThread() {
  // The subject's signals are not for this thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = pthread_create(&thread, nullptr, &RunThread, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    dprintf(STDERR_FILENO, "holdfast: no thread to deliver callbacks on (error %d)\n", error);
    std::abort();
  }
  pthread_detach(thread);
  thread_started_ = true;
}

void* DeliveryQueue::RunThread(void* queue) {
  t_is_delivery_thread = true;
  static_cast<DeliveryQueue*>(queue)->Deliver();
  return nullptr;
}

bool DeliveryQueue::IsHeld(const Payload& payload) const {
  return payload.held || (payload.rule >= 0 && !TheInjector().HoldIsOver(payload.rule));
}

Payload* DeliveryQueue::Choose() const {
  Payload* chosen = nullptr;
  for (Payload* payload = first_; payload != nullptr; payload = payload->next) {
    if (IsHeld(*payload)) continue;
    if (chosen == nullptr || (chosen->order == Order::kLifo && payload->order == Order::kLifo)) chosen = payload;
  }
  return chosen;
}

void DeliveryQueue::Unlink(Payload* payload) {
  Payload* before = nullptr;
  for (Payload* other = first_; other != payload; other = other->next) before = other;
  (before == nullptr ? first_ : before->next) = payload->next;
  if (last_ == payload) last_ = before;
}

void DeliveryQueue::Deliver() {
  std::unique_lock lock(mutex_);
  while (true) {
    Payload* payload = Choose();
    if (payload == nullptr) {
      delivered_.notify_all();
      changed_.wait(lock);
    } else if (payload->due > std::chrono::steady_clock::now()) {
      changed_.wait_until(lock, payload->due);
    } else {
      Unlink(payload);
      ++running_;
      lock.unlock();
      payload->deliver(payload);
      lock.lock();
      --running_;
    }
  }
}

void DeliveryQueue::Quiesce() {
  if (t_is_delivery_thread) return;
  std::unique_lock lock(mutex_);
  delivered_.wait(lock, [this] { return Choose() == nullptr && running_ == 0; });
}

void DeliveryQueue::LetGo() {
  {
    const std::lock_guard lock(mutex_);
    for (Payload* payload = first_; payload != nullptr; payload = payload->next) {
      payload->held = false;
      payload->rule = -1;
    }
  }
  changed_.notify_all();
}

void DeliveryQueue::ReleaseHeld() {
  LetGo();
  Quiesce();
}

void DeliveryQueue::Wake() {
  {
    // Empty on purpose: the thread that found everything held is past its look only once it waits.
    const std::lock_guard lock(mutex_);
  }
  changed_.notify_all();
}

void DeliveryQueue::UnlockAfterFork(bool child) {
  if (child) {
    // The thread did not come along, nor did those that waited for it; what they waited on starts afresh.
    thread_started_ = false;
    running_ = 0;
    new (&changed_) std::condition_variable;
    new (&delivered_) std::condition_variable;
  }
  mutex_.unlock();
}

DeliveryQueue& TheDelivery() {
  static DeliveryQueue* queue = new DeliveryQueue;
  return *queue;
}

DeliveryQueue& ThePendingDelivery() {
  static DeliveryQueue* queue = new DeliveryQueue;
  return *queue;
}

}  // namespace holdfast::fault
