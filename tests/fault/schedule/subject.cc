// Small programs whose bugs show in few orders of their threads; schedule_test.py runs them in all sorts of orders.
//
//   subject lost-update [STEPS]     exit 1 if two threads' additions became one; STEPS more locks make another program
//   subject two-locks               two threads take two locks in opposite orders
//   subject lost-wakeup             a thread looks, and then waits without looking again
//   subject everything              uses all that the order knows, and prints what it saw
#include <sched.h>
#include <semaphore.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

// Each read and each write is guarded, and the addition is not.
int LostUpdate(int more_locks) {
  std::mutex mutex;
  int sum = 0;
  const auto add = [&] {
    mutex.lock();
    const int before = sum;
    mutex.unlock();
    for (int count = 0; count < more_locks; ++count) {
      const std::lock_guard lock(mutex);
    }
    const std::lock_guard lock(mutex);
    sum = before + 1;
  };
  std::thread first(add);
  std::thread second(add);
  first.join();
  second.join();
  return sum == 2 ? 0 : 1;
}

int TwoLocks() {
  std::mutex one;
  std::mutex other;
  const auto take = [](std::mutex& outer, std::mutex& inner) {
    const std::lock_guard outer_lock(outer);
    const std::lock_guard inner_lock(inner);
  };
  std::thread first(take, std::ref(one), std::ref(other));
  std::thread second(take, std::ref(other), std::ref(one));
  first.join();
  second.join();
  return 0;
}

int LostWakeup() {
  std::mutex mutex;
  std::condition_variable changed;
  bool ready = false;
  std::thread waiter([&] {
    mutex.lock();
    const bool was_ready = ready;
    mutex.unlock();
    if (was_ready) return;
    std::unique_lock lock(mutex);
    changed.wait(lock);
  });
  mutex.lock();
  ready = true;
  mutex.unlock();
  changed.notify_one();
  waiter.join();
  return 0;
}

// Threads that wait in each of the ways there are, and end only if each of them works.
int Everything() {
  std::mutex mutex;
  std::condition_variable changed;
  std::binary_semaphore semaphore(0);
  std::shared_mutex shared;
  std::atomic<int> word = 0;
  std::once_flag once;
  sem_t old_semaphore;
  sem_init(&old_semaphore, 0, 0);
  int once_count = 0;
  int reads = 0;
  bool timed_out = false;
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] {
      std::unique_lock lock(mutex);
      timed_out = !changed.wait_for(lock, 1h, [] { return false; });  // an hour passes when nothing else happens
    });
    threads.emplace_back([&] {
      word.wait(0);
      semaphore.release();
    });
    threads.emplace_back([&] {
      semaphore.acquire();
      sem_post(&old_semaphore);
    });
    threads.emplace_back([&] {
      const auto deadline = std::chrono::steady_clock::now() + 10s;
      while (word.load() == 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
      const timespec ten_minutes{600, 0};  // of the order's time: that they pass at once is what is tested
      clock_nanosleep(CLOCK_MONOTONIC, 0, &ten_minutes, nullptr);
      std::call_once(once, [&] {
        std::this_thread::yield();
        ++once_count;
      });
    });
    threads.emplace_back([&] {
      std::call_once(once, [&] {
        std::this_thread::yield();
        ++once_count;
      });
      const std::shared_lock lock(shared);
      ++reads;
    });
    {
      const std::unique_lock lock(shared);
      word.store(1);
      word.notify_all();
    }
    while (sem_wait(&old_semaphore) != 0) {
    }
  }
  std::printf("%d %d %d\n", once_count, reads, timed_out ? 1 : 0);
  return 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string_view what = argument_count > 1 ? arguments[1] : "";
  if (what == "lost-update") return LostUpdate(argument_count > 2 ? std::atoi(arguments[2]) : 0);
  if (what == "two-locks") return TwoLocks();
  if (what == "lost-wakeup") return LostWakeup();
  if (what == "everything") return Everything();
  return 2;
}
