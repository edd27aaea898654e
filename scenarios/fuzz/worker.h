// Worker: a thread that does what it is handed, one piece at a time.
#ifndef HOLDFAST_SCENARIOS_FUZZ_WORKER_H_
#define HOLDFAST_SCENARIOS_FUZZ_WORKER_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "harness/scenario/context.h"

namespace holdfast::fuzz {

// Thread safety: Run and Wait from one thread at a time.
class Worker {
 public:
  // `begin` runs first, on the thread.
  Worker(harness::Context& context, unsigned ordinal, std::function<void()> begin)
      : thread_(context.StartThread(ordinal, [this, begin = std::move(begin)] {
          begin();
          Serve();
        })) {}
  ~Worker() { Hand({}, /*is_last=*/true); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // REQUIRES: Wait has returned since the last Run.
  void Run(std::function<void()> task) { Hand(std::move(task), /*is_last=*/false); }

  // Returns when the task is done, if there is one.
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !has_task_; });
  }

  // The same with a limit; false if it passed first.
  bool WaitFor(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [this] { return !has_task_; });
  }

 private:
  void Hand(std::function<void()> task, bool is_last) {
    {
      const std::lock_guard lock(mutex_);
      task_ = std::move(task);
      has_task_ = true;
      is_last_ = is_last;
    }
    changed_.notify_all();
  }

  void Serve() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return has_task_; });
      if (is_last_) {
        return;
      }
      const std::function<void()> task = std::move(task_);
      lock.unlock();
      task();
      lock.lock();
      has_task_ = false;
      lock.unlock();
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  // All three: guarded by mutex_.
  std::function<void()> task_;
  bool has_task_ = false;
  bool is_last_ = false;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace holdfast::fuzz

#endif  // HOLDFAST_SCENARIOS_FUZZ_WORKER_H_
