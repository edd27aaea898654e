// Drawing: what a sequence does next, by chance.
//
// Swarm testing: for each sequence some kinds of operation are on and others off, each operation has another weight,
// and so have misuse, faults and threads. Operands are mostly ones with which the operation can succeed, since random
// ones seldom are.
//
// Thread safety: none.
#ifndef HOLDFAST_SCENARIOS_FUZZ_DRAWING_H_
#define HOLDFAST_SCENARIOS_FUZZ_DRAWING_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "scenarios/fuzz/random.h"
#include "scenarios/fuzz/sequence.h"
#include "scenarios/fuzz/world.h"

namespace holdfast::fuzz {

class Drawing {
 public:
  // What it draws follows from the seed and the state of the worlds alone.
  Drawing(std::uint64_t seed, bool is_model);

  const Settings& settings() const { return settings_; }
  unsigned threads() const { return threads_; }
  unsigned length() const { return length_; }

  // What comes next: one operation, or several of a parallel block.
  struct Block {
    std::vector<Operation> operations;
    bool inside = false;
  };
  Block DrawBlock(const std::vector<World*>& worlds);

 private:
  Operation Draw(const std::vector<World*>& worlds);
  // Thread by thread in turns.
  std::vector<Operation> DrawParallel(const std::vector<World*>& worlds);
  // Others make graphs while one ends one. Nothing if nobody has a child graph that could be ended.
  std::vector<Operation> DrawInside(const std::vector<World*>& worlds);
  Opcode DrawOpcode();
  Operation DrawFor(const World& world, unsigned thread);
  // Nothing if the operation has no operand to work on.
  std::optional<Operation> TryDraw(const World& world, unsigned thread, Opcode opcode);
  std::optional<int> DrawOperand(const World& world, const Operation& operation, std::size_t position);
  std::optional<int> DrawGraph(const World& world, const Operation& operation, std::size_t position);
  std::optional<int> DrawNode(const World& world, const Operation& operation, std::size_t position);
  std::optional<int> DrawBuilder(const World& world, const Operation& operation, std::size_t position);
  int DrawResult(const World& world, char letter);
  int DrawDependency(const World& world, const Operation& operation);
  int DrawNumber(Opcode opcode);
  template <typename IsFit>
  std::optional<int> DrawSlot(char letter, const IsFit& is_fit);
  void DrawFaults(Operation* operation);
  // Makes, embeds, changes and destroys without looking: what parallel hierarchies do to each other is about handles.
  void AppendBurst(unsigned thread, std::vector<Operation>* operations);

  Random random_;
  Settings settings_;
  unsigned threads_ = 1;
  unsigned length_ = 0;
  bool parallel_ = false;
  unsigned misuse_ = 0;  // of 64
  unsigned faults_ = 0;  // of 64
  std::array<unsigned, kOpcodes> cumulative_weights_{};
};

}  // namespace holdfast::fuzz

#endif  // HOLDFAST_SCENARIOS_FUZZ_DRAWING_H_
