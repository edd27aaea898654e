// Facts C32 to C44: captures into graphs that are there already, what can be done to a graph meanwhile, and what a
// failed capture does to one that a node owns.
#include <string>

#include "tests/conformance/capture.h"

namespace holdfast::conformance {
namespace {

void GraphIsKeptFromDestruction(const Driver& driver, Report& report) {
  const CUstream own = driver.stream;
  Payload payload;
  Begin(driver, report, own);
  Work(driver, report, own);
  const CUgraph graph = GraphOf(driver, report, own);
  Own(driver, report, graph, &payload);
  CUgraphNode added = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddEmptyNode(&added, graph, nullptr, 0));
  const CUgraphNode captured = DependenciesOf(driver, report, own).front();
  report.Expect("destroy the graph", std::string("CUDA_ERROR_ILLEGAL_STATE, active"),
                Answered(driver, driver.GraphDestroy(graph), own));
  report.Expect("ran", false, payload.runs.load() > 0);
  report.Expect("destroy a captured node", std::string("CUDA_ERROR_ILLEGAL_STATE, active"),
                Answered(driver, driver.GraphDestroyNode(captured), own));
  report.Expect("destroy another node", std::string("CUDA_ERROR_ILLEGAL_STATE, active"),
                Answered(driver, driver.GraphDestroyNode(added), own));
  report.Expect("two nodes", 2L, static_cast<long>(NodesOf(driver, report, graph).size()));
  const CUgraph with_body = MakeGraph(driver, report);
  const Conditional made = MakeConditional(driver, report, with_body);
  const CUgraphNode sibling = AddHost(driver, report, with_body);
  const CUstream inner = MakeStream(driver, report);
  BeginInto(driver, report, inner, made.body);
  report.Expect("destroy the body", CUDA_ERROR_ILLEGAL_STATE, driver.GraphDestroy(made.body));
  report.Expect("destroy a node of its parent", CUDA_SUCCESS, driver.GraphDestroyNode(sibling));
  HOLDFAST_NEED(report, driver.StreamEndCapture(inner, nullptr));
  report.Expect("destroy the body after the end", CUDA_ERROR_INVALID_VALUE, driver.GraphDestroy(made.body));
  HOLDFAST_NEED(report, driver.StreamEndCapture(own, nullptr));
  report.Expect("destroy the node after the end", CUDA_SUCCESS, driver.GraphDestroyNode(added));
  report.Expect("destroy the graph after the end", CUDA_SUCCESS, driver.GraphDestroy(graph));
}

void GraphIsUsedMeanwhile(const Driver& driver, Report& report) {
  const CUstream own = driver.stream;
  Begin(driver, report, own);
  Work(driver, report, own);
  Work(driver, report, own);
  const CUgraph graph = GraphOf(driver, report, own);
  const CUgraph other = MakeGraph(driver, report);
  const std::vector<CUgraphNode> nodes = NodesOf(driver, report, graph);
  CUgraphExec executable = nullptr;
  CUgraph clone = nullptr;
  CUgraphNode child = nullptr;
  report.Expect("instantiate", CUDA_SUCCESS, driver.GraphInstantiateWithFlags(&executable, graph, 0));
  report.Expect("clone", CUDA_SUCCESS, driver.GraphClone(&clone, graph));
  report.Expect("embed", CUDA_SUCCESS, driver.GraphAddChildGraphNode(&child, other, nullptr, 0, graph));
  report.Expect("remove an edge", CUDA_SUCCESS,
                driver.GraphRemoveDependencies(graph, &nodes[0], &nodes[1], nullptr, 1));
  report.Expect("end", std::string("CUDA_SUCCESS, a graph"), End(driver, own));
}

void CaptureIntoGraph(const Driver& driver, Report& report) {
  const CUstream own = driver.stream;
  const CUstream other_stream = MakeStream(driver, report);
  const CUgraph graph = MakeGraph(driver, report);
  const CUgraph other = MakeGraph(driver, report);
  CUgraphNode foreign = AddHost(driver, report, other);
  const CUgraphNode first = AddHost(driver, report, graph);
  const CUgraphNode second = AddHost(driver, report, graph);
  constexpr CUstreamCaptureMode kRelaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
  const auto begin = [&](CUstream stream, CUgraph into, const std::vector<CUgraphNode>& nodes) {
    return driver.StreamBeginCaptureToGraph(stream, into, nodes.data(), nullptr, nodes.size(), kRelaxed);
  };
  report.Expect("null graph", CUDA_ERROR_INVALID_VALUE, begin(own, nullptr, {}));
  report.Expect("unknown mode", CUDA_ERROR_INVALID_VALUE,
                driver.StreamBeginCaptureToGraph(own, graph, nullptr, nullptr, 0, static_cast<CUstreamCaptureMode>(3)));
  report.Expect("a node of another graph", CUDA_ERROR_INVALID_VALUE, begin(own, graph, {foreign}));
  report.Expect("no list", CUDA_ERROR_INVALID_VALUE,
                driver.StreamBeginCaptureToGraph(own, graph, nullptr, nullptr, 1, kRelaxed));
  const CUgraphNode dead = AddHost(driver, report, graph);
  HOLDFAST_NEED(report, driver.GraphDestroyNode(dead));
  report.Expect("a destroyed node", CUDA_ERROR_INVALID_VALUE, begin(own, graph, {dead}));
  report.Expect("null stream", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, begin(nullptr, graph, {}));
  report.Expect("status", std::string("none"), Status(driver, own));
  report.Expect("begin", CUDA_SUCCESS, begin(own, graph, {second, first, second}));
  report.Expect("the graph", true, GraphOf(driver, report, own) == graph);
  report.Expect("dependencies, each once", std::string("1 0"), Dependencies(driver, report, own));
  report.Expect("a second capture into it", std::string("CUDA_ERROR_ILLEGAL_STATE, none"),
                Answered(driver, begin(other_stream, graph, {}), other_stream));
  report.Expect("again on the same stream", std::string("CUDA_ERROR_ILLEGAL_STATE, active"),
                Answered(driver, begin(own, graph, {}), own));
  Work(driver, report, own);
  CUgraph ended = nullptr;
  report.Expect("end", std::string("CUDA_SUCCESS, a graph"), End(driver, own, &ended));
  report.Expect("the graph again", true, ended == graph);
  report.Expect("edges", std::string("0>2 1>2"), Edges(driver, report, graph));
  report.Expect("begin anew", CUDA_SUCCESS, begin(own, graph, {}));
  Work(driver, report, own);
  report.Expect("end with a null pointer", CUDA_SUCCESS, driver.StreamEndCapture(own, nullptr));
  report.Expect("four nodes", 4L, static_cast<long>(NodesOf(driver, report, graph).size()));
  report.Expect("destroy", CUDA_SUCCESS, driver.GraphDestroy(graph));
}

enum class Failure { kInvalid, kUnjoined, kWrongThread, kStreamDestroyed };
constexpr struct {
  Failure failure;
  const char* name;
} kFailures[] = {{Failure::kInvalid, "invalid"},
                 {Failure::kUnjoined, "unjoined"},
                 {Failure::kWrongThread, "on another thread"},
                 {Failure::kStreamDestroyed, "stream destroyed"}};

// Begins a capture into the graph and ends it without success.
void FailInto(const Driver& driver, Report& report, CUgraph graph, Failure failure) {
  const CUstream own = MakeStream(driver, report);
  const CUstream branch = MakeStream(driver, report);
  BeginInto(driver, report, own, graph,
            failure == Failure::kWrongThread ? CU_STREAM_CAPTURE_MODE_THREAD_LOCAL : CU_STREAM_CAPTURE_MODE_RELAXED);
  if (failure == Failure::kInvalid) {
    Invalidate(driver, report, own);
    report.Expect("end", std::string("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, null"), End(driver, own));
  } else if (failure == Failure::kUnjoined) {
    Follow(driver, report, branch, own);
    Work(driver, report, branch);
    report.Expect("end", std::string("CUDA_ERROR_STREAM_CAPTURE_UNJOINED, null"), End(driver, own));
  } else if (failure == Failure::kWrongThread) {
    OnThread(driver, [&] {
      report.Expect("end", std::string("CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, null"), End(driver, own));
    });
  } else {
    HOLDFAST_NEED(report, driver.StreamDestroy(own));
  }
}

void FailureDestroysTheGraph(const Driver& driver, Report& report) {
  for (const auto& each : kFailures) {
    const std::string name = each.name;
    Payload payload;
    const CUgraph graph = MakeGraph(driver, report);
    AddHost(driver, report, graph);
    Own(driver, report, graph, &payload);
    FailInto(driver, report, graph, each.failure);
    report.Expect(name + ", its objects are dropped", true, payload.runs.load() > 0);
    std::size_t count = 0;
    report.Expect(name + ", its nodes", CUDA_ERROR_INVALID_VALUE, driver.GraphGetNodes(graph, nullptr, &count));
    report.Expect(name + ", destroy", CUDA_ERROR_INVALID_VALUE, driver.GraphDestroy(graph));
  }
}

void CaptureIntoBody(const Driver& driver, Report& report) {
  CUdeviceptr memory = 0;
  HOLDFAST_NEED(report, driver.MemAlloc(&memory, 64));
  Payload payload;
  const Conditional made = MakeConditional(driver, report, MakeGraph(driver, report));
  const CUevent event = MakeEvent(driver, report);
  BeginInto(driver, report, driver.stream, made.body);
  Own(driver, report, made.body, &payload);
  report.Expect("fill", CUDA_SUCCESS, driver.MemsetD8Async(memory, 1, 16, driver.stream));
  report.Expect("host function", CUDA_SUCCESS, driver.LaunchHostFunc(driver.stream, &DoNothing, nullptr));
  report.Expect("external record", CUDA_SUCCESS,
                driver.EventRecordWithFlags(event, driver.stream, CU_EVENT_RECORD_EXTERNAL));
  CUgraph ended = nullptr;
  report.Expect("end", std::string("CUDA_SUCCESS, a graph"), End(driver, driver.stream, &ended));
  report.Expect("the body", true, ended == made.body);
  report.Expect("edges", std::string("0>1 1>2"), Edges(driver, report, made.body));
  report.Expect("destroy the parent", CUDA_SUCCESS, driver.GraphDestroy(made.parent));
  report.Expect("ran", true, payload.ran_here());
}

void CaptureIntoChild(const Driver& driver, Report& report) {
  const CUgraph parent = MakeGraph(driver, report);
  CUgraphNode node = nullptr;
  CUgraph child = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddChildGraphNode(&node, parent, nullptr, 0, MakeGraph(driver, report)));
  HOLDFAST_NEED(report, driver.GraphChildGraphNodeGetGraph(node, &child));
  BeginInto(driver, report, driver.stream, child);
  Work(driver, report, driver.stream);
  CUgraph ended = nullptr;
  report.Expect("end", std::string("CUDA_SUCCESS, a graph"), End(driver, driver.stream, &ended));
  report.Expect("the child", true, ended == child);
  report.Expect("one node", 1L, static_cast<long>(NodesOf(driver, report, child).size()));
  report.Expect("destroy the parent", CUDA_SUCCESS, driver.GraphDestroy(parent));
}

