// Destructors, and pending calls, that the plan delays or moves to another thread.
//
// A payload is linked into the queue through its own record, so that queueing allocates nothing: it happens inside the
// driver's callback. One thread of ours a queue, started at the first need, delivers. It takes the oldest payload that
// is not held; if that one's order is lifo, the newest such one instead; and waits until its delay is over.
//
// Thread safety: every function may be called from any thread; no lock is held while a payload is delivered.
#ifndef HOLDFAST_FAULT_SHIM_DELIVERY_H_
#define HOLDFAST_FAULT_SHIM_DELIVERY_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "fault/plan/plan.h"

namespace holdfast::fault {

struct Payload {
  void (*deliver)(Payload*) = nullptr;  // runs it and frees the record
  std::chrono::steady_clock::time_point due{};
  Order order = Order::kFifo;
  int rule = -1;      // whose hold keeps it back
  bool held = false;  // until ReleaseHeld
  Payload* next = nullptr;
};

class DeliveryQueue {
 public:
  // REQUIRES: the payload is alive until `deliver` ran.
  void Enqueue(Payload* payload);

  // Lets go of what is held, whatever holds it.
  void LetGo();

  // The same, and returns once it was delivered.
  void ReleaseHeld();

  // Returns once everything that is not held was delivered. On the delivery thread itself: at once.
  void Quiesce();

  // Looks at the holds again.
  void Wake();

  void LockForFork() { mutex_.lock(); }
  void UnlockAfterFork(bool child);

 private:
  static void* RunThread(void* queue);
  void Deliver();
  void StartThread();             // REQUIRES: mutex_ is held
  Payload* Choose() const;        // REQUIRES: mutex_ is held
  void Unlink(Payload* payload);  // REQUIRES: mutex_ is held
  bool IsHeld(const Payload& payload) const;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable delivered_;
  // All below: guarded by mutex_.
  Payload* first_ = nullptr;
  Payload* last_ = nullptr;
  bool thread_started_ = false;
  int running_ = 0;
};

// Of destructors, and of pending calls. Two, since a pending call may have to wait for room in the host's queue. Never
// destroyed: the driver may call back while the process ends.
DeliveryQueue& TheDelivery();
DeliveryQueue& ThePendingDelivery();

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_DELIVERY_H_
