// Facts C21 to C31: how streams come into a capture and back through events, and what a capture says of its
// dependencies.
#include <string>

#include "tests/conformance/capture.h"

namespace holdfast::conformance {
namespace {

void ForkAndJoin(const Driver& driver, Report& report) {
  const CUstream own = driver.stream;
  const CUstream branch = MakeStream(driver, report);
  Begin(driver, report, own);
  Work(driver, report, own);
  const CUgraph graph = GraphOf(driver, report, own);
  Follow(driver, report, branch, own);
  report.Expect("the branch captures", std::string("active"), Status(driver, branch));
  report.Expect("into the same graph", true, GraphOf(driver, report, branch) == graph);
  report.Expect("from the same node", std::string("0"), Dependencies(driver, report, branch));
  Work(driver, report, branch);
  Work(driver, report, own);
  report.Expect("the branch went its way", std::string("1"), Dependencies(driver, report, branch));
  report.Expect("and the origin", std::string("2"), Dependencies(driver, report, own));
  report.Expect("begin on the branch", std::string("CUDA_ERROR_ILLEGAL_STATE, active"),
                Answered(driver, driver.StreamBeginCapture(branch, CU_STREAM_CAPTURE_MODE_RELAXED), own));
  Follow(driver, report, own, branch);
  report.Expect("joined", std::string("2 1"), Dependencies(driver, report, own));
  Follow(driver, report, own, branch);
  report.Expect("joined twice", std::string("2 1"), Dependencies(driver, report, own));
  Work(driver, report, own);
  report.Expect("behind both", std::string("3"), Dependencies(driver, report, own));
  report.Expect("edges", std::string("0>1 0>2 1>3 2>3"), Edges(driver, report, graph));
  report.Expect("the branch goes on", std::string("active"), Status(driver, branch));
  report.Expect("from where it was", std::string("1"), Dependencies(driver, report, branch));
  report.Expect("end", std::string("CUDA_SUCCESS, a graph"), End(driver, own));
  report.Expect("the branch is out", std::string("none"), Status(driver, branch));
  report.Expect("and works", CUDA_SUCCESS, driver.LaunchHostFunc(branch, &DoNothing, nullptr));
}

void WaitsAddUp(const Driver& driver, Report& report) {
  const CUstream own = driver.stream;
  const CUstream first = MakeStream(driver, report);
  const CUstream second = MakeStream(driver, report);
  const CUevent early = MakeEvent(driver, report);
  Begin(driver, report, own);
  Follow(driver, report, first, own);
  Follow(driver, report, second, own);
  report.Expect("a branch of nothing", std::string("active"), Status(driver, first));
  report.Expect("depends on nothing", std::string(""), Dependencies(driver, report, first));
  Work(driver, report, second);
  Work(driver, report, first);
  HOLDFAST_NEED(report, driver.EventRecord(early, own));
  Work(driver, report, own);
  Follow(driver, report, own, first);
  Follow(driver, report, own, second);
  report.Expect("in the order of the waits", std::string("2 1 0"), Dependencies(driver, report, own));
  Follow(driver, report, first, own);
  report.Expect("each node once", std::string("1 2 0"), Dependencies(driver, report, first));
  HOLDFAST_NEED(report, driver.StreamWaitEvent(own, early, 0));
  report.Expect("an event of nothing adds nothing", std::string("2 1 0"), Dependencies(driver, report, own));
  Drop(driver, own);
}

// An event is where its stream was, not where it is; a dependency that another one implies stays.
void AncestorsStay(const Driver& driver, Report& report) {
  const CUevent early = MakeEvent(driver, report);
  const CUstream branch = MakeStream(driver, report);
  Begin(driver, report, driver.stream);
  const CUgraph graph = GraphOf(driver, report, driver.stream);
  Work(driver, report, driver.stream);
  HOLDFAST_NEED(report, driver.EventRecord(early, driver.stream));
  Work(driver, report, driver.stream);
  HOLDFAST_NEED(report, driver.StreamWaitEvent(branch, early, 0));
  report.Expect("the branch is at the event", std::string("0"), Dependencies(driver, report, branch));
  HOLDFAST_NEED(report, driver.StreamWaitEvent(driver.stream, early, 0));
  report.Expect("the origin has both", std::string("1 0"), Dependencies(driver, report, driver.stream));
  Work(driver, report, driver.stream);
  report.Expect("edges", std::string("0>1 0>2 1>2"), Edges(driver, report, graph));
  Drop(driver, driver.stream);
}

struct Unjoined {
  const char* question;
  bool is_joined;
  std::function<void()> steps;
};

void UnjoinedWork(const Driver& driver, Report& report) {
  const CUstream own = driver.stream;
  CUstream branch = MakeStream(driver, report);
  CUstream third = MakeStream(driver, report);
  const CUevent event = MakeEvent(driver, report);
  const auto work = [&](CUstream stream) { Work(driver, report, stream); };
  const auto follow = [&](CUstream to, CUstream from) { Follow(driver, report, to, from); };
  const auto fork_with_work = [&] {
    work(own);
    follow(branch, own);
    work(branch);
  };
  const auto set = [&](CUstream stream, std::vector<CUgraphNode> nodes, unsigned int flags) {
    HOLDFAST_NEED(report, driver.StreamUpdateCaptureDependencies(stream, nodes.data(), nullptr, nodes.size(), flags));
  };
  const auto destroy_branch = [&] {
    HOLDFAST_NEED(report, driver.StreamDestroy(branch));
    branch = MakeStream(driver, report);
  };
  const auto of = [&](CUstream stream) { return DependenciesOf(driver, report, stream); };
  const auto graph = [&] { return GraphOf(driver, report, own); };
  const auto add_empty = [&] {
    CUgraphNode node = nullptr;
    HOLDFAST_NEED(report, driver.GraphAddEmptyNode(&node, graph(), nullptr, 0));
    return node;
  };
  const Unjoined cases[] = {
      {"a branch without work", true, [&] { work(own), follow(branch, own); }},
      {"a branch with work", false, [&] { fork_with_work(); }},
      {"joined", true, [&] { fork_with_work(), follow(own, branch); }},
      {"work after the join", false, [&] { fork_with_work(), follow(own, branch), work(branch); }},
      {"an event recorded after the join", true,
       [&] { fork_with_work(), follow(own, branch), HOLDFAST_NEED(report, driver.EventRecord(event, branch)); }},
      {"joined through a third", true,
       [&] { fork_with_work(), follow(third, branch), work(third), follow(own, third); }},
      {"joined by a third alone", false, [&] { fork_with_work(), follow(third, branch); }},
      {"origin without work", true, [&] { follow(branch, own), work(branch), follow(own, branch); }},
      {"joined at an earlier point", false,
       [&] {
         fork_with_work();
         HOLDFAST_NEED(report, driver.EventRecord(event, branch));
         work(branch);
         HOLDFAST_NEED(report, driver.StreamWaitEvent(own, event, 0));
       }},
      {"joined, worked on, and the branch back at the origin", true,
       [&] { fork_with_work(), follow(own, branch), work(own), follow(branch, own); }},
      {"an external record on a branch", false,
       [&] {
         work(own), follow(branch, own);
         HOLDFAST_NEED(report, driver.EventRecordWithFlags(event, branch, CU_EVENT_RECORD_EXTERNAL));
       }},
      {"joined by an update", true,
       [&] { fork_with_work(), set(own, of(branch), CU_STREAM_ADD_CAPTURE_DEPENDENCIES); }},
      {"branch set to nothing", true, [&] { fork_with_work(), set(branch, {}, CU_STREAM_SET_CAPTURE_DEPENDENCIES); }},
      {"branch set to what it has", true,
       [&] { fork_with_work(), set(branch, of(branch), CU_STREAM_SET_CAPTURE_DEPENDENCIES); }},
      {"a third that waits for the branch set to nothing", true,
       [&] { fork_with_work(), follow(third, branch), set(third, {}, CU_STREAM_SET_CAPTURE_DEPENDENCIES); }},
      {"branch set to its first node, then work", false,
       [&] {
         fork_with_work();
         const std::vector<CUgraphNode> first = of(branch);
         work(branch), set(branch, first, CU_STREAM_SET_CAPTURE_DEPENDENCIES), work(branch);
       }},
      {"joined, then the origin set to nothing", true,
       [&] { fork_with_work(), follow(own, branch), set(own, {}, CU_STREAM_SET_CAPTURE_DEPENDENCIES); }},
      {"origin set to nothing, then work", true,
       [&] { work(own), set(own, {}, CU_STREAM_SET_CAPTURE_DEPENDENCIES), work(own); }},
      {"a node added by hand", true, [&] { work(own), add_empty(); }},
      {"a node added by hand to the branch", true,
       [&] { work(own), follow(branch, own), set(branch, {add_empty()}, CU_STREAM_ADD_CAPTURE_DEPENDENCIES); }},
      {"and work behind it", false,
       [&] {
         work(own), follow(branch, own), set(branch, {add_empty()}, CU_STREAM_ADD_CAPTURE_DEPENDENCIES);
         work(branch);
       }},
      {"joined, then the edge of the join removed", true,
       [&] {
         fork_with_work();
         const std::vector<CUgraphNode> from = of(branch);
         follow(own, branch), work(own);
         const std::vector<CUgraphNode> to = of(own);
         HOLDFAST_NEED(report, driver.GraphRemoveDependencies(graph(), from.data(), to.data(), nullptr, 1));
       }},
      {"an edge by hand to the origin", true,
       [&] {
         fork_with_work();
         const std::vector<CUgraphNode> from = of(branch);
         work(own);
         const std::vector<CUgraphNode> to = of(own);
         HOLDFAST_NEED(report, driver.GraphAddDependencies(graph(), from.data(), to.data(), nullptr, 1));
       }},
      {"branch without work destroyed", true, [&] { work(own), follow(branch, own), destroy_branch(); }},
      {"branch with work destroyed", false, [&] { fork_with_work(), destroy_branch(); }},
      {"branch joined and destroyed", true, [&] { fork_with_work(), follow(own, branch), destroy_branch(); }},
      {"branch destroyed, then its event waited for", true,
       [&] {
         fork_with_work();
         HOLDFAST_NEED(report, driver.EventRecord(event, branch));
         destroy_branch();
         HOLDFAST_NEED(report, driver.StreamWaitEvent(own, event, 0));
       }},
  };
  for (const Unjoined& each : cases) {
    const std::string name = each.question;
    Payload payload;
    Begin(driver, report, own);
    Own(driver, report, graph(), &payload);
    each.steps();
    CUgraph captured = nullptr;
    report.Expect(name,
                  std::string(each.is_joined ? "CUDA_SUCCESS, a graph" : "CUDA_ERROR_STREAM_CAPTURE_UNJOINED, null"),
                  End(driver, own, &captured));
    report.Expect(name + ", status", std::string("none none none"),
                  Status(driver, own) + " " + Status(driver, branch) + " " + Status(driver, third));
    report.Expect(name + ", objects dropped", !each.is_joined, payload.ran_here());
    if (captured != nullptr) HOLDFAST_NEED(report, driver.GraphDestroy(captured));
  }
}

void BranchCannotEnd(const Driver& driver, Report& report) {
  const CUstream branch = MakeStream(driver, report);
  Begin(driver, report, driver.stream);
  Follow(driver, report, branch, driver.stream);
  report.Expect("end", std::string("CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, null"), End(driver, branch));
  report.Expect("status", std::string("invalid"), Status(driver, driver.stream));
  report.Expect("end with a null pointer", CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                driver.StreamEndCapture(branch, nullptr));
  report.Expect("end of the origin", std::string("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, null"),
                End(driver, driver.stream));
  report.Expect("the branch", std::string("none"), Status(driver, branch));
}

void CapturesDoNotMerge(const Driver& driver, Report& report) {
  const CUstream other = MakeStream(driver, report);
  const CUevent event = MakeEvent(driver, report);
  Begin(driver, report, driver.stream);
  Begin(driver, report, other);
  HOLDFAST_NEED(report, driver.EventRecord(event, driver.stream));
  report.Expect("wait for another capture", CUDA_ERROR_STREAM_CAPTURE_MERGE, driver.StreamWaitEvent(other, event, 0));
  for (const CUstream stream : {driver.stream, other}) {
    report.Expect("status", std::string("invalid"), Status(driver, stream));
    report.Expect("end", std::string("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, null"), End(driver, stream));
  }
}

void CapturesAreIsolated(const Driver& driver, Report& report) {
  const CUstream other = MakeStream(driver, report);
  const CUevent event = MakeEvent(driver, report);
  Begin(driver, report, driver.stream);
  report.Expect("wait for an event never recorded", std::string("CUDA_SUCCESS, active"),
                Answered(driver, driver.StreamWaitEvent(driver.stream, event, 0), driver.stream));
  Drop(driver, driver.stream);
  for (const CUstream recorder : {other, driver.stream}) {
    HOLDFAST_NEED(report, driver.EventRecord(event, recorder));
    HOLDFAST_NEED(report, driver.StreamSynchronize(recorder));
    Begin(driver, report, driver.stream);
    report.Expect("wait for work before the capture", std::string("CUDA_ERROR_STREAM_CAPTURE_ISOLATION, invalid"),
                  Answered(driver, driver.StreamWaitEvent(driver.stream, event, 0), driver.stream));
    Drop(driver, driver.stream);
  }
}

void CapturedEvents(const Driver& driver, Report& report) {
  const CUstream own = driver.stream;
  const CUstream other = MakeStream(driver, report);
  const CUevent event = MakeEvent(driver, report);
  const CUevent plain = MakeEvent(driver, report);
  HOLDFAST_NEED(report, driver.EventRecord(plain, other));
  HOLDFAST_NEED(report, driver.StreamSynchronize(other));
  float milliseconds = 0;
  struct Case {
    const char* question;
    const char* expected;
    std::function<CUresult()> call;
  };
  const Case cases[] = {
      {"query", "CUDA_ERROR_CAPTURED_EVENT, invalid", [&] { return driver.EventQuery(event); }},
      {"synchronize", "CUDA_ERROR_CAPTURED_EVENT, invalid", [&] { return driver.EventSynchronize(event); }},
      {"elapsed time", "CUDA_ERROR_CAPTURED_EVENT, active",
       [&] { return driver.EventElapsedTime(&milliseconds, plain, event); }},
      {"record elsewhere", "CUDA_SUCCESS, active", [&] { return driver.EventRecord(event, other); }},
      {"wait on its own stream", "CUDA_SUCCESS, active", [&] { return driver.StreamWaitEvent(own, event, 0); }},
  };
  for (const CaptureMode& mode : kCaptureModes) {
    for (const Case& each : cases) {
      Begin(driver, report, own, mode.mode);
      Work(driver, report, own);
      HOLDFAST_NEED(report, driver.EventRecord(event, own));
      report.Expect(std::string(mode.name) + ", " + each.question, std::string(each.expected),
                    Answered(driver, each.call(), own));
      Drop(driver, own);
    }
  }
}

void EventsOfPastCaptures(const Driver& driver, Report& report) {
  const CUstream own = driver.stream;
  const CUstream other = MakeStream(driver, report);
  const CUevent event = MakeEvent(driver, report);
  const CUevent plain = MakeEvent(driver, report);
  float milliseconds = 0;
  for (const bool is_valid : {true, false}) {
    const std::string name = is_valid ? "ended" : "invalid";
    Begin(driver, report, own);
    Work(driver, report, own);
    HOLDFAST_NEED(report, driver.EventRecord(event, own));
    if (!is_valid) Invalidate(driver, report, own);
    if (is_valid) Drop(driver, own);
    report.Expect(name + ", query", CUDA_ERROR_INVALID_VALUE, driver.EventQuery(event));
    report.Expect(name + ", wait", std::string("CUDA_ERROR_INVALID_VALUE, none"),
                  Answered(driver, driver.StreamWaitEvent(other, event, 0), other));
    if (!is_valid) Drop(driver, own);
    report.Expect(name + ", synchronize", CUDA_ERROR_INVALID_VALUE, driver.EventSynchronize(event));
    HOLDFAST_NEED(report, driver.EventRecord(plain, other));
    report.Expect(name + ", elapsed time", CUDA_ERROR_INVALID_VALUE,
                  driver.EventElapsedTime(&milliseconds, event, plain));
    Begin(driver, report, other);
    report.Expect(name + ", wait in another capture", std::string("CUDA_ERROR_INVALID_VALUE, invalid"),
                  Answered(driver, driver.StreamWaitEvent(other, event, 0), other));
    Drop(driver, other);
    HOLDFAST_NEED(report, driver.EventRecord(event, other));
    HOLDFAST_NEED(report, driver.StreamSynchronize(other));
    report.Expect(name + ", query after a new record", CUDA_SUCCESS, driver.EventQuery(event));
  }
}

void ExternalEvents(const Driver& driver, Report& report) {
  const CUstream own = driver.stream;
  const CUevent recorded = MakeEvent(driver, report);
  const CUevent waited = MakeEvent(driver, report);
  report.Expect("record outside", CUDA_ERROR_ILLEGAL_STATE,
                driver.EventRecordWithFlags(recorded, own, CU_EVENT_RECORD_EXTERNAL));
  report.Expect("wait outside", CUDA_ERROR_ILLEGAL_STATE, driver.StreamWaitEvent(own, waited, CU_EVENT_WAIT_EXTERNAL));
  Begin(driver, report, own);
  report.Expect("record", CUDA_SUCCESS, driver.EventRecordWithFlags(recorded, own, CU_EVENT_RECORD_EXTERNAL));
  report.Expect("wait", CUDA_SUCCESS, driver.StreamWaitEvent(own, waited, CU_EVENT_WAIT_EXTERNAL));
  report.Expect("the event is as before", CUDA_SUCCESS, driver.EventQuery(recorded));
  report.Expect("and an ordinary wait for it is for nothing", std::string("CUDA_SUCCESS, active"),
                Answered(driver, driver.StreamWaitEvent(own, recorded, 0), own));
  CUgraph graph = nullptr;
  HOLDFAST_NEED(report, driver.StreamEndCapture(own, &graph));
  const std::vector<CUgraphNode> nodes = NodesOf(driver, report, graph);
  report.Expect("two nodes", 2L, static_cast<long>(nodes.size()));
  if (nodes.size() != 2) return;
  CUevent first = nullptr;
  CUevent second = nullptr;
  HOLDFAST_NEED(report, driver.GraphEventRecordNodeGetEvent(nodes[0], &first));
  HOLDFAST_NEED(report, driver.GraphEventWaitNodeGetEvent(nodes[1], &second));
  report.Expect("with the events", true, first == recorded && second == waited);
  report.Expect("edges", std::string("0>1"), Edges(driver, report, graph));
}

void DependenciesAreUpdated(const Driver& driver, Report& report) {
  const CUstream own = driver.stream;
  const CUgraph other = MakeGraph(driver, report);
  CUgraphNode foreign = AddHost(driver, report, other);
  constexpr unsigned int kSet = CU_STREAM_SET_CAPTURE_DEPENDENCIES;
  const auto update = [&](const std::vector<CUgraphNode>& nodes, unsigned int flags) {
    std::vector<CUgraphNode> list = nodes;
    return driver.StreamUpdateCaptureDependencies(own, list.data(), nullptr, list.size(), flags);
  };
  const auto now = [&] { return Dependencies(driver, report, own); };
  Begin(driver, report, own);
  const CUgraph graph = GraphOf(driver, report, own);
  Work(driver, report, own);
  CUgraphNode node = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddEmptyNode(&node, graph, nullptr, 0));
  report.Expect("add", CUDA_SUCCESS, update({node}, 0));
  report.Expect("added", std::string("0 1"), now());
  report.Expect("add again", CUDA_SUCCESS, update({node}, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
  report.Expect("once", std::string("0 1"), now());
  report.Expect("set, twice the same", CUDA_SUCCESS, update({node, node}, kSet));
  report.Expect("once too", std::string("1"), now());
  report.Expect("a node of another graph", CUDA_ERROR_INVALID_VALUE, update({foreign}, 0));
  report.Expect("one of each", CUDA_ERROR_INVALID_VALUE, update({node, foreign}, kSet));
  report.Expect("no list", CUDA_ERROR_INVALID_VALUE,
                driver.StreamUpdateCaptureDependencies(own, nullptr, nullptr, 1, 0));
  report.Expect("unknown flags", CUDA_ERROR_INVALID_VALUE, update({node}, 2));
  CUgraphEdgeData edge{};
  report.Expect("with a full edge", CUDA_SUCCESS, driver.StreamUpdateCaptureDependencies(own, &node, &edge, 1, kSet));
  edge.type = 77;
  report.Expect("with an unknown edge", CUDA_ERROR_INVALID_VALUE,
                driver.StreamUpdateCaptureDependencies(own, &node, &edge, 1, kSet));
  report.Expect("refusals change nothing", std::string("1 active"), now() + " " + Status(driver, own));
  OnThread(driver, [&] { report.Expect("on another thread", CUDA_SUCCESS, update({node}, kSet)); });
  Work(driver, report, own);
  report.Expect("edges", std::string("1>2"), Edges(driver, report, graph));
  Drop(driver, own);
}

}  // namespace

std::vector<Fact> CaptureBranchFacts() {
  return {
      {"C21", "a stream that waits for a capture comes into it, and is joined by a wait for it", &ForkAndJoin},
      {"C22", "dependencies add up in the order of the waits, each node once", &WaitsAddUp},
      {"C23", "a dependency that another one implies stays", &AncestorsStay},
      {"C24", "captured work that does not come back to the origin fails the end, which drops the graph",
       &UnjoinedWork},
      {"C25", "an end on a branch makes the capture invalid", &BranchCannotEnd},
      {"C26", "a wait of one capture for another makes both invalid", &CapturesDoNotMerge},
      {"C27", "a wait for work before the capture makes it invalid, even where that is done", &CapturesAreIsolated},
      {"C28", "an event that was recorded in a capture cannot be asked", &CapturedEvents},
      {"C29", "an event of a capture that is over is no value until it is recorded again", &EventsOfPastCaptures},
      {"C30", "external records and waits become nodes", &ExternalEvents},
      {"C31", "the dependencies of a capturing stream can be changed", &DependenciesAreUpdated},
  };
}

}  // namespace holdfast::conformance
