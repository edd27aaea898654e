// Whether this process, and this thread, run in an order.
#ifndef HOLDFAST_FAULT_SCHEDULE_START_H_
#define HOLDFAST_FAULT_SCHEDULE_START_H_

#include <time.h>

#include <cstdint>

#include "fault/schedule/order.h"

namespace holdfast::schedule {

// The calling thread as one that runs in order; null if it does not: nothing asked for an order, or it is on its way
// out. The first call starts the order, if the environment asks for one:
//
//   HOLDFAST_SCHEDULE         random, pct, bursts, starvation, replay, or follow: what cannot be taken is passed over
//   HOLDFAST_SCHEDULE_RECORD  the file to write the schedule into
//   HOLDFAST_SCHEDULE_TAKE    with replay and follow: the file that has the schedule to take
//   HOLDFAST_SEED             with a strategy: what it draws from
//
// What does not make sense ends the process with exit code 2. Children of the process are not ordered.
Member* Self();

Order& TheOrder();

// Creates an ordered thread. REQUIRES: self has the baton.
int CreateThread(Member& self, pthread_t* out, const pthread_attr_t* attributes, void* (*function)(void*),
                 void* argument);

// The time of a clock when the order started, in nanoseconds. Zero for clocks that are not of the order, those of
// processor time.
std::int64_t StartOf(clockid_t clock);

}  // namespace holdfast::schedule

#endif  // HOLDFAST_FAULT_SCHEDULE_START_H_
