// Which thread is in the middle of a capture, for `when.while`: a capture belongs to the thread that began it until it
// ends, wherever it is ended.
//
// Thread safety: from any thread.
#ifndef HOLDFAST_FAULT_SHIM_CAPTURES_H_
#define HOLDFAST_FAULT_SHIM_CAPTURES_H_

#include <mutex>
#include <unordered_map>

#include "fault/ledger/handles.h"
#include "fault/shim/threads.h"

namespace holdfast::fault {

class CapturingThreads {
 public:
  void Began(Handle stream, Thread& thread) {
    const std::lock_guard lock(mutex_);
    Leave(stream);
    thread.captures.fetch_add(1, std::memory_order_relaxed);  // read by that thread alone
    threads_[stream] = &thread;
  }

  void Ended(Handle stream) {
    const std::lock_guard lock(mutex_);
    Leave(stream);
  }

  // Around fork, so that the child does not inherit a locked lock.
  void LockForFork() { mutex_.lock(); }
  void UnlockAfterFork() { mutex_.unlock(); }

 private:
  // REQUIRES: mutex_ is held.
  void Leave(Handle stream) {
    const auto found = threads_.find(stream);
    if (found == threads_.end()) return;
    found->second->captures.fetch_sub(1, std::memory_order_relaxed);
    threads_.erase(found);
  }

  std::mutex mutex_;
  std::unordered_map<Handle, Thread*> threads_;  // guarded by mutex_
};

// Never destroyed: the driver may call back while the process ends.
inline CapturingThreads& TheCaptures() {
  static CapturingThreads* captures = new CapturingThreads;
  return *captures;
}

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_CAPTURES_H_
