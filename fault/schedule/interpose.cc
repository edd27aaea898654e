// The functions that this library puts before those of the C library: where threads meet, sleep, start or end, and
// where they ask for the time. Each lets the order decide who goes on, and does what it is there for with the real
// function, in the form of it that never waits. So the real locks and semaphores have their real state throughout.
//
// Conditions and futexes are the exception: whether somebody waits there is known to the order alone.
//
// Not here, and so a wait that the order does not see: barriers, spin locks, message queues, files and sockets.
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include <cstdarg>
#include <initializer_list>

#include "fault/schedule/real_functions.h"
#include "fault/schedule/start.h"

#define HOLDFAST_EXPORTED extern "C" __attribute__((visibility("default")))

namespace holdfast::schedule {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t NanosecondsOf(const timespec& time) {
  return time.tv_sec >= kNever / kSecond - 1 ? kNever : time.tv_sec * kSecond + time.tv_nsec;
}

// When an absolute time of a clock is, in the time of the order.
std::int64_t DeadlineOf(clockid_t clock, const timespec* time) {
  if (time == nullptr) return kNever;
  const std::int64_t at = NanosecondsOf(*time);
  return at == kNever ? kNever : at - StartOf(clock);
}

std::int64_t DeadlineAfter(const timespec& duration) {
  const std::int64_t length = NanosecondsOf(duration);
  return length >= kNever - TheOrder().now() ? kNever : TheOrder().now() + length;
}

int LockMutex(Member& self, pthread_mutex_t* mutex, std::int64_t deadline) {
  while (true) {
    const int error = Real().pthread_mutex_trylock(mutex);
    if (error != EBUSY) return error;
    const bool checks = (mutex->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK;
    if (checks && mutex->__data.__owner == self.kernel_thread) return EDEADLK;
    if (!TheOrder().WaitFor(self, Wait::kMutex, mutex, deadline)) return ETIMEDOUT;
  }
}

int UnlockMutex(pthread_mutex_t* mutex) {
  const int error = Real().pthread_mutex_unlock(mutex);
  TheOrder().Wake(Wait::kMutex, mutex, kThreadsMax);
  return error;
}

int WaitForCondition(Member& self, pthread_cond_t* condition, pthread_mutex_t* mutex, std::int64_t deadline) {
  UnlockMutex(mutex);
  const bool signalled = TheOrder().WaitFor(self, Wait::kCondition, condition, deadline);
  const int error = LockMutex(self, mutex, kNever);
  return error != 0 ? error : signalled ? 0 : ETIMEDOUT;
}

int WaitForSemaphore(Member& self, sem_t* semaphore, std::int64_t deadline) {
  TheOrder().Point(self, "semaphore", "wait");
  while (Real().sem_trywait(semaphore) != 0) {
    if (errno != EAGAIN) return -1;
    if (!TheOrder().WaitFor(self, Wait::kSemaphore, semaphore, deadline)) {
      errno = ETIMEDOUT;
      return -1;
    }
  }
  return 0;
}

int LockReadWrite(Member& self, pthread_rwlock_t* lock, decltype(&pthread_rwlock_trywrlock) take) {
  TheOrder().Point(self, "lock", "read-write");
  int error = EBUSY;
  while ((error = take(lock)) == EBUSY) TheOrder().WaitFor(self, Wait::kReadWriteLock, lock, kNever);
  return error;
}

int Sleep(Member& self, std::int64_t deadline) {
  TheOrder().WaitFor(self, Wait::kTime, nullptr, deadline);
  return 0;
}

// The clock of a condition's pthread_cond_timedwait, from where glibc keeps it.
clockid_t ClockOf(const pthread_cond_t* condition) {
  return (condition->__data.__wrefs & 2) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

// What std::atomic's wait, static local variables and such are made of. -1 with errno, as the system call answers.
long Futex(Member& self, const int* word, int operation, int value, const timespec* time) {
  const int command = operation & FUTEX_CMD_MASK;
  if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET) {
    const auto woken = static_cast<long>(TheOrder().Wake(Wait::kFutex, word, static_cast<std::size_t>(value)));
    TheOrder().Point(self, "futex", "wake");
    return woken;
  }
  if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) {
    errno = EAGAIN;
    return -1;
  }
  const clockid_t clock = (operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  const bool is_relative = command == FUTEX_WAIT && time != nullptr;
  const std::int64_t deadline = is_relative ? DeadlineAfter(*time) : DeadlineOf(clock, time);
  if (TheOrder().WaitFor(self, Wait::kFutex, word, deadline)) return 0;
  errno = ETIMEDOUT;
  return -1;
}

bool IsOrderedFutex(int operation) {
  const int command = operation & FUTEX_CMD_MASK;
  return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET;
}

// pthread_once that runs now, on another thread or on this one.
struct RunningOnce {
  pthread_once_t* control;
  RunningOnce* next;
};
RunningOnce* g_running_onces = nullptr;

bool IsRunning(const pthread_once_t* control) {
  for (const RunningOnce* running = g_running_onces; running != nullptr; running = running->next) {
    if (running->control == control) return true;
  }
  return false;
}

// Takes the entry out again even if the function throws.
class OnceScope {
 public:
  explicit OnceScope(pthread_once_t* control) : running_{control, g_running_onces} { g_running_onces = &running_; }
  ~OnceScope() {
    RunningOnce** place = &g_running_onces;
    while (*place != &running_) place = &(*place)->next;
    *place = running_.next;
    TheOrder().Wake(Wait::kOnce, running_.control, kThreadsMax);
  }
  OnceScope(const OnceScope&) = delete;
  OnceScope& operator=(const OnceScope&) = delete;

 private:
  RunningOnce running_;
};

}  // namespace
}  // namespace holdfast::schedule

