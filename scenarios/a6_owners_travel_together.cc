// A6: several owners of one node are retained and released together.
//
// Intent: a kernel node with a hundred owners makes one user object; all owners live until the node and its executable
// are gone, and then all go in one drain.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/add_one_kernel.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

constexpr std::size_t kOwners = 100;

std::size_t CountReleased(const std::deque<OwnerProbe>& owners) {
  return std::count_if(owners.begin(), owners.end(), [](const OwnerProbe& owner) { return !owner.IsAlive(); });
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  const DeviceMemoryHandle memory = DeviceMemory::Allocate(16);
  std::deque<OwnerProbe> owners(kOwners);
  std::optional<GraphDefinition> graph(std::in_place);
  GraphNode node;
  {
    KernelArguments arguments;
    arguments.Add(memory->address()).Add(std::uint32_t{16});
    for (OwnerProbe& owner : owners) {
      arguments.AddOwner(owner.Take());
    }
    node = graph->AddKernelNode(LoadAddOneKernel(context), {.block = {16, 1, 1}}, arguments);
  }
  context.Check(context.shim().live().user_objects == 1, "a node has one user object, however many owners");
  context.Check(node.Owners().size() == kOwners + 1, "the attachment has the kernel and all owners");
  std::optional<GraphExec> executable(*graph);
  node.Destroy();
  Settle(context);
  context.Check(CountReleased(owners) == 0, "no owner goes while the executable needs the node");

  executable.reset();
  context.CheckEventually(
      [&] {
        Settle(context);
        const std::size_t released = CountReleased(owners);
        context.Check(released == 0 || released == kOwners, "all owners go in one drain");
        return released == kOwners;
      },
      "the owners go with the executable");
  for (const OwnerProbe& owner : owners) {
    CheckReleasedOnce(context, owner, "the last holder of its node is gone");
  }
  graph.reset();
  node = GraphNode();
  context.Oracle("a hundred owners of one node");
}

const harness::Registration registration({
    .name = "A6.owners-travel-together",
    .summary = "All owners of a node are one attachment: kept together and released in one drain",
    .covers = {"A6", "AP-16", "AP-17", "AP-23"},
    .catches = {"one-attachment-an-owner", "last-owner-dropped"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
