// Runner: runs sequences, given or drawn, and compares across the threads where nothing runs.
#ifndef HOLDFAST_SCENARIOS_FUZZ_RUNNER_H_
#define HOLDFAST_SCENARIOS_FUZZ_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/fuzz/drawing.h"
#include "scenarios/fuzz/environment.h"
#include "scenarios/fuzz/interruption.h"
#include "scenarios/fuzz/journal.h"
#include "scenarios/fuzz/sequence.h"
#include "scenarios/fuzz/worker.h"
#include "scenarios/fuzz/world.h"

namespace holdfast::fuzz {

// A sequence that shows a difference between library and model ends the process (Environment::Fail).
// Thread safety: none.
class Runner {
 public:
  Runner(Environment& environment, Journal& journal);

  void Replay(const Sequence& sequence);

  // Draws each operation when the one before has been done, and writes it into the journal before it is run.
  void RunDrawn(std::uint64_t seed);

  std::uint64_t operations() const { return operations_; }
  std::uint64_t sequences() const { return sequences_; }
  std::uint64_t faults() const;

 private:
  World& WorldOf(unsigned thread);
  void Begin(const Settings& settings);
  void Run(const Operation& operation);
  void RunBlock(const std::vector<Operation>& operations, bool inside);
  // Each thread does its part, in order, while the others do theirs.
  void RunParallel(const std::vector<Operation>& operations);
  // The others' operations in the middle of the first one.
  void RunInside(const std::vector<Operation>& operations);
  void SettleIfDue();
  // Waits for everything that is late, and compares. Does nothing while a launch waits at a gate.
  void Settle();
  bool IsQuiet() const;
  // What of the counts differs from what the model says; empty if nothing.
  std::string DifferenceOfLiveCounts() const;
  void CompareRegistry() const;
  void End();

  Environment& environment_;
  Journal& journal_;
  std::vector<std::unique_ptr<World>> worlds_;    // by thread
  std::vector<std::unique_ptr<Worker>> workers_;  // by thread; null for the first, which is the caller's
  Interruption interruption_;
  fault::LiveObjects live_before_{};  // what is not of the sequence
  Settings settings_;
  unsigned since_settled_ = 0;
  std::uint64_t operations_ = 0;
  std::uint64_t sequences_ = 0;
};

}  // namespace holdfast::fuzz

#endif  // HOLDFAST_SCENARIOS_FUZZ_RUNNER_H_
