#include "tests/conformance/fact.h"

namespace holdfast::conformance {

void Report::Expect(const std::string& question, CUresult expected, CUresult got) {
  Expect(question, NameOf(driver_, expected), NameOf(driver_, got));
}

void Report::Expect(const std::string& question, bool expected, bool got) {
  Expect(question, std::string(expected ? "yes" : "no"), std::string(got ? "yes" : "no"));
}

void Report::Expect(const std::string& question, long expected, long got) {
  Expect(question, std::to_string(expected), std::to_string(got));
}

void Report::Expect(const std::string& question, const std::string& expected, const std::string& got) {
  answers_.push_back(Answer{question, expected, got});
}

void Report::Note(const std::string& question, const std::string& got) {
  answers_.push_back(Answer{question, got, got});
}

void Report::Need(const char* step, CUresult got) {
  if (got != CUDA_SUCCESS) Expect(std::string("step ") + step, CUDA_SUCCESS, got);
}

void Payload::Destroy(void* payload) {
  auto* self = static_cast<Payload*>(payload);
  self->thread.store(std::this_thread::get_id());
  self->runs.fetch_add(1);
}

bool WaitFor(const std::function<bool()>& condition, std::chrono::milliseconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

bool WaitForRuns(const Payload& payload, int runs) {
  return WaitFor([&payload, runs] { return payload.runs.load() >= runs; });
}

void Gate::Wait(void* gate) {
  auto* self = static_cast<Gate*>(gate);
  while (!self->open.load()) std::this_thread::yield();
}

void DoNothing(void*) {}

CUuserObject MakeObject(const Driver& driver, Report& report, Payload* payload, unsigned int count) {
  CUuserObject object = nullptr;
  HOLDFAST_NEED(report,
                driver.UserObjectCreate(&object, payload, &Payload::Destroy, count, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  return object;
}

CUgraph MakeGraph(const Driver& driver, Report& report) {
  CUgraph graph = nullptr;
  HOLDFAST_NEED(report, driver.GraphCreate(&graph, 0));
  return graph;
}

CUgraphNode AddHost(const Driver& driver, Report& report, CUgraph graph, CUhostFn function, void* argument) {
  CUgraphNode node = nullptr;
  CUDA_HOST_NODE_PARAMS parameters{};
  parameters.fn = function;
  parameters.userData = argument;
  HOLDFAST_NEED(report, driver.GraphAddHostNode(&node, graph, nullptr, 0, &parameters));
  return node;
}

CUgraphNode AddMemset(const Driver& driver, Report& report, CUgraph graph, CUdeviceptr address, std::size_t width) {
  CUgraphNode node = nullptr;
  CUDA_MEMSET_NODE_PARAMS parameters{};
  parameters.dst = address;
  parameters.value = 7;
  parameters.elementSize = 1;
  parameters.width = width;
  parameters.height = 1;
  HOLDFAST_NEED(report, driver.GraphAddMemsetNode(&node, graph, nullptr, 0, &parameters, driver.context));
  return node;
}

CUgraph MakeOwner(const Driver& driver, Report& report, Payload* payload, CUhostFn function, void* argument) {
  const CUgraph graph = MakeGraph(driver, report);
  AddHost(driver, report, graph, function, argument);
  const CUuserObject object = MakeObject(driver, report, payload);
  HOLDFAST_NEED(report, driver.GraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  return graph;
}

CUgraphExec Instantiate(const Driver& driver, Report& report, CUgraph graph) {
  CUgraphExec executable = nullptr;
  HOLDFAST_NEED(report, driver.GraphInstantiateWithFlags(&executable, graph, 0));
  return executable;
}

}  // namespace holdfast::conformance