using namespace holdfast::schedule;  // NOLINT(google-build-using-namespace): what follows has names of the C library

HOLDFAST_EXPORTED void holdfast_schedule_point(const char* kind, const char* name) {
  Member* self = Self();
  if (self == nullptr) return;
  self->seen_at = name;
  TheOrder().Point(*self, kind, name);
}

// ---- threads --------------------------------------------------------------------------------------------------------

HOLDFAST_EXPORTED int pthread_create(pthread_t* out, const pthread_attr_t* attributes, void* (*function)(void*),
                                     void* argument) {
  Member* self = Self();
  if (self == nullptr) return Real().pthread_create(out, attributes, function, argument);
  return CreateThread(*self, out, attributes, function, argument);
}

HOLDFAST_EXPORTED int pthread_join(pthread_t thread, void** result) {
  if (Member* self = Self()) {
    TheOrder().Point(*self, "join", "");
    while (TheOrder().IsAlive(thread)) {
      TheOrder().WaitFor(*self, Wait::kThread, reinterpret_cast<const void*>(thread), kNever);
    }
  }
  return Real().pthread_join(thread, result);
}

HOLDFAST_EXPORTED int sched_yield() noexcept {
  Member* self = Self();
  if (self == nullptr) return Real().sched_yield();
  TheOrder().Yield(*self);
  return 0;
}

HOLDFAST_EXPORTED int pthread_once(pthread_once_t* control, void (*function)()) {
  Member* self = Self();
  if (self == nullptr) return Real().pthread_once(control, function);
  while (IsRunning(control)) TheOrder().WaitFor(*self, Wait::kOnce, control, kNever);
  const OnceScope scope(control);
  return Real().pthread_once(control, function);
}

// ---- mutexes --------------------------------------------------------------------------------------------------------

HOLDFAST_EXPORTED int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  Member* self = Self();
  if (self == nullptr) return Real().pthread_mutex_lock(mutex);
  TheOrder().Point(*self, "lock", "");
  return LockMutex(*self, mutex, kNever);
}

HOLDFAST_EXPORTED int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  if (Member* self = Self()) TheOrder().Point(*self, "try-lock", "");
  return Real().pthread_mutex_trylock(mutex);
}

HOLDFAST_EXPORTED int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* time) noexcept {
  Member* self = Self();
  if (self == nullptr) return Real().pthread_mutex_timedlock(mutex, time);
  TheOrder().Point(*self, "lock", "");
  return LockMutex(*self, mutex, DeadlineOf(CLOCK_REALTIME, time));
}

HOLDFAST_EXPORTED int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* time) noexcept {
  Member* self = Self();
  if (self == nullptr) return Real().pthread_mutex_clocklock(mutex, clock, time);
  TheOrder().Point(*self, "lock", "");
  return LockMutex(*self, mutex, DeadlineOf(clock, time));
}

HOLDFAST_EXPORTED int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  Member* self = Self();
  if (self == nullptr) return Real().pthread_mutex_unlock(mutex);
  const int error = UnlockMutex(mutex);
  TheOrder().Point(*self, "unlock", "");
  return error;
}

HOLDFAST_EXPORTED int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  Member* self = Self();
  if (self == nullptr) return Real().pthread_rwlock_rdlock(lock);
  return LockReadWrite(*self, lock, Real().pthread_rwlock_tryrdlock);
}

HOLDFAST_EXPORTED int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  Member* self = Self();
  if (self == nullptr) return Real().pthread_rwlock_wrlock(lock);
  return LockReadWrite(*self, lock, Real().pthread_rwlock_trywrlock);
}

