#include "scenarios/support/swept_operation.h"

#include <exception>
#include <optional>
#include <utility>

#include "harness/scenario/operation_window.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "scenarios/support/add_one_kernel.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/operation_state.h"

namespace holdfast::scenarios {
namespace {

constexpr std::size_t kMemoryBytes = 1024;
constexpr std::size_t kPlaces = 16;
// Attachments here have up to two owners.
constexpr std::uint64_t kOwnersOfAnAttachmentMax = 2;

void CUDA_CB Nothing(void*) {}

std::vector<OperationState> StatesOf(SweepWorld& world) {
  std::vector<OperationState> states;
  for (const GraphDefinition& graph : world.graphs) {
    if (graph.IsValid()) {
      states.push_back(OperationState::Of(world.context, graph, world.nodes));
    }
  }
  return states;
}

void CheckAllUnchanged(SweepWorld& world, const std::vector<OperationState>& before, const std::string& failure) {
  const std::vector<OperationState> after = StatesOf(world);
  world.context.Check(before.size() == after.size(), "a failed operation leaves the graphs there are: " + failure);
  for (std::size_t i = 0; i < before.size(); ++i) {
    CheckUnchanged(world.context, before[i], after[i], failure);
  }
}

// Empty if it did not throw.
std::optional<std::string> OperateInWindow(SweepWorld& world, const SweptOperation& operation) {
  try {
    const harness::OperationWindow window(world.context);
    operation.operate(world);
  } catch (const std::exception& error) {
    return error.what();
  }
  return std::nullopt;
}

// Whether an operation that threw has to have changed nothing.
bool LeavesAllAsItWas(SweepWorld& world, const SweptOperation& operation) {
  using Guarantee = SweptOperation::Guarantee;
  if (operation.undo_site != nullptr && world.context.shim().faults(operation.undo_site) > 0) {
    return false;
  }
  return operation.guarantee == Guarantee::kStrong ||
         (operation.guarantee == Guarantee::kStrongOrDone && !operation.is_done(world));
}

// A capture that a fault kept the library from ending goes on, and the library has let go of it.
void EndLeftoverCapture(SweepWorld& world) {
  const CUstream stream = world.session.stream()->raw();
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  driver::Check("cuStreamIsCapturing", driver::GetDriver().cuStreamIsCapturing(stream, &status),
                "looking for a capture");
  if (status == CU_STREAM_CAPTURE_STATUS_NONE) {
    return;
  }
  world.context.Check(world.context.shim().faults("cuStreamEndCapture") > 0,
                      "nothing is left capturing, unless a fault kept the capture from ending");
  CUgraph graph = nullptr;
  driver::Check("cuStreamEndCapture", driver::GetDriver().cuStreamEndCapture(stream, &graph),
                "ending a capture by hand");
  driver::Check("cuGraphDestroy", driver::GetDriver().cuGraphDestroy(graph), "destroying what was captured");
}

void CheckOwners(harness::Context& context, const std::deque<OwnerProbe>& owners) {
  std::uint64_t unreleased = 0;
  for (const OwnerProbe& owner : owners) {
    context.Check(owner.releases() <= 1, "an owner is released at most once");
    unreleased += owner.IsAlive() ? 1 : 0;
  }
  context.Check(unreleased <= kOwnersOfAnAttachmentMax * context.ObjectsKeptByFaults(),
                "every owner is released in the end, but for what a failed release kept (" +
                    std::to_string(unreleased) + " of " + std::to_string(owners.size()) + " are not)");
}

}  // namespace

SweepWorld::SweepWorld(harness::Context& context, DeviceSession& session)
    : context(context),
      session(session),
      memory(DeviceMemory::Allocate(kMemoryBytes)),
      other_memory(DeviceMemory::Allocate(kMemoryBytes)),
      event(Event::Create()),
      other_event(Event::Create()),
      kernel(LoadAddOneKernel(context)),
      bystander(std::in_place) {
  bystander->AddHostNode(NewCallback());
  // What the operation puts here must not allocate: it is not the library's.
  graphs.reserve(kPlaces);
  nodes.reserve(kPlaces);
  executables.reserve(kPlaces);
  builders.reserve(kPlaces);
  conditions.reserve(kPlaces);
}

OpaqueHandle SweepWorld::NewOwner() { return owners.emplace_back().Take(); }

HostCallback SweepWorld::NewCallback() { return {&Nothing, nullptr, NewOwner(), nullptr}; }

MemoryOperand SweepWorld::NewTarget() { return MemoryOperand::Device(memory->address(), NewOwner()); }

GraphDefinition& SweepWorld::AddGraphWithHostNode() {
  GraphDefinition& graph = graphs.emplace_back();
  nodes.push_back(graph.AddHostNode(NewCallback()));
  return graph;
}

GraphDefinition& SweepWorld::AddGraphWithChild() {
  GraphDefinition inner;
  inner.AddHostNode(NewCallback());
  GraphDefinition& graph = graphs.emplace_back();
  nodes.push_back(graph.AddChildGraphNode(inner));
  nodes.push_back(nodes.back().ChildGraph().Nodes().front());
  return graph;
}

GraphBuilder& SweepWorld::AddCapturingBuilder() {
  GraphBuilder& builder = builders.emplace_back(session.stream());
  builder.Begin();
  return builder;
}

void SweepWorld::DropBuilders() {
  forks.clear();
  builders.clear();
}

void SweepWorld::DropAll() {
  DropBuilders();
  bystander.reset();
  executables.clear();
  conditions.clear();
  nodes.clear();
  graphs.clear();
  callbacks.clear();
  targets.clear();
}

void RunSwept(harness::Context& context, const SweptOperation& operation) {
  DeviceSession session(context);
  StartManualCleanup(context);
  {
    SweepWorld world(context, session);
    operation.prepare(world);
    const std::vector<OperationState> before = StatesOf(world);
    const std::optional<std::string> failure = OperateInWindow(world, operation);
    Settle(context);
    if (!failure.has_value()) {
      context.Check(operation.is_done(world), "an operation that returns has done what it says: " + operation.name);
    } else if (LeavesAllAsItWas(world, operation)) {
      CheckAllUnchanged(world, before, *failure);
      operation.operate(world);
      context.Check(operation.is_done(world), "the operation succeeds once nothing fails: " + operation.name);
    }
    world.DropBuilders();
    EndLeftoverCapture(world);
    session.stream()->Synchronize();
    world.DropAll();
    context.Await([&] {
      Settle(context);
      std::uint64_t unreleased = 0;
      for (const OwnerProbe& owner : world.owners) {
        unreleased += owner.IsAlive() ? 1 : 0;
      }
      return unreleased <= kOwnersOfAnAttachmentMax * context.ObjectsKeptByFaults();
    });
    CheckOwners(context, world.owners);
  }
  context.Oracle("graphs and owners after the operation");
}

harness::Scenario SweptScenario(const SweptOperation& operation, void (*run)(harness::Context&),
                                harness::SourcePlace where) {
  return {.name = "sweep." + operation.name,
          .summary = operation.name + " leaves all as it was, or does all that it says, wherever it fails",
          .covers = operation.covers,
          .catches = operation.catches,
          .suites = {"sweep"},
          // Delivery of destructors before the call returns, and much later.
          .variants = {{"inline", {}}, {"held", {"destructor:deliver=held"}}},
          .run = run,
          .where = where};
}

}  // namespace holdfast::scenarios
