// NU-K: what an update of a kernel node keeps and what it replaces.
//
// Intent: update configuration, arguments and kernel one by one; what is not given stays, with its owners. A new kernel
// needs its own arguments, and then all owners of the old ones go. Executables from before run what they ran. What is
// contradictory, or of the wrong number or size, is refused before the driver is asked, and a refusal of the driver
// leaves node and owners as they were.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with one fault fired.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/exec_node.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/add_one_kernel.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_bytes.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/expected_errors.h"
#include "scenarios/support/launch_kernels.h"
#include "scenarios/support/live_objects.h"
#include "scenarios/support/operation_state.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

constexpr std::size_t kSizeBytes = 8;

class Memory {
 public:
  // Launches `graph` on cleared memory; how many bytes have the value then.
  std::ptrdiff_t CountAfterLaunch(const DeviceSession& session, const GraphExec& executable, std::uint8_t value) {
    WriteBytes(memory_, Bytes(kSizeBytes));
    executable.Launch(session.stream());
    session.stream()->Synchronize();
    const Bytes bytes = DeviceSession::Read(memory_);
    return std::count(bytes.begin(), bytes.end(), value);
  }

  KernelArguments Arguments(std::uint32_t second, OwnerProbe& owner) const {
    KernelArguments arguments;
    return arguments.Add(memory_->address()).Add(second).AddOwner(owner.Take());
  }

  const DeviceMemoryHandle& handle() const noexcept { return memory_; }

 private:
  const DeviceMemoryHandle memory_ = DeviceMemory::Allocate(kSizeBytes);
};

void CheckPartialUpdates(harness::Context& context, const DeviceSession& session) {
  OwnerProbe first, second, third;
  Memory memory;
  KernelHandle mark = LoadLaunchKernels(context).mark_blocks;
  std::optional<GraphDefinition> graph(std::in_place);
  GraphNode node = graph->AddKernelNode(mark, {.grid = {4, 1, 1}}, memory.Arguments(7, first));
  std::optional<GraphExec> before(*graph);

  node.UpdateKernel({});
  context.Check(node.Kernel() == mark && node.KernelConfiguration().grid[0] == 4, "an empty update changes nothing");
  node.UpdateKernel({.configuration = LaunchConfiguration{.grid = {6, 1, 1}}});
  Settle(context);
  CheckAlive(context, first, "the arguments are kept");
  context.Check(node.Kernel() == mark && node.Owners().size() == 2, "kernel and owners are kept");
  context.Check(memory.CountAfterLaunch(session, GraphExec(*graph), 7) == 6, "the new grid runs the old arguments");

  node.UpdateKernel({.arguments = memory.Arguments(9, second)});
  context.Check(node.KernelConfiguration().grid[0] == 6, "the configuration is kept");
  context.Check(memory.CountAfterLaunch(session, GraphExec(*graph), 9) == 6, "the new arguments run on the old grid");
  CheckAlive(context, first, "an executable from before has it");
  context.Check(memory.CountAfterLaunch(session, *before, 7) == 4, "an executable from before runs what it ran");
  before.reset();
  CheckReleasedLate(context, first, "its arguments were replaced, and the executable is gone");
  CheckAlive(context, second, "the node has it");

  const KernelHandle add_one = LoadAddOneKernel(context);
  node.UpdateKernel({.configuration = LaunchConfiguration{.block = {kSizeBytes, 1, 1}},
                     .kernel = add_one,
                     .arguments = memory.Arguments(kSizeBytes, third)});
  CheckReleasedLate(context, second, "the kernel came with arguments of its own");
  context.Check(node.Kernel() == add_one, "the node has the new kernel");
  mark = nullptr;
  context.CheckEventually(
      [&] {
        Settle(context);
        return context.shim().live().libraries == 1;
      },
      "the old kernel's library goes with it");
  context.Check(memory.CountAfterLaunch(session, GraphExec(*graph), 1) == kSizeBytes, "the new kernel runs");
  CheckAlive(context, third, "the node has it");
  node = GraphNode();
  graph.reset();
  CheckReleasedLate(context, third, "the graph is gone");
}

// Owners are released where arguments without owners replace them.
void CheckArgumentsWithoutOwners(harness::Context& context) {
  OwnerProbe owner;
  Memory memory;
  const KernelHandle mark = LoadLaunchKernels(context).mark_blocks;
  GraphDefinition graph;
  GraphNode node = graph.AddKernelNode(mark, {}, memory.Arguments(1, owner));
  node.UpdateKernel({.arguments = KernelArguments().Add(memory.handle()->address()).Add(std::uint32_t{2})});
  Settle(context);
  CheckReleasedOnce(context, owner, "the new arguments have no owners");
  context.Check(node.Owners().size() == 1 && node.Kernel() == mark, "the kernel stays the node's");
}

