// What the facts about stream capture share: steps, and answers as text.
#ifndef HOLDFAST_TESTS_CONFORMANCE_CAPTURE_H_
#define HOLDFAST_TESTS_CONFORMANCE_CAPTURE_H_

#include <cuda.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/conformance/fact.h"

namespace holdfast::conformance {

struct CaptureMode {
  CUstreamCaptureMode mode;
  const char* name;
};
inline constexpr CaptureMode kCaptureModes[] = {{CU_STREAM_CAPTURE_MODE_GLOBAL, "global"},
                                                {CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, "thread-local"},
                                                {CU_STREAM_CAPTURE_MODE_RELAXED, "relaxed"}};

// Steps. Each reports a failure as unmet.
CUstream MakeStream(const Driver& driver, Report& report, unsigned int flags = CU_STREAM_NON_BLOCKING);
CUevent MakeEvent(const Driver& driver, Report& report);
void Begin(const Driver& driver, Report& report, CUstream stream,
           CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED);
void BeginInto(const Driver& driver, Report& report, CUstream stream, CUgraph graph,
               CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED);
// One host function: a node that any graph can have.
void Work(const Driver& driver, Report& report, CUstream stream);
// `to` waits for what `from` has come to: the way into a capture, and back.
void Follow(const Driver& driver, Report& report, CUstream to, CUstream from);
// Makes the capture of the stream invalid.
void Invalidate(const Driver& driver, Report& report, CUstream stream);
// Ends the capture, and destroys the graph if there is one.
void Drop(const Driver& driver, CUstream stream);
// The graph holds the one reference to an object for `payload`.
void Own(const Driver& driver, Report& report, CUgraph graph, Payload* payload);

// What a capture is about now.
CUgraph GraphOf(const Driver& driver, Report& report, CUstream stream);
std::vector<CUgraphNode> DependenciesOf(const Driver& driver, Report& report, CUstream stream);
std::vector<CUgraphNode> NodesOf(const Driver& driver, Report& report, CUgraph graph);

// "none", "active" or "invalid"; the error's name if the question is refused.
std::string Status(const Driver& driver, CUstream stream);

// The answer, and "a graph", "null" or "nothing" for what was given back.
std::string End(const Driver& driver, CUstream stream, CUgraph* graph = nullptr);

// Positions of nodes in the graph's list: "0 2", and "0>2 1>2" for edges.
std::string Dependencies(const Driver& driver, Report& report, CUstream stream);
std::string Edges(const Driver& driver, Report& report, CUgraph graph);

// The answer of one call, and the status of a stream after it: "CUDA_SUCCESS, active".
std::string Answered(const Driver& driver, CUresult got, CUstream stream);

// Runs `steps` on a thread of its own, with the context current and `mode` as the thread's.
void OnThread(const Driver& driver, const std::function<void()>& steps,
              CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL);

// Sets the calling thread's mode while it lives.
class ThreadMode {
 public:
  ThreadMode(const Driver& driver, CUstreamCaptureMode mode);
  ~ThreadMode();
  ThreadMode(const ThreadMode&) = delete;
  ThreadMode& operator=(const ThreadMode&) = delete;

 private:
  const Driver& driver_;
  CUstreamCaptureMode mode_;
};

// A graph with a conditional node, and the node's one body.
struct Conditional {
  CUgraph parent = nullptr;
  CUgraphNode node = nullptr;
  CUgraph body = nullptr;
};
Conditional MakeConditional(const Driver& driver, Report& report, CUgraph parent);

// A kernel that does nothing.
CUfunction LoadKernel(const Driver& driver, Report& report, const char* name = "holdfast_nothing");

}  // namespace holdfast::conformance

#endif  // HOLDFAST_TESTS_CONFORMANCE_CAPTURE_H_
