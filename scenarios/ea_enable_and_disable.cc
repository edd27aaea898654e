// EA-09: nodes of an executable are switched off and on.
//
// Intent: for a kernel, a memcpy and a memset node, switch each off, launch, switch it on, launch. A disabled node does
// nothing, what is behind it runs all the same, another executable is not concerned, and parameters set while it is off
// count once it is on. Doing either twice changes nothing, and no user object is made. Nodes of other kinds refuse.
//
// Interleaving: one thread.
//
// Expected verdict: passed.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/graph/exec_node.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/add_one_kernel.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/expected_errors.h"
#include "scenarios/support/live_objects.h"

namespace holdfast::scenarios {
namespace {

constexpr unsigned kSizeBytes = 16;

// fill(memory, 5) -> add_one(memory) -> result = memory -> host
struct Chain {
  explicit Chain(const harness::Context& context) : kernel(LoadAddOneKernel(context)) {
    fill = graph.AddMemsetNode(MemoryOperand::Device(memory), {.value = 5, .width_elements = kSizeBytes});
    add = graph.AddKernelNode(kernel, {.block = {kSizeBytes, 1, 1}},
                              KernelArguments().Add(memory).Add(std::uint32_t{kSizeBytes}), {{fill}});
    copy = graph.AddMemcpyNode(MemoryOperand::Device(result), MemoryOperand::Device(memory), kSizeBytes, {{add}});
    host = graph.AddHostNode(CountingCallback(runs), {{copy}});
  }

  // What the last byte of the result is after a launch.
  std::uint8_t Launch(const DeviceSession& session, const GraphExec& executable) const {
    executable.Launch(session.stream());
    session.stream()->Synchronize();
    return DeviceSession::Read(result).back();
  }

  const DeviceMemoryHandle memory = DeviceMemory::Allocate(kSizeBytes);
  const DeviceMemoryHandle result = DeviceMemory::Allocate(kSizeBytes);
  const KernelHandle kernel;
  int runs = 0;
  GraphDefinition graph;
  GraphNode fill, add, copy, host;
};

void SetTwice(harness::Context& context, ExecNode node, bool enabled) {
  for (int time = 0; time < 2; ++time) {
    node.SetEnabled(enabled);
    context.Check(node.IsEnabled() == enabled, "a node is what it was set to, however often");
  }
}

void CheckEachKind(harness::Context& context, const DeviceSession& session, Chain& chain, const GraphExec& executable,
                   const GraphExec& other) {
  context.Check(executable.Node(chain.add).IsEnabled(), "nodes begin enabled");
  context.Check(chain.Launch(session, executable) == 6, "all on: 5 + 1");
  SetTwice(context, executable.Node(chain.add), false);
  context.Check(chain.Launch(session, executable) == 5, "the kernel is off");
  SetTwice(context, executable.Node(chain.fill), false);
  SetTwice(context, executable.Node(chain.add), true);
  context.Check(chain.Launch(session, executable) == 6, "the memset is off: what was there, and one more");
  SetTwice(context, executable.Node(chain.copy), false);
  context.Check(chain.Launch(session, executable) == 6, "the memcpy is off: the result is as it was");
  context.Check(chain.Launch(session, other) == 6, "another executable has all its nodes on");
  context.Check(other.Node(chain.fill).IsEnabled(), "and says so");

  executable.Node(chain.fill)
      .UpdateMemset(MemoryOperand::Device(chain.memory), {.value = 20, .width_elements = kSizeBytes});
  context.Check(!executable.Node(chain.fill).IsEnabled(), "an update does not switch a node on");
  SetTwice(context, executable.Node(chain.fill), true);
  SetTwice(context, executable.Node(chain.copy), true);
  context.Check(chain.Launch(session, executable) == 21, "all on again, with what was set while it was off");
  context.Check(chain.runs == 6, "what is behind a disabled node runs at each launch");
}

void CheckOtherKinds(harness::Context& context, Chain& chain) {
  const EventHandle event = Event::Create();
  GraphDefinition embedded;
  embedded.AddEmptyNode();
  const GraphNode record = chain.graph.AddEventRecordNode(event, {{chain.host}});
  const GraphNode wait = chain.graph.AddEventWaitNode(event, {{record}});
  const GraphNode child = chain.graph.AddChildGraphNode(embedded, {{wait}});
  const GraphExec executable(chain.graph);
  for (const auto& [name, node] : {std::pair("host", chain.host), std::pair("event record", record),
                                   std::pair("event wait", wait), std::pair("child graph", child)}) {
    CheckMisuse<std::invalid_argument>(context, std::string("switching off a node of kind ") + name, "SetEnabled",
                                       [&, &other = node] { executable.Node(other).SetEnabled(false); });
    CheckMisuse<std::invalid_argument>(context, std::string("asking a node of kind ") + name, "IsEnabled",
                                       [&, &other = node] { (void)executable.Node(other).IsEnabled(); });
  }
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  {
    Chain chain(context);
    {
      const GraphExec executable(chain.graph);
      const GraphExec other(chain.graph);
      const std::uint64_t objects_before = context.shim().live().user_objects;
      CheckEachKind(context, session, chain, executable, other);
      context.Check(context.shim().live().user_objects == objects_before, "no user object is made");
    }
    CheckOtherKinds(context, chain);
  }
  CheckNoOwnersLeft(context);
  context.Oracle("what runs of an executable with nodes switched off");
}

const harness::Registration registration({
    .name = "EA.enable-and-disable",
    .summary = "Kernel, memcpy and memset nodes of one executable are switched off and on; others refuse",
    .covers = {"EA-09"},
    .catches = {},
    .variants = harness::SingleVariant(),
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
