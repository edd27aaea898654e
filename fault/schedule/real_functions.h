// The functions of the C library that the order control stands in front of.
#ifndef HOLDFAST_FAULT_SCHEDULE_REAL_FUNCTIONS_H_
#define HOLDFAST_FAULT_SCHEDULE_REAL_FUNCTIONS_H_

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

namespace holdfast::schedule {

// Each is a member of RealFunctions of the same name and type.
#define HOLDFAST_REAL_FUNCTIONS(X) \
  X(clock_gettime)                 \
  X(clock_nanosleep)               \
  X(nanosleep)                     \
  X(pthread_cond_broadcast)        \
  X(pthread_cond_clockwait)        \
  X(pthread_cond_signal)           \
  X(pthread_cond_timedwait)        \
  X(pthread_cond_wait)             \
  X(pthread_create)                \
  X(pthread_join)                  \
  X(pthread_mutex_clocklock)       \
  X(pthread_mutex_lock)            \
  X(pthread_mutex_timedlock)       \
  X(pthread_mutex_trylock)         \
  X(pthread_mutex_unlock)          \
  X(pthread_once)                  \
  X(pthread_rwlock_rdlock)         \
  X(pthread_rwlock_tryrdlock)      \
  X(pthread_rwlock_trywrlock)      \
  X(pthread_rwlock_unlock)         \
  X(pthread_rwlock_wrlock)         \
  X(sched_yield)                   \
  X(sem_clockwait)                 \
  X(sem_getvalue)                  \
  X(sem_post)                      \
  X(sem_timedwait)                 \
  X(sem_trywait)                   \
  X(sem_wait)                      \
  X(syscall)                       \
  X(usleep)

struct RealFunctions {
#define HOLDFAST_REAL_MEMBER(name) decltype(&::name) name = nullptr;
  HOLDFAST_REAL_FUNCTIONS(HOLDFAST_REAL_MEMBER)
#undef HOLDFAST_REAL_MEMBER
};

// Found at the first call, which is made while there is one thread.
const RealFunctions& Real();

}  // namespace holdfast::schedule

#endif  // HOLDFAST_FAULT_SCHEDULE_REAL_FUNCTIONS_H_
