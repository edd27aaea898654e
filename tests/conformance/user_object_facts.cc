// Facts U1 to U18, but for the misuses: when destructors run, on which thread, and who holds what.
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/conformance/fact.h"

namespace holdfast::conformance {
namespace {

void ReleaseIsInline(const Driver& driver, Report& report) {
  Payload payload;
  const CUuserObject object = MakeObject(driver, report, &payload);
  HOLDFAST_NEED(report, driver.UserObjectRelease(object, 1));
  report.Expect("ran before the release returned, on the calling thread", true, payload.ran_here());
}

void GraphDestroyIsInline(const Driver& driver, Report& report) {
  Payload payload;
  const CUgraph graph = MakeOwner(driver, report, &payload);
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  report.Expect("ran before the destroy returned, on the calling thread", true, payload.ran_here());
}

// Each destructor waits for all to be inside one: they can only all return if they run at the same time.
void DestructorsAreConcurrent(const Driver& driver, Report& report) {
  constexpr int kThreads = 8;
  struct Meeting {
    std::atomic<int> inside{0};
    std::atomic<int> met{0};
    static void CUDA_CB Destroy(void* argument) {
      auto* self = static_cast<Meeting*>(argument);
      self->inside.fetch_add(1);
      if (WaitFor([self] { return self->inside.load() == kThreads; })) self->met.fetch_add(1);
    }
  };
  Meeting meeting;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      CUuserObject object = nullptr;
      driver.UserObjectCreate(&object, &meeting, &Meeting::Destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
      driver.UserObjectRelease(object, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  report.Expect("destructors that ran at the same time", long{kThreads}, long{meeting.met.load()});
}

void ExecDestroyInFlightIsDeferred(const Driver& driver, Report& report) {
  Payload payload;
  Gate gate;
  const CUgraph graph = MakeOwner(driver, report, &payload, &Gate::Wait, &gate);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphLaunch(executable, driver.stream));
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  report.Expect("ran while the launch ran", false, payload.runs.load() > 0);
  gate.open = true;
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
  report.Expect("ran after the launch", true, WaitForRuns(payload));
  report.Expect("on the thread that destroyed", false, payload.ran_here());
}

void MemsetLaunchDeliversLate(const Driver& driver, Report& report) {
  Payload payload;
  CUdeviceptr memory = 0;
  HOLDFAST_NEED(report, driver.MemAlloc(&memory, 4096));
  const CUgraph graph = MakeGraph(driver, report);
  AddMemset(driver, report, graph, memory, 4096);
  const CUuserObject object = MakeObject(driver, report, &payload);
  HOLDFAST_NEED(report, driver.GraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  HOLDFAST_NEED(report, driver.GraphLaunch(executable, driver.stream));
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
  report.Expect("ran in the end", true, WaitForRuns(payload));
  report.Expect("on the thread that destroyed", false, payload.ran_here());
}

void CloneAndExecHold(const Driver& driver, Report& report) {
  Payload payload;
  const CUgraph graph = MakeGraph(driver, report);
  AddHost(driver, report, graph);
  const CUuserObject object = MakeObject(driver, report, &payload);
  HOLDFAST_NEED(report, driver.GraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  CUgraph clone = nullptr;
  HOLDFAST_NEED(report, driver.GraphClone(&clone, graph));
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphReleaseUserObject(graph, object, 1));
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  report.Expect("ran when the graph went", false, payload.runs.load() > 0);
  HOLDFAST_NEED(report, driver.GraphDestroy(clone));
  report.Expect("ran when the clone went", false, payload.runs.load() > 0);
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  report.Expect("ran when the executable went", true, WaitForRuns(payload));
}

void UpdateSwapsReferences(const Driver& driver, Report& report) {
  Payload old_payload;
  Payload new_payload;
  const CUgraph graph = MakeOwner(driver, report, &old_payload);
  const CUgraph source = MakeOwner(driver, report, &new_payload);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  CUgraphExecUpdateResultInfo info{};
  report.Expect("update", CUDA_SUCCESS, driver.GraphExecUpdate(executable, source, &info));
  report.Expect("old object ran inside the update", true, old_payload.ran_here());
  HOLDFAST_NEED(report, driver.GraphDestroy(source));
  report.Expect("new object ran when the source went", false, new_payload.runs.load() > 0);
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  report.Expect("new object ran when the executable went", true, WaitForRuns(new_payload));
}

void UpdateInFlightIsDeferred(const Driver& driver, Report& report) {
  Payload old_payload;
  Payload new_payload;
  Gate gate;
  const CUgraph graph = MakeOwner(driver, report, &old_payload, &Gate::Wait, &gate);
  const CUgraph source = MakeOwner(driver, report, &new_payload);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  HOLDFAST_NEED(report, driver.GraphLaunch(executable, driver.stream));
  CUgraphExecUpdateResultInfo info{};
  report.Expect("update", CUDA_SUCCESS, driver.GraphExecUpdate(executable, source, &info));
  report.Expect("old object ran while the launch ran", false, old_payload.runs.load() > 0);
  gate.open = true;
  HOLDFAST_NEED(report, driver.StreamSynchronize(driver.stream));
  report.Expect("old object ran after the launch", true, WaitForRuns(old_payload));
  report.Expect("on the thread that updated", false, old_payload.ran_here());
  HOLDFAST_NEED(report, driver.GraphDestroy(source));
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  report.Expect("new object ran in the end", true, WaitForRuns(new_payload));
}

void FailedUpdateMovesNothing(const Driver& driver, Report& report) {
  Payload old_payload;
  Payload new_payload;
  const CUgraph graph = MakeOwner(driver, report, &old_payload);
  const CUgraph source = MakeOwner(driver, report, &new_payload);
  AddHost(driver, report, source);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  CUgraphExecUpdateResultInfo info{};
  report.Expect("update", CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, driver.GraphExecUpdate(executable, source, &info));
  report.Expect("reason", long{CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED}, long{info.result});
  report.Expect("old object ran", false, old_payload.runs.load() > 0);
  HOLDFAST_NEED(report, driver.GraphDestroy(source));
  report.Expect("new object ran when the source went", true, WaitForRuns(new_payload));
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  report.Expect("old object ran when the executable went", true, WaitForRuns(old_payload));
}

void NodesHoldNothing(const Driver& driver, Report& report) {
  Payload payload;
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraphNode node = AddHost(driver, report, graph);
  const CUuserObject object = MakeObject(driver, report, &payload);
  HOLDFAST_NEED(report, driver.GraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  HOLDFAST_NEED(report, driver.GraphDestroyNode(node));
  report.Expect("ran when the node went", false, payload.runs.load() > 0);
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  report.Expect("ran when the graph went", true, payload.ran_here());
}

void ChildNodeDropsItsGraph(const Driver& driver, Report& report) {
  Payload payload;
  const CUgraph child = MakeOwner(driver, report, &payload);
  const CUgraph graph = MakeGraph(driver, report);
  CUgraphNode node = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  HOLDFAST_NEED(report, driver.GraphDestroy(child));
  report.Expect("ran when the source went", false, payload.runs.load() > 0);
  HOLDFAST_NEED(report, driver.GraphDestroyNode(node));
  report.Expect("ran when the node went", true, payload.ran_here());
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
}

void ChildIsReplaced(const Driver& driver, Report& report) {
  Payload old_payload;
  Payload new_payload;
  const CUgraph first = MakeOwner(driver, report, &old_payload);
  const CUgraph second = MakeGraph(driver, report);
  const CUgraphNode original = AddHost(driver, report, second);
  const CUuserObject object = MakeObject(driver, report, &new_payload);
  HOLDFAST_NEED(report, driver.GraphRetainUserObject(second, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  const CUgraph graph = MakeGraph(driver, report);
  CUgraphNode node = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddChildGraphNode(&node, graph, nullptr, 0, first));
  HOLDFAST_NEED(report, driver.GraphDestroy(first));
  CUgraph before = nullptr;
  CUgraph after = nullptr;
  HOLDFAST_NEED(report, driver.GraphChildGraphNodeGetGraph(node, &before));
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_GRAPH;
  parameters.graph.graph = second;
  report.Expect("set params", CUDA_SUCCESS, driver.GraphNodeSetParams(node, &parameters));
  report.Expect("old object ran inside the call", true, old_payload.ran_here());
  HOLDFAST_NEED(report, driver.GraphChildGraphNodeGetGraph(node, &after));
  report.Expect("the embedded handle is the same", false, before == after);
  CUgraphNode found = nullptr;
  report.Expect("find in clone", CUDA_SUCCESS, driver.GraphNodeFindInClone(&found, original, after));
  HOLDFAST_NEED(report, driver.GraphDestroy(second));
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  report.Expect("new object ran when the parent went", true, new_payload.ran_here());
}

void ChildIsMoved(const Driver& driver, Report& report) {
  Payload payload;
  const CUgraph child = MakeOwner(driver, report, &payload);
  const CUgraph graph = MakeGraph(driver, report);
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_GRAPH;
  parameters.graph.graph = child;
  parameters.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
  CUgraphNode node = nullptr;
  report.Expect("add", CUDA_SUCCESS, driver.GraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters));
  CUgraph embedded = nullptr;
  HOLDFAST_NEED(report, driver.GraphChildGraphNodeGetGraph(node, &embedded));
  report.Expect("the embedded handle is the source's", true, embedded == child);
  report.Expect("the source can be destroyed", CUDA_ERROR_INVALID_VALUE, driver.GraphDestroy(child));
  report.Expect("ran before the parent went", false, payload.runs.load() > 0);
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  report.Expect("ran when the parent went", true, payload.ran_here());
}

void ExecOfReleasedCloneHoldsNothing(const Driver& driver, Report& report) {
  Payload payload;
  const CUgraph graph = MakeGraph(driver, report);
  AddHost(driver, report, graph);
  const CUuserObject object = MakeObject(driver, report, &payload);
  HOLDFAST_NEED(report, driver.GraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  CUgraph clone = nullptr;
  HOLDFAST_NEED(report, driver.GraphClone(&clone, graph));
  HOLDFAST_NEED(report, driver.GraphReleaseUserObject(clone, object, 1));
  const CUgraphExec executable = Instantiate(driver, report, clone);
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  report.Expect("ran while the executable lives", true, payload.ran_here());
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  HOLDFAST_NEED(report, driver.GraphDestroy(clone));
}

std::mutex order_mutex;
std::vector<std::uintptr_t> order;

void CUDA_CB NoteOrder(void* payload) {
  const std::lock_guard<std::mutex> lock(order_mutex);
  order.push_back(reinterpret_cast<std::uintptr_t>(payload));
}

void RetainNumbered(const Driver& driver, Report& report, CUgraph graph, std::uintptr_t number) {
  CUuserObject object = nullptr;
  HOLDFAST_NEED(report, driver.UserObjectCreate(&object, reinterpret_cast<void*>(number), &NoteOrder, 1,
                                                CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  HOLDFAST_NEED(report, driver.GraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
}

void ManyObjectsGoInOrder(const Driver& driver, Report& report) {
  constexpr std::uintptr_t kCount = 100'000;
  const CUgraph graph = MakeGraph(driver, report);
  for (std::uintptr_t i = 1; i <= kCount; ++i) RetainNumbered(driver, report, graph, i);
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  report.Expect("ran before the destroy returned", static_cast<long>(kCount), static_cast<long>(order.size()));
  report.Expect("in the order in which they were retained", true, std::is_sorted(order.begin(), order.end()));
}

std::string OrderText() {
  std::string text;
  for (const std::uintptr_t number : order) text += std::to_string(number) + " ";
  return text;
}

// Parent 1 and 4, children 2 and 3.
CUgraph MakeNested(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  RetainNumbered(driver, report, graph, 1);
  for (const std::uintptr_t number : {2, 3}) {
    const CUgraph child = MakeGraph(driver, report);
    RetainNumbered(driver, report, child, number);
    CUgraphNode node = nullptr;
    HOLDFAST_NEED(report, driver.GraphAddChildGraphNode(&node, graph, nullptr, 0, child));
    HOLDFAST_NEED(report, driver.GraphDestroy(child));
  }
  RetainNumbered(driver, report, graph, 4);
  return graph;
}

void NestedObjectsGoInOrder(const Driver& driver, Report& report) {
  HOLDFAST_NEED(report, driver.GraphDestroy(MakeNested(driver, report)));
  report.Expect("graph: parent first, then children in node order", std::string("1 4 2 3 "), OrderText());
  order.clear();
  const CUgraph graph = MakeNested(driver, report);
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  HOLDFAST_NEED(report, driver.GraphExecDestroy(executable));
  report.Expect("executable: children first, the last one first", std::string("3 2 1 4 "), OrderText());
}

void CUDA_CB FailProcess(void*) { ::_exit(1); }

CUgraphExec MakeFatalExec(const Driver& driver, Report& report) {
  const CUgraph graph = MakeGraph(driver, report);
  AddHost(driver, report, graph);
  CUuserObject object = nullptr;
  HOLDFAST_NEED(report, driver.UserObjectCreate(&object, nullptr, &FailProcess, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  HOLDFAST_NEED(report, driver.GraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  const CUgraphExec executable = Instantiate(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  return executable;
}

// A destructor that ran would end the process with exit code 1: an unmet fact.
void ProcessEndRunsNothing(const Driver& driver, Report& report) {
  MakeFatalExec(driver, report);
  report.Note("an executable is left behind", "yes");
}

void ContextResetRunsNothing(const Driver& driver, Report& report) {
  MakeFatalExec(driver, report);
  report.Expect("reset", CUDA_SUCCESS, driver.DevicePrimaryCtxReset(0));
}

void ReleasesRaceAndRunOnce(const Driver& driver, Report& report) {
  constexpr int kThreads = 4;
  constexpr int kReleases = 25'000;
  Payload payload;
  const CUuserObject object = MakeObject(driver, report, &payload, kThreads * kReleases);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int release = 0; release < kReleases; ++release) driver.UserObjectRelease(object, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  report.Expect("runs", long{1}, long{payload.runs.load()});
}

}  // namespace

std::vector<Fact> UserObjectFacts() {
  return {
      {"U1", "the last release runs the destructor inline, on the calling thread", &ReleaseIsInline},
      {"U2", "destroying the last graph that holds an object does the same", &GraphDestroyIsInline},
      {"U3", "destructors run at the same time on several threads", &DestructorsAreConcurrent},
      {"U4", "an executable destroyed in flight keeps its objects until the launch ends",
       &ExecDestroyInFlightIsDeferred},
      {"U4b", "the same with a memset node alone", &MemsetLaunchDeliversLate},
      {"U5", "clones and executables hold references of their own", &CloneAndExecHold},
      {"U6", "a whole update drops the old references inside the call", &UpdateSwapsReferences},
      {"U7", "a whole update in flight drops them after the launch", &UpdateInFlightIsDeferred},
      {"U8", "a failed update moves nothing", &FailedUpdateMovesNothing},
      {"U9", "destroying a node touches no object", &NodesHoldNothing},
      {"U10", "destroying a child-graph node drops the references of its graph", &ChildNodeDropsItsGraph},
      {"U11", "set params replaces the embedded graph and drops its references", &ChildIsReplaced},
      {"U12", "a moved child graph keeps its handle and goes with its parent", &ChildIsMoved},
      {"U15", "an executable of a clone that was released before holds nothing", &ExecOfReleasedCloneHoldsNothing},
      {"U16", "100,000 objects go inline, in the order in which they were retained", &ManyObjectsGoInOrder},
      {"U16b", "the order over nested graphs", &NestedObjectsGoInOrder},
      {"U17", "no destructor runs when the process ends", &ProcessEndRunsNothing},
      {"U17b", "no destructor runs when the primary context is reset", &ContextResetRunsNothing},
      {"U18", "racing releases run the destructor once", &ReleasesRaceAndRunOnce},
  };
}

}  // namespace holdfast::conformance
