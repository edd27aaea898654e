// NU-K, beyond the reference: clusters and cooperative launches of kernel nodes.
//
// Intent: add kernel nodes with clusters and with a cooperative launch, read both back, run them, and change them by
// updates of the definition; an update that does not speak of a configuration keeps them. What does not fit (a cluster
// that does not divide the grid) is refused and the node is as it was, also where the driver refuses between two of the
// calls that a change takes. An executable keeps what its definition's node had: it takes no update that says
// otherwise.
//
// Interleaving: one thread.
//
// Expected verdict: passed, with a fault fired at each of two calls.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/status.h"
#include "lib/graph/exec_node.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/captured_work.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_bytes.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/expected_errors.h"
#include "scenarios/support/launch_kernels.h"
#include "scenarios/support/live_objects.h"

namespace holdfast::scenarios {
namespace {

constexpr unsigned kBlocks = 8;

// A cluster of as many blocks in a row; 0: none of its own.
LaunchConfiguration Shape(unsigned blocks, unsigned cluster, bool cooperative) {
  LaunchConfiguration shape{.grid = {blocks, 1, 1}, .cooperative = cooperative};
  if (cluster > 0) {
    shape.cluster[0] = cluster;
    shape.cluster[1] = shape.cluster[2] = 1;
  }
  return shape;
}

std::string Describe(const LaunchConfiguration& shape) {
  return std::to_string(shape.grid[0]) + " blocks in clusters of " + std::to_string(shape.cluster[0]) +
         (shape.cooperative ? ", cooperative" : "");
}

void CheckShape(harness::Context& context, const GraphNode& node, const LaunchConfiguration& expected,
                const std::string& when) {
  const LaunchConfiguration shape = node.KernelConfiguration();
  const bool same = shape.grid[0] == expected.grid[0] && shape.cooperative == expected.cooperative &&
                    std::equal(std::begin(shape.cluster), std::end(shape.cluster), std::begin(expected.cluster));
  context.Check(same, when + ": the node has " + Describe(expected) + ", and says " + Describe(shape));
}

void CheckRuns(harness::Context& context, const DeviceSession& session, const GraphDefinition& graph,
               const DeviceMemoryHandle& memory, std::uint8_t value, unsigned blocks) {
  WriteBytes(memory, Bytes(kBlocks));
  const GraphExec executable(graph);
  executable.Launch(session.stream());
  session.stream()->Synchronize();
  const Bytes bytes = DeviceSession::Read(memory);
  context.Check(std::count(bytes.begin(), bytes.end(), value) == blocks, "each block runs once");
}

void CheckDefinitionUpdates(harness::Context& context, const DeviceSession& session) {
  const DeviceMemoryHandle memory = DeviceMemory::Allocate(kBlocks);
  const KernelHandle kernel = LoadLaunchKernels(context).mark_blocks;
  const LaunchConfiguration shapes[] = {Shape(8, 2, false), Shape(8, 4, false), Shape(6, 3, false), Shape(8, 0, true),
                                        Shape(4, 2, true),  Shape(5, 0, false), Shape(8, 8, false)};
  GraphDefinition graph;
  GraphNode node = graph.AddKernelNode(kernel, Shape(8, 2, true), MarkBlocksArguments(memory, 1));
  CheckShape(context, node, Shape(8, 2, true), "added");
  CheckRuns(context, session, graph, memory, 1, 8);
  std::uint8_t value = 1;
  for (const LaunchConfiguration& shape : shapes) {
    node.UpdateKernel({.configuration = shape});
    CheckShape(context, node, shape, "updated");
    node.UpdateKernel({.arguments = MarkBlocksArguments(memory, ++value)});
    CheckShape(context, node, shape, "an update of the arguments");
    CheckRuns(context, session, graph, memory, value, shape.grid[0]);
  }
  const GraphDefinition clone = graph.Clone();
  CheckShape(context, clone.Nodes().front(), shapes[6], "cloned");
}

void CheckMisfits(harness::Context& context) {
  const DeviceMemoryHandle memory = DeviceMemory::Allocate(kBlocks);
  const KernelHandle kernel = LoadLaunchKernels(context).mark_blocks;
  GraphDefinition graph;
  LaunchConfiguration with_zero = Shape(8, 2, false);
  with_zero.cluster[1] = 0;
  for (const LaunchConfiguration& misfit : {Shape(8, 3, false), with_zero}) {
    CheckThrows<std::invalid_argument>(context, "a node with " + Describe(misfit),
                                       [&] { graph.AddKernelNode(kernel, misfit, MarkBlocksArguments(memory, 1)); });
  }
  context.Check(NodeCount(context, graph.raw()) == 0, "what does not fit is not in the graph");
  GraphNode node = graph.AddKernelNode(kernel, Shape(8, 2, true), MarkBlocksArguments(memory, 1));
  CheckThrows<std::invalid_argument>(context, "an update to a cluster that does not fit",
                                     [&] { node.UpdateKernel({.configuration = Shape(8, 3, true)}); });
  CheckShape(context, node, Shape(8, 2, true), "a refused update");
}

void CheckRefusedByDriver(harness::Context& context) {
  const DeviceMemoryHandle memory = DeviceMemory::Allocate(kBlocks);
  const KernelHandle kernel = LoadLaunchKernels(context).mark_blocks;
  GraphDefinition graph;
  context.shim().announce_step("add");
  CheckRefused(context, "adding a node whose cluster the driver refuses",
               [&] { graph.AddKernelNode(kernel, Shape(8, 2, false), MarkBlocksArguments(memory, 1)); });
  context.shim().announce_step("after");
  context.RequireFaults("cuGraphKernelNodeSetAttribute");
  context.Check(NodeCount(context, graph.raw()) == 0 && graph.attachment_count() == 0, "the node is not in the graph");

  GraphNode node = graph.AddKernelNode(kernel, Shape(8, 2, false), MarkBlocksArguments(memory, 1));
  context.shim().announce_step("set");
  CheckRefused(context, "an update whose parameters the driver refuses",
               [&] { node.UpdateKernel({.configuration = Shape(6, 3, true)}); });
  context.shim().announce_step("after");
  context.RequireFaults("cuGraphNodeSetParams");
  CheckShape(context, node, Shape(8, 2, false), "an update that the driver refused");
  node.UpdateKernel({.configuration = Shape(6, 3, true)});
  CheckShape(context, node, Shape(6, 3, true), "the same update once nothing fails");
}

void CheckExecutables(harness::Context& context, const DeviceSession& session) {
  const DeviceMemoryHandle memory = AllocateZeroed(kBlocks);
  const KernelHandle kernel = LoadLaunchKernels(context).mark_blocks;
  GraphDefinition graph;
  const GraphNode node = graph.AddKernelNode(kernel, Shape(8, 2, false), MarkBlocksArguments(memory, 1));
  GraphExec executable(graph);
  ExecNode view = executable.Node(node);
  CheckMisuse<std::invalid_argument>(context, "another cluster in an executable", "UpdateKernel", [&] {
    view.UpdateKernel(kernel, Shape(8, 4, false), MarkBlocksArguments(memory, 2));
  });
  CheckMisuse<std::invalid_argument>(context, "a cooperative launch in an executable", "UpdateKernel", [&] {
    view.UpdateKernel(kernel, Shape(8, 2, true), MarkBlocksArguments(memory, 2));
  });
  view.UpdateKernel(kernel, Shape(6, 2, false), MarkBlocksArguments(memory, 3));
  executable.Launch(session.stream());
  session.stream()->Synchronize();
  const Bytes bytes = DeviceSession::Read(memory);
  context.Check(std::count(bytes.begin(), bytes.end(), 3) == 6, "an update with the node's own cluster runs");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckDefinitionUpdates(context, session);
  CheckMisfits(context);
  CheckRefusedByDriver(context);
  CheckExecutables(context, session);
  CheckNoOwnersLeft(context);
  context.CheckUndisturbed(driver::CleanupFailureCount() == 0, "nothing that had to be undone was refused");
  context.Oracle("clusters and cooperative launches, as told and as run");
}

const harness::Registration registration({
    .name = "NU.kernel-launch-attributes",
    .summary = "Clusters and cooperative launches of kernel nodes are kept and changed whole, or not at all",
    .covers = {"NU-K"},
    .catches = {},
    .variants = harness::SingleVariant(),
    .plan = {"cuGraphKernelNodeSetAttribute:nth=1,step=add,count=step,return=CUDA_ERROR_OUT_OF_MEMORY",
             "cuGraphNodeSetParams:nth=1,step=set,count=step,return=CUDA_ERROR_OUT_OF_MEMORY"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
