// A sequence: settings and operations, and its text form.
//
//   # a comment
//   holdfast-fuzz 1 seed=0x1234 reuse=at-once delivery=inline settle=8
//   0 create g0
//   fault cuGraphAddHostNode nth=1
//   0 add_host g0 n0 o0 - - -
//   parallel 2
//   0 destroy n0
//   1 create g0
//
// The header comes first, after comments and blank lines. A fault acts on the operation behind it. The operations of a
// parallel block run at the same time, each on its own thread and there in order; all others run one after the other.
// In a block "parallel N inside" the first operation runs, and those of other threads run in the middle of it: when the
// driver has destroyed the child graph that it ends, and the library does not know yet. Any selection of the lines
// after the header is a sequence, too.
#ifndef HOLDFAST_SCENARIOS_FUZZ_SEQUENCE_H_
#define HOLDFAST_SCENARIOS_FUZZ_SEQUENCE_H_

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fault/model/control.h"
#include "scenarios/fuzz/operation.h"

namespace holdfast::fuzz {

// With this a sequence of usual length settles only where an operation says so.
inline constexpr unsigned kMostSettle = 1000;

struct Settings {
  std::uint64_t seed = 0;  // what the sequence was drawn from; for the record
  fault::HandleReuse reuse = fault::HandleReuse::kAtOnce;
  fault::Delivery delivery = fault::Delivery::kInline;
  unsigned settle = 8;  // after how many operations everything that is late is waited for

  friend bool operator==(const Settings&, const Settings&) = default;
};

struct Line {
  // Not 0: no operation, but the beginning of a block of that many.
  unsigned parallel = 0;
  bool inside = false;  // of a block
  Operation operation{};

  friend bool operator==(const Line&, const Line&) = default;
};

struct Sequence {
  Settings settings;
  std::vector<Line> lines;

  friend bool operator==(const Sequence&, const Sequence&) = default;
};

// A text that is no sequence: what() has the line's number and the reason.
class SequenceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string TextOf(const Settings& settings);
void AppendText(const Line& line, std::string* text);  // with its line end, and its faults before
std::string TextOf(const Sequence& sequence);

// Throws SequenceError; also where `can_strike` says no.
Sequence ParseSequence(
    std::string_view text, const std::function<bool(const Fault&)>& can_strike = [](const Fault&) { return true; });

}  // namespace holdfast::fuzz

#endif  // HOLDFAST_SCENARIOS_FUZZ_SEQUENCE_H_
