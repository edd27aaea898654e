// How the order control ends a process that cannot go on in order: with a line for the reader, an event for the harness
// (harness/cli/events.py), and an exit code.
#ifndef HOLDFAST_FAULT_SCHEDULE_ENDING_H_
#define HOLDFAST_FAULT_SCHEDULE_ENDING_H_

#include <array>
#include <cstddef>

#include "fault/schedule/order.h"

namespace holdfast::schedule {

const char* WordsOf(Wait wait);

// A finding: each thread waits for something that none will do.
[[noreturn]] void EndWithDeadlock(const std::array<Member, kThreadsMax>& members);

// The order cannot be kept, or not be written down; says nothing about the subject.
[[noreturn]] void EndOutOfOrder(const char* reason, std::size_t step);

}  // namespace holdfast::schedule

#endif  // HOLDFAST_FAULT_SCHEDULE_ENDING_H_
