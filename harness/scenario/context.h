// What a running scenario has at hand: its variant, the shim and the model driver, checks, waits, threads.
#ifndef HOLDFAST_HARNESS_SCENARIO_CONTEXT_H_
#define HOLDFAST_HARNESS_SCENARIO_CONTEXT_H_

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "fault/model/control.h"
#include "fault/shim/control.h"
#include "harness/scenario/scenario.h"
#include "harness/scenario/source_place.h"

namespace holdfast::harness {

// Exit codes of a scenario's process. The harness reads the events as well, and never the code alone.
enum ExitCode { kExitClean = 0, kExitFinding = 1, kExitUsage = 2, kExitHarness = 3 };

class Context {
 public:
  // The longest that any wait for something that must happen takes; sanitizers and a busy machine included.
  static constexpr std::chrono::seconds kDeadline{10};

  Context(const Scenario& scenario, std::string variant, const fault::ShimControl& shim);

  const std::string& variant() const noexcept { return variant_; }
  const fault::ShimControl& shim() const noexcept { return shim_; }

  // The seed of this case, from HOLDFAST_SEED.
  std::uint64_t seed() const noexcept { return seed_; }

  // The model driver below the shim; null if the driver is a real one.
  const fault::ModelControl* model() const noexcept { return model_; }

  // Records that a contract was checked. A scenario that never does is inconclusive: its oracle did not run.
  void Oracle(const std::string& name);

  // Records a finding of kind "contract" unless `holds`, and ends the case with its process: threads and driver objects
  // are in a state that nothing can be learnt from any more, so nothing is torn down.
  void Check(bool holds, const std::string& contract, SourcePlace where = SourcePlace::Here());

  // For what holds as long as no fault but the scenario's own strikes, such as that the driver refused nothing: with
  // faults of the user's fired the case ends as inconclusive instead.
  void CheckUndisturbed(bool holds, const std::string& expectation, SourcePlace where = SourcePlace::Here());

  // The same as Check for a finding of another kind.
  [[noreturn]] void Find(const std::string& kind, const std::string& message, SourcePlace where = SourcePlace::Here());

  // For an exception that nothing in the scenario expected. With faults of the user's own (HOLDFAST_USER_FAULTS) fired,
  // the subject was entitled to throw: the case ends as inconclusive. Otherwise it is a finding.
  [[noreturn]] void EndByException(const std::exception& error);

  // Ends the case as skipped.
  [[noreturn]] void Skip(const std::string& reason);

  // Goes into the report.
  void Count(const std::string& name, std::uint64_t value);

  // Waits for `condition`, looking again and again; false if kDeadline passes first.
  bool Await(const std::function<bool()>& condition) const { return AwaitFor(kDeadline, condition); }

  // The same with a limit of its own, for what must not happen: it gets that long to happen.
  bool AwaitFor(std::chrono::milliseconds limit, const std::function<bool()>& condition) const;

  // Await that is itself a check.
  void CheckEventually(const std::function<bool()>& condition, const std::string& contract,
                       SourcePlace where = SourcePlace::Here());

  // Requires that `count` faults fired at `site` so far. Fewer: the case ends as inconclusive, it tested nothing.
  void RequireFaults(const char* site, std::uint64_t count = 1);

  // Releases that faults failed before they took effect, so far. Each leaves something behind that nobody may release
  // again, which is the fault's doing (docs/fault-model.md). CheckNothingLeaked tolerates what they left, and no more.
  std::uint64_t ReleaseFaultsFired() const { return shim_.release_faults(); }

  // User objects that nothing holds but what such faults left: as many attachments were given up and never released.
  std::uint64_t ObjectsKeptByFaults() const { return shim_.live().kept_user_objects; }

  // A thread with a name of its own for plans and logs, "subject-ORDINAL": the same in each run, whichever starts
  // first. An exception that leaves `body` ends the case. The thread is joined when its handle goes.
  std::jthread StartThread(std::uint32_t ordinal, std::function<void()> body);

  // Has `settle` run again and again while the end of the scenario waits for what is alive to go.
  void SettleAtEnd(std::function<void()> settle) { settle_ = std::move(settle); }

  // Run by the program after the scenario: nothing that the driver made may be left, but for what a fault keeps.
  void CheckNothingLeaked();

 private:
  // Whether a rule may have fired that the scenario knows nothing of.
  bool IsDisturbed() const;

  const std::string variant_;
  const fault::ShimControl& shim_;
  const fault::ModelControl* model_;
  const std::uint64_t seed_;
  const SourcePlace where_;
  std::function<void()> settle_ = [] {};
};

// Allocations of the calling thread pass through the site "alloc" while one of these exists; elsewhere they never fail,
// so that a plan hits the subject and not the scenario.
class AllocationFaultWindow {
 public:
  explicit AllocationFaultWindow(const Context& context) noexcept;
  ~AllocationFaultWindow();
  AllocationFaultWindow(const AllocationFaultWindow&) = delete;
  AllocationFaultWindow& operator=(const AllocationFaultWindow&) = delete;
};

// From now on freed memory is overwritten, and not given out again before some thousand other pieces were freed:
// whoever uses it fails at once, and each time in the same way. A sanitizer that does this itself is left to it.
void SpoilFreedMemory() noexcept;

}  // namespace holdfast::harness

#endif  // HOLDFAST_HARNESS_SCENARIO_CONTEXT_H_
