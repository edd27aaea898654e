// EA-08: an update of an executable's child graph brings the replacement's owners along by itself.
//
// Intent: replace the child graph of an executable, whose own node keeps a callback; drop the replacement's definition.
// The driver has carried the references over: the new callback runs with its owner, until the executable goes. The
// library attaches nothing of its own. The definition, its child and another executable are as they were. A replacement
// of another shape is refused, and one that is gone is misuse.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <optional>
#include <string>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/exec_node.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/expected_errors.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

struct Callback {
  OwnerProbe owner;
  int runs = 0;

  HostCallback Take() { return CountingCallback(runs, owner.Take()); }
};

void LaunchOnce(const DeviceSession& session, const GraphExec& executable) {
  executable.Launch(session.stream());
  session.stream()->Synchronize();
}

void CheckRefusals(harness::Context& context, GraphExec& executable, const GraphNode& child) {
  GraphDefinition taller;
  int runs = 0;
  taller.AddHostNode(CountingCallback(runs), {{taller.AddHostNode(CountingCallback(runs))}});
  CheckRefused(context, "a replacement of another shape", [&] { executable.Node(child).UpdateChildGraph(taller); });
  GraphDefinition parent;
  const GraphNode owning = parent.AddChildGraphNode(taller);
  const GraphDefinition gone = owning.ChildGraph();
  GraphNode(owning).Destroy();
  CheckMisuse(context, "a replacement that is gone", "UpdateChildGraph",
              [&] { executable.Node(child).UpdateChildGraph(gone); });
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  Callback original, replacement;
  GraphDefinition definition;
  std::optional<GraphDefinition> source(std::in_place);
  source->AddHostNode(original.Take());
  const GraphNode child = definition.AddChildGraphNode(*source);
  source.emplace();
  source->AddHostNode(replacement.Take());
  std::optional<GraphExec> executable(definition);
  const GraphExec other(definition);
  const CUgraph embedded = child.ChildGraph().raw();
  const std::uint64_t objects_before = context.shim().live().user_objects;

  CheckRefusals(context, *executable, child);
  executable->Node(child).UpdateChildGraph(*source);
  context.Check(context.shim().live().user_objects == objects_before, "the update makes no user object of its own");
  source.reset();
  Settle(context);
  CheckAlive(context, replacement.owner, "the driver gave the executable a reference");
  context.Check(child.ChildGraph().raw() == embedded && child.ChildGraph().attachment_count() == 1,
                "the definition has the child that it had");

  LaunchOnce(session, *executable);
  context.Check(replacement.runs == 1 && original.runs == 0, "the executable runs the replacement");
  LaunchOnce(session, other);
  context.Check(replacement.runs == 1 && original.runs == 1, "another executable runs what it ran");
  executable.reset();
  CheckReleasedLate(context, replacement.owner, "its executable is gone");
  CheckAlive(context, original.owner, "the definition has it");
  context.Oracle("the owners of a replaced child graph");
}

const harness::Registration registration({
    .name = "EA.child-graph-update",
    .summary =
        "An executable's new child graph keeps its owners by the driver's references alone, definition untouched",
    .covers = {"EA-08", "EA-10"},
    .catches = {},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
