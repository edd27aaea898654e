// One operation of a sequence: what is done, by which thread, to which slots, and which faults act on it.
//
// Operands are numbers of slots, small tables that each thread has of its own: graphs, nodes, executables, builders,
// conditions, owners. What a slot holds depends on the operations before, so that any part of a sequence is a sequence.
#ifndef HOLDFAST_SCENARIOS_FUZZ_OPERATION_H_
#define HOLDFAST_SCENARIOS_FUZZ_OPERATION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::fuzz {

enum class Opcode : std::uint8_t {
#define HOLDFAST_FUZZ_OPERATION(opcode, name, operands, kind, weight) k##opcode,
#include "scenarios/fuzz/operations.def"
#undef HOLDFAST_FUZZ_OPERATION
};

enum class OperationKind : std::uint8_t {
  kRoots,
  kClones,
  kDrops,
  kNodes,
  kEvents,
  kMemoryNodes,
  kChildren,
  kBodies,
  kLookups,
  kEdges,
  kDestroys,
  kUpdates,
  kExecutables,
  kExecutableUpdates,
  kLaunches,
  kBuilders,
  kDrains,
};
inline constexpr std::size_t kOperationKinds = 17;

struct OperationInfo {
  std::string_view name;
  std::string_view operands;
  OperationKind kind;
  unsigned weight;
};

// In the order of the opcodes.
inline constexpr OperationInfo kOperations[] = {
#define HOLDFAST_FUZZ_OPERATION(opcode, name, operands, kind, weight) {name, operands, OperationKind::kind, weight},
#include "scenarios/fuzz/operations.def"
#undef HOLDFAST_FUZZ_OPERATION
};
inline constexpr std::size_t kOpcodes = std::size(kOperations);

inline const OperationInfo& InfoOf(Opcode opcode) { return kOperations[static_cast<std::size_t>(opcode)]; }

// An operand that is not given, "-".
inline constexpr int kAbsent = -1;

// How many slots there are of the kind that the operand letter names; for # one more than the greatest number.
int SlotsOf(char letter);

// Whether "-" may stand there.
bool MayBeAbsent(char letter);

// Whether the operation fills the slot.
bool IsResult(char letter);

// A fault for one operation: at the nth call of the site that the operation makes.
struct Fault {
  std::string site;
  unsigned nth = 1;
  bool persistent = false;  // and at all later ones
  bool after = false;       // the call takes effect and then fails

  friend bool operator==(const Fault&, const Fault&) = default;
};

struct Operation {
  static constexpr std::size_t kMostOperands = 6;

  unsigned thread = 0;
  Opcode opcode = Opcode::kDrain;
  std::array<int, kMostOperands> operands{};
  std::vector<Fault> faults;

  friend bool operator==(const Operation&, const Operation&) = default;
};

// "0 add_host g1 n3 o5 - n2 -": as in a sequence file, without faults. Appended to `text`.
void AppendText(const Operation& operation, std::string* text);
void AppendText(const Fault& fault, std::string* text);
std::string TextOf(const Operation& operation);

// Reads them back. On an error the message is in `error`, without a place.
std::optional<Operation> ParseOperation(std::string_view line, std::string* error);
std::optional<Fault> ParseFault(std::string_view line, std::string* error);

// Words of a line.
std::vector<std::string_view> SplitWords(std::string_view line);

// Decimal, without sign; nothing if that is not all, or it is more than `greatest`.
std::optional<std::uint64_t> ParseNumber(std::string_view text, std::uint64_t greatest);

}  // namespace holdfast::fuzz

#endif  // HOLDFAST_SCENARIOS_FUZZ_OPERATION_H_