HOLDFAST_EXPORTED int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  const int error = Real().pthread_rwlock_unlock(lock);
  if (Member* self = Self()) {
    TheOrder().Wake(Wait::kReadWriteLock, lock, kThreadsMax);
    TheOrder().Point(*self, "unlock", "read-write");
  }
  return error;
}

// ---- conditions -----------------------------------------------------------------------------------------------------

HOLDFAST_EXPORTED int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  Member* self = Self();
  if (self == nullptr) return Real().pthread_cond_wait(condition, mutex);
  return WaitForCondition(*self, condition, mutex, kNever);
}

HOLDFAST_EXPORTED int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* time) {
  Member* self = Self();
  if (self == nullptr) return Real().pthread_cond_timedwait(condition, mutex, time);
  return WaitForCondition(*self, condition, mutex, DeadlineOf(ClockOf(condition), time));
}

HOLDFAST_EXPORTED int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                             const timespec* time) {
  Member* self = Self();
  if (self == nullptr) return Real().pthread_cond_clockwait(condition, mutex, clock, time);
  return WaitForCondition(*self, condition, mutex, DeadlineOf(clock, time));
}

HOLDFAST_EXPORTED int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  Member* self = Self();
  if (self == nullptr) return Real().pthread_cond_signal(condition);
  TheOrder().Wake(Wait::kCondition, condition, 1);
  TheOrder().Point(*self, "signal", "");
  return 0;
}

HOLDFAST_EXPORTED int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  Member* self = Self();
  if (self == nullptr) return Real().pthread_cond_broadcast(condition);
  TheOrder().Wake(Wait::kCondition, condition, kThreadsMax);
  TheOrder().Point(*self, "broadcast", "");
  return 0;
}

// ---- semaphores -----------------------------------------------------------------------------------------------------

HOLDFAST_EXPORTED int sem_wait(sem_t* semaphore) {
  Member* self = Self();
  return self == nullptr ? Real().sem_wait(semaphore) : WaitForSemaphore(*self, semaphore, kNever);
}

HOLDFAST_EXPORTED int sem_timedwait(sem_t* semaphore, const timespec* time) {
  Member* self = Self();
  if (self == nullptr) return Real().sem_timedwait(semaphore, time);
  return WaitForSemaphore(*self, semaphore, DeadlineOf(CLOCK_REALTIME, time));
}

HOLDFAST_EXPORTED int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* time) {
  Member* self = Self();
  if (self == nullptr) return Real().sem_clockwait(semaphore, clock, time);
  return WaitForSemaphore(*self, semaphore, DeadlineOf(clock, time));
}

HOLDFAST_EXPORTED int sem_post(sem_t* semaphore) noexcept {
  const int answer = Real().sem_post(semaphore);
  if (Member* self = Self()) {
    TheOrder().Wake(Wait::kSemaphore, semaphore, 1);
    TheOrder().Point(*self, "semaphore", "post");
  }
  return answer;
}

// ---- time and system calls ------------------------------------------------------------------------------------------

HOLDFAST_EXPORTED int clock_gettime(clockid_t clock, timespec* out) noexcept {
  Member* self = Self();
  const std::int64_t start = self == nullptr ? 0 : StartOf(clock);
  if (start == 0) return Real().clock_gettime(clock, out);
  const std::int64_t now = start + TheOrder().Now();
  *out = {now / kSecond, now % kSecond};
  return 0;
}

HOLDFAST_EXPORTED int nanosleep(const timespec* duration, timespec* left) {
  Member* self = Self();
  return self == nullptr ? Real().nanosleep(duration, left) : Sleep(*self, DeadlineAfter(*duration));
}

HOLDFAST_EXPORTED int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  Member* self = Self();
  if (self == nullptr || StartOf(clock) == 0) return Real().clock_nanosleep(clock, flags, time, left);
  return Sleep(*self, (flags & TIMER_ABSTIME) != 0 ? DeadlineOf(clock, time) : DeadlineAfter(*time));
}

HOLDFAST_EXPORTED int usleep(useconds_t microseconds) {
  Member* self = Self();
  return self == nullptr ? Real().usleep(microseconds)
                         : Sleep(*self, TheOrder().now() + std::int64_t{microseconds} * 1'000);
}

HOLDFAST_EXPORTED long syscall(long number, ...) noexcept {
  long arguments[6];
  va_list list;
  va_start(list, number);
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  Member* self = number == SYS_futex ? Self() : nullptr;
  if (self != nullptr && IsOrderedFutex(static_cast<int>(arguments[1]))) {
    return Futex(*self, reinterpret_cast<const int*>(arguments[0]), static_cast<int>(arguments[1]),
                 static_cast<int>(arguments[2]), reinterpret_cast<const timespec*>(arguments[3]));
  }
  return Real().syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}
