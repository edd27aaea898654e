// What a library that knows of the order control asks of it: to let another thread go on, if the order says so.
//
// Found with dlsym(RTLD_DEFAULT, "holdfast_schedule_point"); it is there only in a process that is run in an order.
#ifndef HOLDFAST_FAULT_SCHEDULE_POINT_H_
#define HOLDFAST_FAULT_SCHEDULE_POINT_H_

namespace holdfast::schedule {

// `kind` and `name` go into the hash of the schedule: a replay passes the same points.
using PointFunction = void (*)(const char* kind, const char* name);

}  // namespace holdfast::schedule

#endif  // HOLDFAST_FAULT_SCHEDULE_POINT_H_
