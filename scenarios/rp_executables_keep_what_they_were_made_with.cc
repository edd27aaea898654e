// RP-02, IH-15: an executable keeps the parameters and owners that the definition had when it was made.
//
// Intent: instantiate, update the node, instantiate again, update again, instantiate twice. Each executable runs the
// callback of its own time. Each owner goes with the last of the executables that need it, and the two made of the
// same definition are two.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

constexpr std::size_t kVersions = 3;

// What the node has at one time, and what was made of it then.
struct Version {
  OwnerProbe owner;
  int runs = 0;
  std::optional<GraphExec> executable;

  HostCallback Callback() {
    return {[](void* data) { ++*static_cast<int*>(data); }, &runs, owner.Take(), nullptr};
  }
};

void CheckDifferentExecutables(harness::Context& context, const std::array<Version, kVersions>& versions,
                               const GraphExec& twin) {
  const GraphExec& last = *versions.back().executable;
  const GraphExec same = last;
  context.Check(same == last && same.raw() == last.raw(), "copies of a handle name one executable");
  context.Check(!(twin == last) && twin.raw() != last.raw(), "two executables of one definition are two");
  context.Check(!(*versions[0].executable == *versions[1].executable), "so are those of two versions");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  std::array<Version, kVersions> versions;
  std::optional<GraphDefinition> graph(std::in_place);
  GraphNode node = graph->AddHostNode(versions[0].Callback());
  versions[0].executable.emplace(*graph);
  for (std::size_t i = 1; i < kVersions; ++i) {
    node.UpdateHost(versions[i].Callback());
    versions[i].executable.emplace(*graph);
  }
  std::optional<GraphExec> twin(*graph);
  CheckDifferentExecutables(context, versions, *twin);
  node = GraphNode();
  graph.reset();
  Settle(context);
  for (std::size_t i = 0; i < kVersions; ++i) {
    CheckAlive(context, versions[i].owner, "the executable of version " + std::to_string(i) + " needs it");
    versions[i].executable->Launch(session.stream());
  }
  twin->Launch(session.stream());
  session.stream()->Synchronize();
  context.Check(versions[0].runs == 1 && versions[1].runs == 1 && versions[2].runs == 2,
                "each executable runs the callback that the definition had when it was made");

  for (std::size_t i = 0; i < kVersions - 1; ++i) {
    versions[i].executable.reset();
    CheckReleasedLate(context, versions[i].owner, "the executable of version " + std::to_string(i) + " is gone");
  }
  versions.back().executable.reset();
  SettleIdle(context);
  CheckAlive(context, versions.back().owner, "the other executable of the same definition needs it");
  twin.reset();
  CheckReleasedLate(context, versions.back().owner, "the last executable is gone");
  context.Oracle("callbacks and owners of three versions");
}

const harness::Registration registration({
    .name = "RP.executables-keep-what-they-were-made-with",
    .summary = "An update of the definition changes future executables alone, and each executable is its own",
    .covers = {"RP-01", "RP-02", "IH-15", "EX-06", "EX-07"},
    .catches = {},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
