// EA-05, EA-06, EA-07, D-18: a whole update takes the source's owners over, or changes nothing at all.
//
// Intent: update an executable whose nodes have brought owners of their own. Accepted, the old owners go and the new
// list takes what comes later. Refused, for another topology or by the driver, the executable keeps the old list and
// runs the old callback, and the source's owners die with the source. Sources that are no finished graph are refused.
// When the release of the source's temporary reference fails after the update, the update has happened and says so; the
// failure is reported, and the list stays with the source at the longest.
//
// Interleaving: one thread; the variants differ in where CUDA's destructor callbacks run.
//
// Expected verdict: passed, with a fault fired at each of three updates.
#include <optional>
#include <string>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/status.h"
#include "lib/graph/exec_node.h"
#include "lib/graph/graph_builder.h"
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

struct Callback {
  OwnerProbe owner;
  int runs = 0;

  HostCallback Take() { return CountingCallback(runs, owner.Take()); }
};

void LaunchOnce(const DeviceSession& session, const GraphExec& executable) {
  executable.Launch(session.stream());
  session.stream()->Synchronize();
}

// An executable of one callback, and an update of that node.
struct Subject {
  Subject() : node(definition.AddHostNode(original.Take())), executable(definition) {
    executable.Node(node).UpdateHost(updated.Take());
  }

  Callback original, updated;
  GraphDefinition definition;
  GraphNode node;
  GraphExec executable;
};

void CheckAccepted(harness::Context& context, const DeviceSession& session) {
  Subject subject;
  Callback source_callback, later;
  std::optional<GraphDefinition> source(std::in_place);
  source->AddHostNode(source_callback.Take());
  subject.executable.Update(*source);
  source.reset();
  Settle(context);
  CheckReleasedOnce(context, subject.updated.owner, "the executable was updated as a whole");
  CheckAlive(context, subject.original.owner, "the definition has it");
  CheckAlive(context, source_callback.owner, "the updated executable has it");

  subject.executable.Node(subject.node).UpdateHost(later.Take());
  Settle(context);
  CheckAlive(context, later.owner, "it is in the new list");
  LaunchOnce(session, subject.executable);
  context.Check(later.runs == 1 && source_callback.runs == 0, "the executable runs the latest callback");
  subject.executable.Close();
  CheckReleasedLate(context, later.owner, "the executable is gone");
  CheckReleasedLate(context, source_callback.owner, "the executable is gone");
}

// `update` must throw, and change nothing.
template <typename Update>
void CheckRefusedUpdate(harness::Context& context, const DeviceSession& session, Subject& subject,
                        const std::string& what, Update update) {
  Settle(context);
  const fault::LiveObjects before = context.shim().live();
  const driver::DriverError error = CheckThrows<driver::DriverError>(context, what, update);
  context.Check(error.call() == "cuGraphExecUpdate", "the error names the call: " + what);
  CheckSameLive(context, before, what);
  CheckAlive(context, subject.original.owner, "the executable is as it was: " + what);
  CheckAlive(context, subject.updated.owner, "the executable is as it was: " + what);
  const int runs_before = subject.updated.runs;
  LaunchOnce(session, subject.executable);
  context.Check(subject.updated.runs == runs_before + 1, "the executable runs what it ran: " + what);
}

void CheckRefused(harness::Context& context, const DeviceSession& session) {
  Subject subject;
  Callback first, second;
  std::optional<GraphDefinition> other(std::in_place);
  other->AddHostNode(second.Take(), {{other->AddHostNode(first.Take())}});
  CheckRefusedUpdate(context, session, subject, "an update to another topology",
                     [&] { subject.executable.Update(*other); });
  other.reset();
  Settle(context);
  CheckReleasedOnce(context, first.owner, "a refused source's owners go with the source");
  CheckReleasedOnce(context, second.owner, "a refused source's owners go with the source");

  Callback same_shape;
  GraphDefinition same;
  same.AddHostNode(same_shape.Take());
  CheckRefusedUpdate(context, session, subject, "an update that the driver refuses", [&] {
    context.shim().announce_step("refused");
    subject.executable.Update(same);
  });
  context.shim().announce_step("after");
  context.RequireFaults("cuGraphExecUpdate");
  subject.executable.Update(same);
  LaunchOnce(session, subject.executable);
  context.Check(same_shape.runs == 1, "the same update succeeds once nothing fails");
}

void CheckSources(harness::Context& context, const DeviceSession& session) {
  Callback captured;
  Subject subject;
  GraphBuilder builder(Stream::Create());
  CheckMisuse(context, "updating from a builder that has not begun", "Update",
              [&] { subject.executable.Update(builder); });
  builder.Begin();
  CheckMisuse(context, "updating from a builder that captures", "Update", [&] { subject.executable.Update(builder); });
  builder.AddCallback(captured.Take());
  builder.End();
  subject.executable.Update(builder);
  builder.Close();
  CheckMisuse(context, "updating from a closed builder", "Update", [&] { subject.executable.Update(builder); });
  Settle(context);
  CheckAlive(context, captured.owner, "the executable has it");
  LaunchOnce(session, subject.executable);
  context.Check(captured.runs == 1, "the executable runs what was captured");
  subject.executable.Close();
  CheckReleasedLate(context, captured.owner, "builder and executable are gone");
}

// The release of the source's temporary reference fails in `step`, after a good update.
void CheckFailedRelease(harness::Context& context, const DeviceSession& session, const char* step) {
  Subject subject;
  Callback callback, later;
  std::optional<GraphDefinition> source(std::in_place);
  source->AddHostNode(callback.Take());
  const std::uint64_t reported_before = driver::CleanupFailureCount();
  const std::uint64_t faults_before = context.shim().faults("cuGraphReleaseUserObject");
  context.shim().announce_step(step);
  subject.executable.Update(*source);
  context.shim().announce_step("after");
  context.RequireFaults("cuGraphReleaseUserObject", faults_before + 1);
  context.Check(driver::CleanupFailureCount() == reported_before + 1, "a failed release is reported, once");
  Settle(context);
  CheckReleasedOnce(context, subject.updated.owner, "the update has happened");
  LaunchOnce(session, subject.executable);
  context.Check(callback.runs == 1, "the updated executable runs the new callback");

  subject.executable.Node(subject.node).UpdateHost(later.Take());
  subject.executable.Close();
  source.reset();
  CheckReleasedLate(context, callback.owner, "source and executable are gone");
  CheckReleasedLate(context, later.owner, "the list goes with the source at the longest");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  CheckAccepted(context, session);
  CheckRefused(context, session);
  CheckSources(context, session);
  CheckFailedRelease(context, session, "release-before");
  CheckFailedRelease(context, session, "release-after");
  context.Oracle("owners and runs after accepted, refused and half-failed whole updates");
}

const harness::Registration registration({
    .name = "EA.whole-update",
    .summary = "A whole update replaces an executable's owners, or changes nothing; a failed release after it is told",
    .covers = {"EA-05", "EA-06", "EA-07", "D-18"},
    .catches = {"whole-update-keeps-the-old-list"},
    .plan = {"cuGraphExecUpdate:nth=1,step=refused,count=step,return=CUDA_ERROR_OUT_OF_MEMORY",
             "cuGraphReleaseUserObject:nth=1,step=release-before,count=step,return=CUDA_ERROR_NOT_PERMITTED",
             "cuGraphReleaseUserObject:nth=1,step=release-after,count=step,return=CUDA_ERROR_LAUNCH_FAILED,after"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
