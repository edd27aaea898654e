// The record that a scenario's process leaves for the harness: one JSON object a line, in the file that HOLDFAST_EVENTS
// names, which the shim writes to as well. Each line is one write, so a process that dies leaves whole lines.
#ifndef HOLDFAST_HARNESS_SCENARIO_EVENTS_H_
#define HOLDFAST_HARNESS_SCENARIO_EVENTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::harness {

// Appends {"event": name, field...}. Bytes that are no UTF-8 are replaced. Without HOLDFAST_EVENTS the line goes to
// stderr. Thread safety: from any thread.
void WriteEvent(const std::string& name, const std::vector<std::pair<std::string, std::string>>& fields = {});

void WriteCounter(const std::string& name, std::uint64_t value);

}  // namespace holdfast::harness

#endif  // HOLDFAST_HARNESS_SCENARIO_EVENTS_H_
