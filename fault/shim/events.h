// The record of a run: one JSON object a line, appended to $HOLDFAST_EVENTS with one write each, so that several
// processes and threads can share the file. Without that variable nothing is recorded.
//
// Thread safety: from any thread, and after fork. Not from a signal handler: it allocates.
#ifndef HOLDFAST_FAULT_SHIM_EVENTS_H_
#define HOLDFAST_FAULT_SHIM_EVENTS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "fault/plan/plan.h"

namespace holdfast::fault {

// REQUIRES: called once, before the others.
void OpenEvents();

struct FaultEvent {
  std::string_view site;
  std::string_view call;  // the entry point, with its version; empty at other sites
  std::uint64_t ordinal = 0;
  std::string thread;
  int rule = 0;
  const Action* action = nullptr;
};

void WriteFault(const FaultEvent& event);

// Counted, whether events are recorded or not.
void WriteFinding(std::string_view kind, std::string_view message);
std::uint64_t FindingsWritten();

struct VisitsEvent {
  const Site& site;
  std::uint64_t count = 0;
  std::string_view thread;
  std::string_view step;
};

void WriteVisits(const VisitsEvent& event);

// One pending call and its answer.
struct PendingCallEvent {
  std::uint64_t ordinal = 0;
  std::string_view thread;
  std::string_view outcome;  // "queued", "refused", "dropped", "late"
  int result = 0;
};

void WritePendingCall(const PendingCallEvent& event);

void WriteCounter(std::string_view name, std::uint64_t value);

void WriteSubject(int driver_version, bool model, std::string_view device);

// "return", "return-after", "delay", ...: what a fault did, in one word, the most telling one if it did several things.
std::string_view ActionWord(const Action& action);

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_EVENTS_H_
