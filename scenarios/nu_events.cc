// NU-R, NU-W: updates of event nodes.
//
// Intent: give an event-record and an event-wait node another event. The node tells the new one, keeps it when nobody
// else does, and lets the old one go, except for executables from before. A null event is refused before the driver is
// asked, another kind of node refuses, and a refusal of the driver leaves node and event as they were.
//
// Interleaving: one thread.
//
// Expected verdict: passed, with a fault fired for each kind.
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/expected_errors.h"
#include "scenarios/support/operation_state.h"

namespace holdfast::scenarios {
namespace {

// One kind of event node.
struct Kind {
  const char* name;
  const char* step;
  const char* update_name;
  std::function<GraphNode(GraphDefinition&, const EventHandle&)> add;
  std::function<void(GraphNode&, const EventHandle&)> update;
};

void CheckExpiredLate(harness::Context& context, const std::weak_ptr<const Event>& event, const std::string& why) {
  context.CheckEventually(
      [&] {
        Settle(context);
        return event.expired();
      },
      "the event is let go: " + why);
}

void CheckUpdates(harness::Context& context, const DeviceSession& session, const Kind& kind) {
  EventHandle first = Event::Create();
  EventHandle second = Event::Create();
  const std::weak_ptr<const Event> watched_first = first, watched_second = second;
  std::optional<GraphDefinition> graph(std::in_place);
  GraphNode node = kind.add(*graph, first);
  std::optional<GraphExec> executable(*graph);
  kind.update(node, second);
  context.Check(node.Event() == second, std::string(kind.name) + ": the node tells its new event");
  first = nullptr;
  second = nullptr;
  Settle(context);
  context.Check(!watched_first.expired(), std::string(kind.name) + ": an executable from before has the old event");
  context.Check(!watched_second.expired(), std::string(kind.name) + ": the node keeps its new event");
  executable->Launch(session.stream());
  executable.emplace(*graph);
  session.stream()->Synchronize();
  CheckExpiredLate(context, watched_first, "it was replaced, and the executable is gone");

  node = GraphNode();
  graph.reset();
  executable->Launch(session.stream());
  session.stream()->Synchronize();
  Settle(context);
  context.Check(!watched_second.expired(), std::string(kind.name) + ": the executable keeps the event");
  executable.reset();
  CheckExpiredLate(context, watched_second, "nothing needs it any more");
}

void CheckRefusals(harness::Context& context, const Kind& kind) {
  const EventHandle event = Event::Create();
  GraphDefinition graph;
  GraphNode node = kind.add(graph, event);
  GraphNode other = graph.AddEmptyNode();
  const GraphNode handles[] = {node};
  const OperationState before = OperationState::Of(context, graph, handles);
  CheckMisuse<std::invalid_argument>(context, std::string(kind.name) + ": a null event", kind.update_name,
                                     [&] { kind.update(node, nullptr); });
  CheckMisuse(context, std::string(kind.name) + ": another kind of node", kind.update_name,
              [&] { kind.update(other, event); });
  EventHandle refused = Event::Create();
  const std::weak_ptr<const Event> watched = refused;
  const std::uint64_t faults_before = context.shim().faults("cuGraphNodeSetParams");
  context.shim().announce_step(kind.step);
  CheckRefused(context, std::string(kind.name) + ": an update that the driver refuses",
               [&] { kind.update(node, refused); });
  context.shim().announce_step("after");
  context.RequireFaults("cuGraphNodeSetParams", faults_before + 1);
  refused = nullptr;
  Settle(context);
  context.Check(watched.expired(), std::string(kind.name) + ": the event of a refused update is let go");
  CheckUnchanged(context, before, OperationState::Of(context, graph, handles), "every update was refused");
  context.Check(node.Event() == event, std::string(kind.name) + ": the node has its old event");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  const Kind kinds[] = {
      {"event record", "record", "UpdateEventRecord",
       [](GraphDefinition& graph, const EventHandle& event) { return graph.AddEventRecordNode(event); },
       [](GraphNode& node, const EventHandle& event) { node.UpdateEventRecord(event); }},
      {"event wait", "wait", "UpdateEventWait",
       [](GraphDefinition& graph, const EventHandle& event) { return graph.AddEventWaitNode(event); },
       [](GraphNode& node, const EventHandle& event) { node.UpdateEventWait(event); }},
  };
  for (const Kind& kind : kinds) {
    CheckUpdates(context, session, kind);
    CheckRefusals(context, kind);
  }
  context.Oracle("the events of event nodes after each update");
}

const harness::Registration registration({
    .name = "NU.events",
    .summary = "An update of an event node keeps the new event and lets the old one go, or changes nothing",
    .covers = {"NU-R", "NU-W"},
    .catches = {},
    .plan = {"cuGraphNodeSetParams:nth=1,step=record,count=step,return=CUDA_ERROR_OUT_OF_MEMORY",
             "cuGraphNodeSetParams:nth=1,step=wait,count=step,return=CUDA_ERROR_OUT_OF_MEMORY"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
