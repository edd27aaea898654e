// SweptOperation: what a sweep scenario is about, one public operation of the library, and the judgement that all of
// them share.
//
//   const SweptOperation kClone{
//       .name = "clone",
//       .prepare = [](SweepWorld& world) { world.AddGraphWithHostNode(); },
//       .operate = [](SweepWorld& world) { world.graphs.push_back(world.graphs[0].Clone()); },
//       .is_done = [](SweepWorld& world) { return world.graphs.size() == 2; }};
//   const harness::Registration clone = RegisterSwept<kClone>();
#ifndef HOLDFAST_SCENARIOS_SUPPORT_SWEPT_OPERATION_H_
#define HOLDFAST_SCENARIOS_SUPPORT_SWEPT_OPERATION_H_

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/exec_node.h"
#include "lib/graph/graph_builder.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {

// What an operation works on. Everything in it is dropped before the owners are judged.
struct SweepWorld {
  SweepWorld(harness::Context& context, DeviceSession& session);

  // An owner that is judged in the end; the world keeps no reference to it.
  OpaqueHandle NewOwner();
  // A callback that does nothing, with an owner of its own.
  HostCallback NewCallback();
  // Device memory with an owner of its own.
  MemoryOperand NewTarget();

  // A graph with one host node, put behind `graphs` and `nodes`.
  GraphDefinition& AddGraphWithHostNode();
  // A graph that embeds a copy of one that has a host node, with its nested node in `nodes`.
  GraphDefinition& AddGraphWithChild();
  // A builder on the session's stream, capturing.
  GraphBuilder& AddCapturingBuilder();

  // Ends what still captures: until then the stream cannot be waited for.
  void DropBuilders();
  void DropAll();

  harness::Context& context;
  DeviceSession& session;
  std::deque<OwnerProbe> owners;
  const DeviceMemoryHandle memory;
  const DeviceMemoryHandle other_memory;
  const EventHandle event;
  const EventHandle other_event;
  const KernelHandle kernel;
  // No operation touches it. Its owner's release is there to be delivered in every case.
  std::optional<GraphDefinition> bystander;

  std::vector<GraphDefinition> graphs;
  std::vector<GraphNode> nodes;
  std::vector<GraphExec> executables;
  std::vector<GraphBuilder> builders;
  std::vector<GraphBuilder> forks;
  std::vector<Condition> conditions;
  std::vector<HostCallback> callbacks;  // given to the operation; made before it
  std::vector<MemoryOperand> targets;   // the same
  CUgraph raw_graph = nullptr;
};

struct SweptOperation {
  // What a failed operation leaves.
  enum class Guarantee {
    kStrong,        // everything in `graphs` as it was, and a repetition succeeds
    kStrongOrDone,  // the same, or all is done: what a driver refuses to destroy may be gone
    kBasic,         // something that the function's comment names; nothing is lost, and all can be dropped
  };

  std::string name;
  std::vector<std::string> covers = {};
  std::vector<std::string> catches = {};
  // The call that undoes the operation when a later step of it fails; null if it has none.
  const char* undo_site = nullptr;
  Guarantee guarantee = Guarantee::kStrong;
  void (*prepare)(SweepWorld& world);
  // Exactly one call of the operation. Runs again after a failure if the guarantee is strong.
  void (*operate)(SweepWorld& world);
  // Whether the operation's effect is there. Called only when it did not throw.
  bool (*is_done)(SweepWorld& world);
};

// The run of a sweep scenario. If the operation threw: with the strong guarantee the graphs and their owners are as
// before, and the operation succeeds once nothing fails; unless faults failed its undoing as well, which leaves what
// the function's comment names. If not: its effect is there, whatever it met on the way. In the end every owner has
// been released exactly once and nothing is left, but for what a failed release kept.
void RunSwept(harness::Context& context, const SweptOperation& operation);

harness::Scenario SweptScenario(const SweptOperation& operation, void (*run)(harness::Context&),
                                harness::SourcePlace where);

template <const SweptOperation& kOperation>
harness::Registration RegisterSwept(harness::SourcePlace where = harness::SourcePlace::Here()) {
  return harness::Registration(SweptScenario(
      kOperation, [](harness::Context& context) { RunSwept(context, kOperation); }, where));
}

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_SWEPT_OPERATION_H_
