// A7: attachments are released after the last graph, executable or in-flight launch is gone, in whatever order those
// go.
//
// Intent: one node, held by its definition, by two executables and by a launch that a host node keeps in flight. Let
// the holders go in several orders; after each step but the last the owner must be there. A whole update gives the old
// owner up as well.
//
// Interleaving: the launch runs on a driver thread and ends when the scenario opens its gate; the variants differ in
// where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <optional>
#include <string>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/blocking_callback.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

void CUDA_CB Nothing(void*) {}

// The holders of one node's owner.
struct Holders {
  std::optional<GraphDefinition> definition;
  std::optional<GraphExec> first;
  std::optional<GraphExec> second;

  // 'd', 'f' or 's'.
  void LetGo(char holder) {
    switch (holder) {
      case 'd':
        definition.reset();
        return;
      case 'f':
        first.reset();
        return;
      default:
        second.reset();
    }
  }
};

void CheckOrder(harness::Context& context, const DeviceSession& session, const std::string& order) {
  OwnerProbe owner;
  BlockingCallback blocking;
  Holders holders;
  holders.definition.emplace();
  holders.definition->AddHostNode(blocking.Callback(owner.Take()));
  holders.first.emplace(*holders.definition);
  holders.second.emplace(*holders.definition);
  holders.first->Launch(session.stream());
  context.CheckEventually([&] { return blocking.HasStarted(); }, "the launch starts");
  for (const char holder : order) {
    holders.LetGo(holder);
    Settle(context);
    CheckAlive(context, owner, "the launch is in flight; order " + order + ", now " + holder);
  }
  blocking.Open();
  session.stream()->Synchronize();
  CheckReleasedLate(context, owner, "the launch has ended");
}

void CheckWholeUpdate(harness::Context& context) {
  OwnerProbe old_owner, new_owner;
  std::optional<GraphDefinition> old_source(std::in_place);
  old_source->AddHostNode({&Nothing, nullptr, old_owner.Take(), nullptr});
  std::optional<GraphExec> executable(*old_source);
  old_source.reset();
  std::optional<GraphDefinition> new_source(std::in_place);
  new_source->AddHostNode({&Nothing, nullptr, new_owner.Take(), nullptr});
  Settle(context);
  CheckAlive(context, old_owner, "the executable needs it");
  executable->Update(*new_source);
  new_source.reset();
  Settle(context);
  CheckReleasedOnce(context, old_owner, "the executable was updated");
  CheckAlive(context, new_owner, "the updated executable needs it");
  executable.reset();
  CheckReleasedLate(context, new_owner, "the last executable is gone");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  for (const char* order : {"dfs", "fds", "sfd", "fsd"}) {
    CheckOrder(context, session, order);
  }
  CheckWholeUpdate(context);
  context.Oracle("four orders of letting go, and a whole update");
}

const harness::Registration registration({
    .name = "A7.last-holder-decides",
    .summary = "An owner is released after the last definition, executable or launch that needs it, in any order",
    .covers = {"A7", "EX-05", "EX-06", "EX-07", "EA-05", "IH-05"},
    .catches = {"graph-releases-its-references-by-hand", "executable-trusts-the-definition"},
    .variants = harness::MixedDeliveryVariants(),
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
