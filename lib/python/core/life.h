// The life of the interpreter that the module was imported into, as far as other threads are concerned: a gate that
// they pass before they touch Python, and that closes while Python is still whole.
//
// A program that embeds Python may end it and begin it again; each time is a life of its own, and what belongs to one
// that is over is never touched again.
#ifndef HOLDFAST_LIB_PYTHON_CORE_LIFE_H_
#define HOLDFAST_LIB_PYTHON_CORE_LIFE_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "lib/cleanup/gate.h"
#include "lib/cleanup/standard_atomics.h"

namespace holdfast::python {

// Thread safety: all members from any thread, but where it says otherwise.
class Life {
 public:
  // The present one, or the last. REQUIRES: Begin was called.
  static Life& Present();

  // When the module is imported. REQUIRES: with the GIL, in the main interpreter.
  static void Begin();

  // Starts the deferred cleanup unless it runs. Called before a graph is made, not when the module is imported: a
  // program that only imports it starts no thread, and may fork. Throws std::runtime_error once Python goes away.
  void StartCleanup();

  // Which wakeup StartCleanup takes: "pending-call", "worker" or "manual". Throws std::invalid_argument for another
  // one, std::runtime_error if the cleanup runs already.
  void ChooseWakeup(const std::string& name);

  // Last drain, then nobody touches Python any more: waits for those who do. A second call does nothing.
  // REQUIRES: on the main thread, with the GIL, which is let go of meanwhile; Python is still whole.
  void End();

  // False once it has ended; then the caller must not touch Python. Never blocks.
  bool Enter() noexcept { return gate_.Enter(); }
  void Leave() noexcept { gate_.Leave(); }
  bool IsOver() const noexcept { return gate_.IsClosed(); }

  // Python objects whose last reference went too late, and callbacks that came too late.
  // Memory ordering: relaxed, statistics that order nothing.
  void CountLeakedOwner() noexcept { owners_leaked_.fetch_add(1, std::memory_order_relaxed); }
  void CountSkippedCallback() noexcept { callbacks_skipped_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t owners_leaked() const noexcept { return owners_leaked_.load(std::memory_order_relaxed); }
  std::uint64_t callbacks_skipped() const noexcept { return callbacks_skipped_.load(std::memory_order_relaxed); }

 private:
  Life() = default;

  // In the child of a fork: leaves to the parent what is the parent's.
  static void AbandonInForkedChild();

  cleanup::ShutdownGate<cleanup::StandardAtomics> gate_;
  bool is_ending_ = false;  // guarded by the mutex of life.cc
  std::atomic<std::uint64_t> owners_leaked_{0};
  std::atomic<std::uint64_t> callbacks_skipped_{0};
};

}  // namespace holdfast::python

#endif  // HOLDFAST_LIB_PYTHON_CORE_LIFE_H_
