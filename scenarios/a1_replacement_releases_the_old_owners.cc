// A1: replacing a node's parameters replaces its owners, all or nothing.
//
// Intent: update a host node; the old owner goes, the new one stays. Then the driver refuses an update: the old owner
// stays and the new one goes. Then the driver refuses to give up a reference after a good update, once without and once
// with having done it: the update stands, nothing is released twice, and what stays goes with the graph at the latest.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run. With inline delivery they run
// while the library is inside its own driver call: a lock held there would hang this scenario.
//
// Expected verdict: passed, with three faults fired.
#include <cstring>
#include <optional>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

void CUDA_CB Nothing(void*) {}

HostCallback CallbackOwnedBy(OwnerProbe& probe) { return {&Nothing, &probe, probe.Take(), nullptr}; }

void* UserDataOf(const GraphNode& node) {
  CUDA_HOST_NODE_PARAMS parameters{};
  driver::Check("cuGraphHostNodeGetParams", driver::GetDriver().cuGraphHostNodeGetParams(node.raw(), &parameters),
                "reading a host node");
  return parameters.userData;
}

void CheckRefusedUpdate(harness::Context& context, GraphNode& node, const OwnerProbe& present) {
  OwnerProbe refused;
  void* const before = UserDataOf(node);
  bool threw = false;
  try {
    node.UpdateHost(CallbackOwnedBy(refused));
  } catch (const driver::DriverError& error) {
    threw = error.result() == CUDA_ERROR_OUT_OF_MEMORY && error.call() == "cuGraphNodeSetParams";
  }
  context.RequireFaults("cuGraphNodeSetParams");
  Settle(context);
  context.Check(threw, "a refused update throws what the driver answered");
  context.Check(UserDataOf(node) == before, "a refused update leaves the parameters");
  CheckAlive(context, present, "the refused update did not replace it");
  CheckReleasedOnce(context, refused, "its update was refused");
  context.Check(node.Owners().size() == 1, "a refused update leaves the index");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  std::optional<GraphDefinition> graph(std::in_place);
  OwnerProbe first, second, third, fourth;
  GraphNode node = graph->AddHostNode(CallbackOwnedBy(first));
  Settle(context);
  CheckAlive(context, first, "its node is there");

  node.UpdateHost(CallbackOwnedBy(second));
  Settle(context);
  CheckReleasedOnce(context, first, "it was replaced");
  CheckAlive(context, second, "it is the node's present owner");

  CheckRefusedUpdate(context, node, second);

  // The rules on cuGraphReleaseUserObject are for the third and the fifth release; two have come before.
  node.UpdateHost(CallbackOwnedBy(third));
  context.RequireFaults("cuGraphReleaseUserObject");
  Settle(context);
  context.Check(UserDataOf(node) == &third, "the update is done although the old reference could not be given up");
  CheckAlive(context, second, "the driver refused to give it up");
  node.UpdateHost(CallbackOwnedBy(fourth));
  Settle(context);
  CheckReleasedOnce(context, third, "it was replaced");
  CheckAlive(context, second, "what the driver refused is not tried again: it might be done twice");

  node.UpdateHost({&Nothing, nullptr, nullptr, nullptr});
  context.RequireFaults("cuGraphReleaseUserObject", 2);
  Settle(context);
  CheckReleasedOnce(context, fourth, "it was given up, although the driver said otherwise");
  context.Check(node.Owners().empty() && graph->attachment_count() == 0, "a node without owner has no attachment");
  node = GraphNode();
  graph.reset();
  Settle(context);
  CheckReleasedOnce(context, second, "its graph is gone");
  context.Oracle("owners before and after each update");
}

const harness::Registration registration({
    .name = "A1.replacement-releases-the-old-owners",
    .summary =
        "An update replaces the owners with the parameters, all or nothing, and a release that fails is not repeated",
    .covers = {"A1", "AP-08", "AP-09", "AP-13", "AP-14", "AP-15", "AP-18", "RP-01", "RP-03", "NU-H", "NU-1", "D-18",
               "DC-01"},
    .catches = {"old-reference-never-released", "published-before-the-driver-agreed", "rollback-forgotten",
                "rollback-releases-twice", "refused-release-tried-again", "lock-held-across-driver-calls"},
    .variants = harness::MixedDeliveryVariants(),
    .plan = {"cuGraphNodeSetParams:nth=2,return=CUDA_ERROR_OUT_OF_MEMORY",
             "cuGraphReleaseUserObject:nth=3,return=CUDA_ERROR_INVALID_VALUE",
             "cuGraphReleaseUserObject:nth=5,return=CUDA_ERROR_INVALID_VALUE,after=true"},
    .timeout_s = 15,
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
