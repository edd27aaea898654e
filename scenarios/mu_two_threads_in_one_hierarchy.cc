// D-28 and other misuse that can be detected: two threads inside operations on one hierarchy.
//
// Intent: one thread adds a node, and then makes an executable, and is held at the door of the driver. Another one
// tries operations on the same graph, on a graph below it and on a node: each is refused with a message that says so,
// before the driver is asked, and the first operation goes on unharmed; above all nothing else is made from the graph
// while it carries what is meant for the executable. What may be asked from any thread is answered, another hierarchy
// can be used, and once the first thread is out this one can be used again. In a release build there is no such check,
// and the case is skipped.
//
// Interleaving:
//
//   subject-1                               main
//   AddEmptyNode: held before the driver
//                                           operations on the hierarchy: refused
//                                           announces "let-go-addition"
//   the node is added
//   GraphExec: held before the driver
//                                           the same: refused
//                                           announces "let-go-executable"
//   the executable is made
//                                           the same operations: done
//
// Expected verdict: passed with two faults fired, or skipped.
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/nested_graphs.h"

namespace holdfast::scenarios {
namespace {

bool IsRefusedForThreads(const std::function<void()>& operation) {
  try {
    operation();
  } catch (const std::logic_error& error) {
    return std::string_view(error.what()).find("another thread is inside") != std::string_view::npos;
  }
  return false;
}

void CheckRefusals(harness::Context& context, const GraphDefinition& root, const GraphDefinition& child) {
  GraphDefinition graph = root, inner = child, other;
  GraphNode node = other.AddEmptyNode();
  const std::vector<std::pair<std::string, std::function<void()>>> operations = {
      {"an addition", [&] { graph.AddEmptyNode(); }},
      {"an addition below", [&] { inner.AddEmptyNode(); }},
      {"a list", [&] { graph.Nodes(); }},
      {"a list below", [&] { inner.Edges(); }},
      {"a clone", [&] { graph.Clone(); }},
      {"an executable", [&] { GraphExec executable(graph); }},
      {"an embedding of it", [&] { other.AddChildGraphNode(graph); }},
      {"an edge", [&] { graph.AddEdge(node, node); }},
  };
  for (const auto& [name, operation] : operations) {
    const std::uint64_t calls_before = context.shim().calls(nullptr);
    context.Check(IsRefusedForThreads(operation), "a second thread inside a hierarchy is refused: " + name);
    context.Check(context.shim().calls(nullptr) == calls_before, "the driver is not asked: " + name);
  }
  context.Check(graph.IsValid() && inner.IsValid() && !(graph == inner) && node.IsValid(),
                "what may be asked from any thread is answered");
  context.Check(other.Nodes().size() == 1, "another hierarchy can be used meanwhile");
}

// Lets a thread begin `operation`, which the plan holds at `call`, and goes on when it has been let go.
void CheckWhileInside(harness::Context& context, const DeviceSession& session, const GraphDefinition& root,
                      const char* call, const char* let_go, std::function<void()> operation) {
  const GraphDefinition child = GraphInside(root, 1);
  const std::jthread first = context.StartThread(1, [&session, operation = std::move(operation)] {
    session.MakeCurrent();
    operation();
  });
  context.CheckEventually([&] { return context.shim().faults(call) == 1; },
                          "the first thread is held inside its operation");
  CheckRefusals(context, root, child);
  context.shim().announce_step(let_go);
}

void Run(harness::Context& context) {
#ifdef NDEBUG
  context.Skip("the library was built without the check for two threads in one hierarchy (NDEBUG)");
#endif
  DeviceSession session(context);
  StartManualCleanup(context);
  NestedGraphs nested;
  GraphDefinition root = *nested.definition;
  CheckWhileInside(context, session, root, "cuGraphAddEmptyNode", "let-go-addition", [&context, root]() mutable {
    context.Check(root.AddEmptyNode().IsValid(), "the first thread's addition succeeds");
  });
  CheckWhileInside(context, session, root, "cuGraphInstantiateWithParams", "let-go-executable", [&context, root] {
    context.Check(GraphExec(root).raw() != nullptr, "the first thread's executable is made");
  });
  context.Check(root.Nodes().size() == 3, "one node was added, by the first thread");
  context.Check(root.Clone().Nodes().size() == 3, "the hierarchy can be used when the first thread is out of it");
  Settle(context);
  CheckAllAlive(context, nested, "its node was not touched");
  context.Oracle("operations of a second thread");
}

const harness::Registration registration({
    .name = "MU.two-threads-in-one-hierarchy",
    .summary = "In a debug build a second thread inside a hierarchy is refused, and the first one is unharmed",
    .covers = {"D-28"},
    .catches = {},
    .variants = harness::SingleVariant(),
    .plan = {"cuGraphAddEmptyNode:nth=1,thread=subject-1,hold=step:let-go-addition",
             "cuGraphInstantiateWithParams:nth=1,thread=subject-1,hold=step:let-go-executable"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
