// The timeline of a case: the last moments of the subject, in a ring of records of one size in the file that
// $HOLDFAST_TIMELINE names. The file is mapped, so what was recorded is there for the harness however the process ends.
// Without that variable nothing is recorded.
//
//   at the start of a stretch of time   one record, "not over yet": a crash in the middle of a call still shows the
//   call at its end                          the same record is completed; if the ring has come round meanwhile, it is
//   made
//                                       anew with the same beginning
//   a point in time                     one record
//
// A record is written between two values of its sequence number, the odd one first and the even one last. Each number
// belongs to one moment, so nobody takes the record of another moment for his own, nor half a record for a whole one.
// Whoever comes upon a record that another thread is in the middle of, a whole round behind, drops his moment instead
// of waiting; and where a process was killed in the middle of a record, nobody writes again. A stretch that goes on
// while the ring comes round is not among the records until it ends: a thread that hangs in a call beside a busy one.
// harness/cli/timeline.py reads the file.
//
// Several processes may share one file, since a subject starts others: each record names its process.
//
// Thread safety: all functions from any thread, from callbacks of the driver, inside the subject's operator new, and
// after fork. They take no lock, allocate nothing and make no system call, OpenTimeline aside.
#ifndef HOLDFAST_FAULT_SHIM_TIMELINE_H_
#define HOLDFAST_FAULT_SHIM_TIMELINE_H_

#include <cstdint>
#include <string_view>

#include "fault/shim/control.h"

namespace holdfast::fault {

// The values stand in the file.
enum class MomentKind : std::uint8_t {
  kCall = 1,
  kDestructor = 2,
  kHostFunction = 3,
  kPendingCall = 4,
  kDrain = 5,
  kContext = 6,
  kStep = 7,
  kFault = 8,
  kFinding = 9,
  kRelease = 10,
};

// What there is to say of a moment beyond its name.
struct MomentFacts {
  std::string_view result{};               // of what did not succeed
  std::uint64_t object = 0;                // the number of a user object in the ledger; 0: it concerns none
  std::uint32_t references = kNotCounted;  // of that object, afterwards
  std::uint32_t queue = kNotCounted;       // length of a queue, afterwards
};

// A stretch of time that has begun, as EndMoment wants it back. A default one was never recorded.
struct OpenMoment {
  std::uint64_t ticket = 0;
  std::uint64_t begin_ns = 0;
  std::uint32_t process = 0;  // 0: nothing is recorded
};

// Says so and goes on without one if the file cannot be used. REQUIRES: called once, before the others.
void OpenTimeline();

// Whether anything is recorded.
bool TimelineIsOpen();

// A point in time. Names are cut where the record ends.
void NoteMoment(MomentKind kind, std::string_view name, const MomentFacts& facts = {});

OpenMoment BeginMoment(MomentKind kind, std::string_view name);

// Does nothing in a child of fork with a moment that its parent began.
void EndMoment(const OpenMoment& moment, MomentKind kind, std::string_view name, const MomentFacts& facts = {});

// In the child of fork: what it records is its own.
void NameProcessInTimeline();

// A stretch of time that a scope takes.
class Stretch {
 public:
  // REQUIRES: `name` is there for as long as this is.
  Stretch(MomentKind kind, std::string_view name) : kind_(kind), name_(name), moment_(BeginMoment(kind, name)) {}
  ~Stretch() { EndMoment(moment_, kind_, name_, facts_); }
  Stretch(const Stretch&) = delete;
  Stretch& operator=(const Stretch&) = delete;

  // Whether anybody will read what is found out for `facts`.
  bool is_recorded() const { return moment_.process != 0; }
  MomentFacts& facts() { return facts_; }

 private:
  const MomentKind kind_;
  const std::string_view name_;
  MomentFacts facts_;
  const OpenMoment moment_;
};

// A number as a record has it.
inline std::uint32_t CountInMoment(std::uint64_t count) {
  return count < kNotCounted ? static_cast<std::uint32_t>(count) : kNotCounted - 1;
}

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_TIMELINE_H_
