// A fact: one thing that a driver does, with what was expected of it and what it did.
//
// Each runs in a process of its own, since what some of them ask for ends in a crash.
#ifndef HOLDFAST_TESTS_CONFORMANCE_FACT_H_
#define HOLDFAST_TESTS_CONFORMANCE_FACT_H_

#include <cuda.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/conformance/driver.h"

namespace holdfast::conformance {

// One expectation of a fact.
struct Answer {
  std::string question;
  std::string expected;
  std::string got;
  bool met() const { return expected == got; }
};

// What a fact writes its answers to.
class Report {
 public:
  explicit Report(const Driver& driver) : driver_(driver) {}

  void Expect(const std::string& question, CUresult expected, CUresult got);
  void Expect(const std::string& question, bool expected, bool got);
  void Expect(const std::string& question, long expected, long got);
  void Expect(const std::string& question, const std::string& expected, const std::string& got);

  // Something to read, without an expectation.
  void Note(const std::string& question, const std::string& got);

  // A step that has to work for the rest to mean anything.
  void Need(const char* step, CUresult got);

  const std::vector<Answer>& answers() const { return answers_; }

 private:
  const Driver& driver_;
  std::vector<Answer> answers_;
};

enum class Ending {
  kReturns,
  kCrashes  // the process is ended by a signal: the real driver faults, the model driver says why and aborts
};

struct Fact {
  std::string id;         // of the list of facts, e.g. "U4b"
  std::string statement;  // one sentence
  std::function<void(const Driver&, Report&)> run;
  Ending ending = Ending::kReturns;
  std::string not_modelled = {};  // why the model driver is not asked; empty if it is
};

std::vector<Fact> UserObjectFacts();
std::vector<Fact> UserObjectMisuseFacts();
std::vector<Fact> CallbackFacts();
std::vector<Fact> NodeFacts();
std::vector<Fact> GraphFacts();
std::vector<Fact> ExecutableFacts();
std::vector<Fact> CaptureFacts();
std::vector<Fact> CaptureWorkFacts();
std::vector<Fact> CaptureBranchFacts();
std::vector<Fact> CaptureGraphFacts();
std::vector<Fact> CaptureRuleFacts();
std::vector<Fact> ExecutableNodeFacts();
std::vector<Fact> GraphShapeFacts();
std::vector<Fact> ConditionalFacts();
std::vector<Fact> MemoryNodeFacts();
std::vector<Fact> CopyFacts();
std::vector<Fact> KernelNodeFacts();
std::vector<Fact> ContextFacts();

// A payload that notes when and where its destructor ran.
struct Payload {
  std::atomic<int> runs{0};
  std::atomic<std::thread::id> thread{};

  static void CUDA_CB Destroy(void* payload);
  bool ran_here() const { return runs.load() > 0 && thread.load() == std::this_thread::get_id(); }
};

// Waits until `condition` holds; false if it does not within the deadline.
bool WaitFor(const std::function<bool()>& condition, std::chrono::milliseconds deadline = std::chrono::seconds(10));
bool WaitForRuns(const Payload& payload, int runs = 1);

// A host function that does not return until the gate is opened. The argument is the gate.
struct Gate {
  std::atomic<bool> open{false};
  static void CUDA_CB Wait(void* gate);
};

void CUDA_CB DoNothing(void*);

// Steps that most facts share. Each reports a failure as unmet.
CUuserObject MakeObject(const Driver& driver, Report& report, Payload* payload, unsigned int count = 1);
CUgraph MakeGraph(const Driver& driver, Report& report);
CUgraphNode AddHost(const Driver& driver, Report& report, CUgraph graph, CUhostFn function = &DoNothing,
                    void* argument = nullptr);
CUgraphNode AddMemset(const Driver& driver, Report& report, CUgraph graph, CUdeviceptr address, std::size_t width);
// A graph with one host node and, moved into it, the one reference to an object for `payload`.
CUgraph MakeOwner(const Driver& driver, Report& report, Payload* payload, CUhostFn function = &DoNothing,
                  void* argument = nullptr);
CUgraphExec Instantiate(const Driver& driver, Report& report, CUgraph graph);

#define HOLDFAST_NEED(report, call) (report).Need(#call, call)

}  // namespace holdfast::conformance

#endif  // HOLDFAST_TESTS_CONFORMANCE_FACT_H_
