// Facts U13 and U14: what the driver answers to misuse, and where it answers success although nothing is well.
#include <string>

#include "tests/conformance/fact.h"

namespace holdfast::conformance {
namespace {

void UnownedReleaseSucceeds(const Driver& driver, Report& report) {
  Payload payload;
  const CUgraph graph = MakeGraph(driver, report);
  const CUuserObject object = MakeObject(driver, report, &payload);
  report.Expect("release of what the graph does not own", CUDA_SUCCESS,
                driver.GraphReleaseUserObject(graph, object, 1));
  report.Expect("the object's count went down", true, payload.ran_here());
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
}

void TooManyReleasedSucceeds(const Driver& driver, Report& report) {
  Payload payload;
  const CUgraph graph = MakeGraph(driver, report);
  const CUuserObject object = MakeObject(driver, report, &payload, 10);
  HOLDFAST_NEED(report, driver.GraphRetainUserObject(graph, object, 3, CU_GRAPH_USER_OBJECT_MOVE));
  report.Expect("release of 5 of 3", CUDA_SUCCESS, driver.GraphReleaseUserObject(graph, object, 5));
  report.Expect("ran", false, payload.runs.load() > 0);
  // The graph's record is 2 short, and it gives them back when it goes: 10 - 5 + 2 are left.
  HOLDFAST_NEED(report, driver.GraphDestroy(graph));
  HOLDFAST_NEED(report, driver.UserObjectRelease(object, 6));
  report.Expect("ran after 6 of the 7 that are left", false, payload.runs.load() > 0);
  HOLDFAST_NEED(report, driver.UserObjectRelease(object, 1));
  report.Expect("ran after the last", true, payload.ran_here());
}

// Returns with the child's reference pointing at an object that is gone.
void ChildReleasedThroughParent(const Driver& driver, Report& report) {
  Payload payload;
  const CUgraph child = MakeGraph(driver, report);
  const CUuserObject object = MakeObject(driver, report, &payload);
  HOLDFAST_NEED(report, driver.GraphRetainUserObject(child, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  const CUgraph graph = MakeGraph(driver, report);
  CUgraphNode node = nullptr;
  HOLDFAST_NEED(report, driver.GraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  HOLDFAST_NEED(report, driver.GraphDestroy(child));
  report.Expect("release through the parent", CUDA_SUCCESS, driver.GraphReleaseUserObject(graph, object, 1));
  report.Expect("ran", true, payload.ran_here());
  driver.GraphDestroyNode(node);
  driver.GraphDestroy(graph);
}

void PastZeroRunsNothing(const Driver& driver, Report& report) {
  Payload payload;
  const CUuserObject object = MakeObject(driver, report, &payload, 3);
  report.Expect("release of 5 of 3", CUDA_SUCCESS, driver.UserObjectRelease(object, 5));
  report.Expect("ran", false, payload.runs.load() > 0);
}

void DeadObjectAnswersSuccess(const Driver& driver, Report& report) {
  Payload payload;
  const CUuserObject object = MakeObject(driver, report, &payload);
  HOLDFAST_NEED(report, driver.UserObjectRelease(object, 1));
  report.Expect("release again", CUDA_SUCCESS, driver.UserObjectRelease(object, 1));
  report.Expect("runs", long{1}, long{payload.runs.load()});
}

void BadArgumentsAreRefused(const Driver& driver, Report& report) {
  Payload payload;
  CUuserObject object = nullptr;
  constexpr unsigned int kFlags = CU_USER_OBJECT_NO_DESTRUCTOR_SYNC;
  const auto create = [&](void* data, CUhostFn destructor, unsigned int count, unsigned int flags) {
    return driver.UserObjectCreate(&object, data, destructor, count, flags);
  };
  report.Expect("create, flags 0", CUDA_ERROR_INVALID_VALUE, create(&payload, &Payload::Destroy, 1, 0));
  report.Expect("create, unknown flag", CUDA_ERROR_INVALID_VALUE, create(&payload, &Payload::Destroy, 1, kFlags | 2));
  report.Expect("create, count 0", CUDA_ERROR_INVALID_VALUE, create(&payload, &Payload::Destroy, 0, kFlags));
  report.Expect("create, null destructor", CUDA_ERROR_INVALID_VALUE, create(&payload, nullptr, 1, kFlags));
  report.Expect("create, null payload", CUDA_SUCCESS, create(nullptr, &DoNothing, 1, kFlags));
  report.Expect("release 0", CUDA_ERROR_INVALID_VALUE, driver.UserObjectRelease(object, 0));
  report.Expect("retain 0", CUDA_ERROR_INVALID_VALUE, driver.UserObjectRetain(object, 0));
  report.Expect("release null", CUDA_ERROR_INVALID_VALUE, driver.UserObjectRelease(nullptr, 1));
  report.Expect("retain null", CUDA_ERROR_INVALID_VALUE, driver.UserObjectRetain(nullptr, 1));
  const CUgraph graph = MakeGraph(driver, report);
  report.Expect("graph retain 0", CUDA_ERROR_INVALID_VALUE, driver.GraphRetainUserObject(graph, object, 0, 0));
  report.Expect("graph retain, unknown flag", CUDA_ERROR_INVALID_VALUE,
                driver.GraphRetainUserObject(graph, object, 1, 8));
  report.Expect("graph retain null", CUDA_ERROR_INVALID_VALUE, driver.GraphRetainUserObject(graph, nullptr, 1, 0));
  report.Expect("null graph retain", CUDA_ERROR_INVALID_VALUE, driver.GraphRetainUserObject(nullptr, object, 1, 0));
  report.Expect("graph release 0", CUDA_ERROR_INVALID_VALUE, driver.GraphReleaseUserObject(graph, object, 0));
}

}  // namespace

std::vector<Fact> UserObjectMisuseFacts() {
  return {
      {"U13", "a graph releases what it does not own: success, and the count goes down", &UnownedReleaseSucceeds},
      {"U13b", "a graph releases more than it owns: success", &TooManyReleasedSucceeds},
      {"U13c", "a child's object is released through the parent: success, then a crash", &ChildReleasedThroughParent,
       Ending::kCrashes},
      {"U13d", "a release past zero: success, and the destructor does not run", &PastZeroRunsNothing},
      {"U13e", "a release of an object that is gone: success, and nothing runs", &DeadObjectAnswersSuccess},
      {"U14", "counts of 0, unknown flags and nulls are invalid values", &BadArgumentsAreRefused},
  };
}

}  // namespace holdfast::conformance