void CheckRefusals(harness::Context& context) {
  OwnerProbe owner, refused;
  Memory memory;
  const LaunchKernels kernels = LoadLaunchKernels(context);
  GraphDefinition graph;
  GraphNode node = graph.AddKernelNode(kernels.mark_blocks, {.grid = {4, 1, 1}}, memory.Arguments(7, owner));
  GraphNode other = graph.AddEmptyNode();
  const GraphNode handles[] = {node};
  const OperationState before = OperationState::Of(context, graph, handles);
  CheckMisuse<std::invalid_argument>(context, "a new kernel without arguments", "UpdateKernel",
                                     [&] { node.UpdateKernel({.kernel = kernels.take_arguments}); });
  CheckMisuse<std::invalid_argument>(context, "a null kernel", "UpdateKernel", [&] {
    node.UpdateKernel({.kernel = KernelHandle(), .arguments = KernelArguments()});
  });
  CheckMisuse(context, "updating another kind as a kernel", "UpdateKernel", [&] { other.UpdateKernel({}); });
  context.shim().announce_step("refused");
  const CUresult result = CheckRefused(context, "an update that the driver refuses",
                                       [&] { node.UpdateKernel({.arguments = memory.Arguments(9, refused)}); });
  context.shim().announce_step("after");
  context.RequireFaults("cuGraphNodeSetParams");
  context.Check(result == CUDA_ERROR_OUT_OF_MEMORY, "the driver's answer is passed on");
  Settle(context);
  CheckReleasedOnce(context, refused, "its update was refused");
  CheckAlive(context, owner, "the node is as it was");
  CheckUnchanged(context, before, OperationState::Of(context, graph, handles), "every update was refused");
}

// Number and size of arguments, where the driver can tell: nothing reaches the graph.
void CheckArguments(harness::Context& context) {
  const LaunchKernels kernels = LoadLaunchKernels(context);
  const TwentyFourBytes large{{1, 2, 3}};
  GraphDefinition graph;
  const auto add = [&](const KernelArguments& arguments) {
    graph.AddKernelNode(kernels.take_arguments, {}, arguments);
  };
  const struct {
    const char* what;
    const char* says;
    KernelArguments arguments;
  } wrong[] = {
      {"no arguments for three parameters", "3 arguments, not 0", KernelArguments()},
      {"two arguments for three", "3 arguments, not 2", KernelArguments().Add(std::uint64_t{1}).Add(std::uint8_t{2})},
      {"four arguments for three", "3 arguments, not 4",
       KernelArguments().Add(std::uint64_t{1}).Add(std::uint8_t{2}).Add(large).Add(std::uint8_t{2})},
      {"a second argument of the wrong size", "argument 1",
       KernelArguments().Add(std::uint64_t{1}).Add(std::uint32_t{2}).Add(large)},
      {"a third argument of the wrong size", "argument 2",
       KernelArguments().Add(std::uint64_t{1}).Add(std::uint8_t{2}).Add(std::uint64_t{3})},
  };
  for (const auto& [what, says, arguments] : wrong) {
    const std::invalid_argument error =
        CheckThrows<std::invalid_argument>(context, what, [&, &given = arguments] { add(given); });
    context.Check(std::string(error.what()).find(says) != std::string::npos,
                  std::string(what) + ": the error says which, and not only \"" + error.what() + "\"");
  }
  context.Check(graph.Nodes().empty(), "what was refused is not in the graph");
  add(KernelArguments().Add(std::uint64_t{1}).Add(std::uint8_t{2}).Add(large));
  GraphNode node = graph.Nodes().front();
  CheckThrows<std::invalid_argument>(context, "an update with an argument too few",
                                     [&] { node.UpdateKernel({.arguments = wrong[1].arguments}); });
  const GraphExec executable(graph);
  CheckThrows<std::invalid_argument>(context, "an executable's update with a wrong size", [&] {
    executable.Node(node).UpdateKernel(kernels.take_arguments, {}, wrong[3].arguments);
  });
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckPartialUpdates(context, session);
  CheckArgumentsWithoutOwners(context);
  CheckRefusals(context);
  CheckArguments(context);
  CheckNoOwnersLeft(context);
  context.Oracle("kernel nodes and their owners after each update");
}

const harness::Registration registration({
    .name = "NU.kernel",
    .summary =
        "An update of a kernel node keeps what is not given, with its owners, and refuses arguments that do not fit",
    .covers = {"NU-K"},
    .catches = {},
    .plan = {"cuGraphNodeSetParams:nth=1,step=refused,count=step,return=CUDA_ERROR_OUT_OF_MEMORY"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
