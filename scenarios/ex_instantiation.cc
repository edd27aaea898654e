// EX-01, EX-02, EX-03: what an instantiation takes along, and what a failed one leaves.
//
// Intent: instantiate, and count user objects: the executable has a list of its own, which goes with it, while the
// source is as it was. Then let instantiations fail: the driver answers an error, the driver gives a specific reason (a
// condition that no node uses, a second executable of a graph with conditional nodes), and every allocation and
// retention on the way is refused in turn. No executable is adopted, the list is gone, the source's owners are
// untouched, and the next attempt succeeds.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with a fault fired at each site.
#include <exception>
#include <new>
#include <optional>
#include <string>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/expected_errors.h"
#include "scenarios/support/live_objects.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

void CheckOwnList(harness::Context& context, const GraphDefinition& source) {
  const fault::LiveObjects before = context.shim().live();
  std::optional<GraphExec> first(source);
  std::optional<GraphExec> second(source);
  context.Check(!(*first == *second) && first->raw() != second->raw(), "two instantiations are two executables");
  context.Check(context.shim().live().user_objects == before.user_objects + 2, "each executable has a list of its own");
  first.reset();
  Settle(context);
  context.Check(context.shim().live().user_objects == before.user_objects + 1,
                "an executable's list goes with it: the source has given its reference back");
  second.reset();
  CheckSameLive(context, before, "both executables are gone");
}

void CheckFailedCall(harness::Context& context, const GraphDefinition& source, const char* step, const char* call) {
  const fault::LiveObjects before = context.shim().live();
  const std::uint64_t faults_before = context.shim().faults(call);
  context.shim().announce_step(step);
  const driver::DriverError error = CheckThrows<driver::DriverError>(
      context, std::string("an instantiation that fails at ") + call, [&] { const GraphExec executable(source); });
  context.shim().announce_step("after");
  context.RequireFaults(call, faults_before + 1);
  context.Check(error.call() == call && error.result() == CUDA_ERROR_OUT_OF_MEMORY, "the driver's answer is passed on");
  CheckSameLive(context, before, std::string("an instantiation failed at ") + call);
}

void CheckFailedAllocations(harness::Context& context, const GraphDefinition& source) {
  const fault::LiveObjects before = context.shim().live();
  for (std::uint64_t failing = 1;; ++failing) {
    bool made = false;
    context.shim().arm({"alloc", failing, false, false, 0});
    try {
      const harness::AllocationFaultWindow window(context);
      const GraphExec executable(source);
      made = true;
    } catch (const std::bad_alloc&) {
    }
    const std::uint64_t fired = context.shim().disarm();
    CheckSameLive(context, before, "allocation " + std::to_string(failing) + " failed");
    if (fired == 0) {
      context.Check(made && failing > 1, "an instantiation allocates, and succeeds when nothing fails");
      context.Count("failed_allocations", failing - 1);
      return;
    }
    context.Check(!made, "an instantiation without memory says so");
  }
}

void CheckReasons(harness::Context& context) {
  GraphDefinition graph;
  const Condition condition = graph.MakeCondition(0);
  const fault::LiveObjects before = context.shim().live();
  const driver::DriverError unused = CheckThrows<driver::DriverError>(
      context, "instantiating with a condition that no node uses", [&] { const GraphExec executable(graph); });
  context.Check(std::string(unused.what()).find("conditional handle") != std::string::npos,
                std::string("the error gives the driver's reason: ") + unused.what());
  CheckSameLive(context, before, "a condition is not used");

  graph.AddIfNode(condition);
  std::optional<GraphExec> first(graph);
  const CUresult result = CheckRefused(context, "a second executable of a graph with conditional nodes",
                                       [&] { const GraphExec second(graph); });
  context.Check(result == CUDA_ERROR_NOT_SUPPORTED, "without a reason the driver's answer is passed on");
  first.reset();
  CheckSameLive(context, before, "the driver allows one executable at a time");
  first.emplace(graph);
}

void CheckNull(harness::Context& context, const DeviceSession& session) {
  GraphDefinition parent;
  const GraphNode node = parent.AddIfNode(parent.MakeCondition(0));
  const GraphDefinition body = node.Bodies().front();
  GraphNode(node).Destroy();
  CheckMisuse(context, "instantiating a graph that is gone", "GraphExec", [&] { const GraphExec executable(body); });
  GraphExec executable{GraphDefinition()};
  CheckMisuse(context, "updating from a graph that is gone", "Update", [&] { executable.Update(body); });
  CheckMisuse<std::invalid_argument>(context, "launching on no stream", "Launch", [&] { executable.Launch(nullptr); });
  CheckMisuse<std::invalid_argument>(context, "uploading on no stream", "Upload", [&] { executable.Upload(nullptr); });
  executable.Upload(session.stream());
  executable.Launch(session.stream());
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  OwnerProbe owner;
  int runs = 0;
  std::optional<GraphDefinition> source(std::in_place);
  source->AddHostNode(CountingCallback(runs, owner.Take()));
  CheckOwnList(context, *source);
  CheckFailedCall(context, *source, "create", "cuUserObjectCreate");
  CheckFailedCall(context, *source, "retain", "cuGraphRetainUserObject");
  CheckFailedCall(context, *source, "instantiate", "cuGraphInstantiateWithParams");
  CheckFailedAllocations(context, *source);
  CheckReasons(context);
  CheckNull(context, session);

  std::optional<GraphExec> executable(*source);
  source.reset();
  executable->Launch(session.stream());
  session.stream()->Synchronize();
  context.Check(runs == 1, "after all the failures the source is instantiated and runs");
  CheckAlive(context, owner, "the executable has it");
  executable.reset();
  CheckReleasedLate(context, owner, "nothing needs it any more");
  context.Oracle("user objects of instantiations that succeeded and failed");
}

const harness::Registration registration({
    .name = "EX.instantiation",
    .summary = "An executable has a list of its own; a failed instantiation leaves source and owners as they were",
    .covers = {"EX-01", "EX-02", "EX-03"},
    .catches = {},
    .plan = {"cuUserObjectCreate:nth=1,step=create,count=step,return=CUDA_ERROR_OUT_OF_MEMORY",
             "cuGraphRetainUserObject:nth=1,step=retain,count=step,return=CUDA_ERROR_OUT_OF_MEMORY",
             "cuGraphInstantiateWithParams:nth=1,step=instantiate,count=step,return=CUDA_ERROR_OUT_OF_MEMORY"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
