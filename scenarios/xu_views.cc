// XU-01, XU-02, XU-04: a view of an executable's node, and which nodes it can be of.
//
// Intent: a view keeps the definition's hierarchy, which the driver needs to know the node by, and no longer than it
// lives. Kinds whose parameters no executable can change, nodes that are gone, and kinds other than the node's are
// refused; a node of an unrelated graph is refused by the driver, and the owner that came with it is dropped.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

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

void LaunchOnce(const DeviceSession& session, const GraphExec& executable) {
  executable.Launch(session.stream());
  session.stream()->Synchronize();
}

void CheckKeepsDefinition(harness::Context& context, const DeviceSession& session) {
  OwnerProbe owner;
  int runs = 0;
  int updated_runs = 0;
  std::optional<GraphDefinition> definition(std::in_place);
  std::optional<GraphNode> node(definition->AddHostNode(CountingCallback(runs, owner.Take())));
  std::optional<GraphExec> executable(*definition);
  std::optional<ExecNode> view(executable->Node(*node));
  node.reset();
  definition.reset();
  context.Check(context.shim().live().graphs == 1, "a view keeps the definition");
  view->UpdateHost(CountingCallback(updated_runs));
  LaunchOnce(session, *executable);
  context.Check(runs == 0 && updated_runs == 1, "a view updates its node when nothing else has the definition");
  view.reset();
  context.Check(context.shim().live().graphs == 0, "without the view the definition goes");
  executable.reset();
  CheckReleasedLate(context, owner, "definition and executable are gone");
}

void CheckUnsupportedKinds(harness::Context& context) {
  GraphDefinition definition;
  const GraphNode allocation = definition.AddMemoryAllocationNode(64);
  const std::pair<const char*, GraphNode> nodes[] = {
      {"empty", definition.AddEmptyNode()},
      {"conditional", definition.AddIfNode(definition.MakeCondition(0))},
      {"memory allocation", allocation},
      {"memory free", definition.AddMemoryFreeNode(allocation.AllocatedAddress(), {{allocation}})},
  };
  const GraphExec executable{GraphDefinition()};
  for (const auto& [name, node] : nodes) {
    CheckMisuse<std::invalid_argument>(context, std::string("a view of a node of kind ") + name, "Node",
                                       [&, &other = node] { (void)executable.Node(other); });
  }
}

void CheckNodesThatAreGone(harness::Context& context) {
  int runs = 0;
  GraphDefinition definition;
  GraphNode node = definition.AddHostNode(CountingCallback(runs));
  const GraphExec executable(definition);
  ExecNode view = executable.Node(node);
  CheckMisuse(context, "an update of another kind", "UpdateMemset",
              [&] { view.UpdateMemset(MemoryOperand::Device(0, nullptr), {.width_elements = 1}); });
  CheckMisuse(context, "an update of another kind", "UpdateEventWait", [&] { view.UpdateEventWait(Event::Create()); });
  node.Destroy();
  CheckMisuse(context, "an update of a node that is gone", "UpdateHost",
              [&] { view.UpdateHost(CountingCallback(runs)); });
  CheckMisuse(context, "a view of a node that is gone", "Node", [&] { (void)executable.Node(node); });
  CheckMisuse(context, "a view of no node", "Node", [&] { (void)executable.Node(GraphNode()); });
}

void CheckUnrelated(harness::Context& context, const DeviceSession& session) {
  OwnerProbe owner;
  int runs = 0;
  int unrelated_runs = 0;
  GraphDefinition definition, unrelated;
  definition.AddHostNode(CountingCallback(runs));
  const GraphNode node = unrelated.AddHostNode(CountingCallback(unrelated_runs));
  const GraphExec executable(definition);
  const CUresult result = CheckRefused(context, "updating by a node of an unrelated graph", [&] {
    executable.Node(node).UpdateHost(CountingCallback(unrelated_runs, owner.Take()));
  });
  context.Check(result == CUDA_ERROR_INVALID_VALUE, "the driver's answer is passed on");
  context.Check(owner.releases() == 1, "the owner of a refused update is dropped at once");
  LaunchOnce(session, executable);
  context.Check(runs == 1 && unrelated_runs == 0, "the executable runs what it ran");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckKeepsDefinition(context, session);
  CheckUnsupportedKinds(context);
  CheckNodesThatAreGone(context);
  CheckUnrelated(context, session);
  context.Oracle("views of nodes that an executable has, and of those that it has not");
}

const harness::Registration registration({
    .name = "XU.views",
    .summary = "A view keeps its definition while it lives, and refuses nodes that an executable cannot change",
    .covers = {"XU-01", "XU-02", "XU-04"},
    .catches = {},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