void BodyIsItsOwnCapture(const Driver& driver, Report& report) {
  CUdeviceptr memory = 0;
  HOLDFAST_NEED(report, driver.MemAlloc(&memory, 64));
  const CUstream own = driver.stream;
  const CUstream inner = MakeStream(driver, report);
  Begin(driver, report, own);
  Work(driver, report, own);
  Conditional made = MakeConditional(driver, report, GraphOf(driver, report, own));
  HOLDFAST_NEED(
      report, driver.StreamUpdateCaptureDependencies(own, &made.node, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  BeginInto(driver, report, inner, made.body);
  HOLDFAST_NEED(report, driver.MemsetD8Async(memory, 1, 16, inner));
  CUgraph parent = nullptr;
  report.Expect("end the parent first", std::string("CUDA_SUCCESS, a graph"), End(driver, own, &parent));
  report.Expect("the body's capture goes on", std::string("CUDA_SUCCESS, active"),
                Answered(driver, driver.MemsetD8Async(memory, 1, 16, inner), inner));
  report.Expect("end the body", std::string("CUDA_SUCCESS, a graph"), End(driver, inner));
  report.Expect("edges of the body", std::string("0>1"), Edges(driver, report, made.body));
  report.Expect("destroy the parent", CUDA_SUCCESS, driver.GraphDestroy(parent));
}

void FailureDestroysTheBody(const Driver& driver, Report& report) {
  for (const auto& each : kFailures) {
    const std::string name = each.name;
    Payload of_body;
    Payload of_parent;
    const Conditional made = MakeConditional(driver, report, MakeGraph(driver, report));
    Own(driver, report, made.parent, &of_parent);
    Own(driver, report, made.body, &of_body);
    FailInto(driver, report, made.body, each.failure);
    report.Expect(name + ", the body's objects are dropped", true, of_body.runs.load() > 0);
    report.Expect(name + ", the parent's are not", false, of_parent.runs.load() > 0);
    report.Expect(name + ", the parent's nodes", 1L, static_cast<long>(NodesOf(driver, report, made.parent).size()));
    std::size_t count = 0;
    CUgraphNode node = nullptr;
    report.Expect(name + ", the body's nodes", CUDA_ERROR_INVALID_VALUE,
                  driver.GraphGetNodes(made.body, nullptr, &count));
    report.Expect(name + ", add to the body", CUDA_ERROR_INVALID_VALUE,
                  driver.GraphAddEmptyNode(&node, made.body, nullptr, 0));
    report.Expect(name + ", capture into it", CUDA_ERROR_INVALID_VALUE,
                  driver.StreamBeginCaptureToGraph(driver.stream, made.body, nullptr, nullptr, 0,
                                                   CU_STREAM_CAPTURE_MODE_RELAXED));
  }
}

// The graph with a conditional node whose body was destroyed by a failed capture.
Conditional MakeBroken(const Driver& driver, Report& report) {
  const Conditional made = MakeConditional(driver, report, MakeGraph(driver, report));
  FailInto(driver, report, made.body, Failure::kInvalid);
  return made;
}

void BrokenParentDestroyed(const Driver& driver, Report& report) {
  driver.GraphDestroy(MakeBroken(driver, report).parent);
}

void BrokenNodeDestroyed(const Driver& driver, Report& report) {
  driver.GraphDestroyNode(MakeBroken(driver, report).node);
}

void BrokenParentInstantiated(const Driver& driver, Report& report) {
  CUgraphExec executable = nullptr;
  driver.GraphInstantiateWithFlags(&executable, MakeBroken(driver, report).parent, 0);
}

// A failed capture of a body leaves a capture of its parent alone, and what can be done to the parent without its body.
void BrokenParentIsUsed(const Driver& driver, Report& report) {
  CUdeviceptr memory = 0;
  HOLDFAST_NEED(report, driver.MemAlloc(&memory, 64));
  Begin(driver, report, driver.stream);
  Conditional made = MakeConditional(driver, report, GraphOf(driver, report, driver.stream));
  HOLDFAST_NEED(report, driver.StreamUpdateCaptureDependencies(driver.stream, &made.node, nullptr, 1,
                                                               CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  FailInto(driver, report, made.body, Failure::kInvalid);
  report.Expect("work", CUDA_SUCCESS, driver.MemsetD8Async(memory, 1, 16, driver.stream));
  CUgraph parent = nullptr;
  report.Expect("end", std::string("CUDA_SUCCESS, a graph"), End(driver, driver.stream, &parent));
  report.Expect("edges", std::string("0>1"), Edges(driver, report, parent));
  CUgraph clone = nullptr;
  report.Expect("clone", CUDA_ERROR_NOT_SUPPORTED, driver.GraphClone(&clone, parent));
  CUgraphNode added = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddEmptyNode(&added, parent, nullptr, 0));
  report.Expect("destroy another node", CUDA_SUCCESS, driver.GraphDestroyNode(added));
}

void BrokenEmbeddingDestroyed(const Driver& driver, Report& report) {
  const CUgraph parent = MakeGraph(driver, report);
  CUgraphNode node = nullptr;
  CUgraph child = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddChildGraphNode(&node, parent, nullptr, 0, MakeGraph(driver, report)));
  HOLDFAST_NEED(report, driver.GraphChildGraphNodeGetGraph(node, &child));
  FailInto(driver, report, child, Failure::kInvalid);
  driver.GraphDestroy(parent);
}

}  // namespace

std::vector<Fact> CaptureGraphFacts() {
  return {
      {"C32", "a graph that is captured into cannot be destroyed, nor any node of it", &GraphIsKeptFromDestruction},
      {"C33", "a graph that is captured into can be instantiated, cloned and embedded", &GraphIsUsedMeanwhile},
      {"C34", "a capture goes into a graph that is there already, one at a time", &CaptureIntoGraph},
      {"C35", "a capture that fails destroys the graph that it went into", &FailureDestroysTheGraph},
      {"C36", "a capture goes into a conditional body", &CaptureIntoBody},
      {"C37", "a capture goes into an embedded graph", &CaptureIntoChild},
      {"C38", "the capture of a body and that of its parent are two", &BodyIsItsOwnCapture},
      {"C39", "a capture that fails destroys the body that it went into, and the parent still refers to it",
       &FailureDestroysTheBody},
      {"C40", "that parent can be used where its body does not matter, and its capture goes on", &BrokenParentIsUsed},
      {"C41", "to destroy that parent is fatal", &BrokenParentDestroyed, Ending::kCrashes},
      {"C42", "to destroy the node of that body is fatal", &BrokenNodeDestroyed, Ending::kCrashes},
      {"C43", "to instantiate that parent is fatal", &BrokenParentInstantiated, Ending::kCrashes},
      {"C44", "to destroy the parent of an embedded graph that a failed capture destroyed is fatal",
       &BrokenEmbeddingDestroyed, Ending::kCrashes},
  };
}

}  // namespace holdfast::conformance
