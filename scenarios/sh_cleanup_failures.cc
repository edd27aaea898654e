// SH-04, SH-05: what is said of a driver call that fails while something is let go of.
//
// Intent: let the driver refuse the destruction of each kind of object from a destructor, in the cleanup context too.
// Nothing is thrown, each failure is told of once, in a line that names call, result and handle, and counted. A driver
// that says that it is shutting down has freed everything itself: that is neither told of nor counted.
//
// Interleaving: one thread.
//
// Expected verdict: passed, with two faults fired at each call.
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/add_one_kernel.h"
#include "scenarios/support/captured_output.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"

namespace holdfast::scenarios {
namespace {

void CUDA_CB Nothing(void*) {}

// Makes an object, and lets it go: by a destructor of its handle, or of the owner of a graph's node.
struct Release {
  const char* call;
  std::function<OpaqueHandle(const harness::Context&)> make;
};

const Release kReleases[] = {
    {"cuEventDestroy", [](const harness::Context&) -> OpaqueHandle { return Event::Create(); }},
    {"cuStreamDestroy", [](const harness::Context&) -> OpaqueHandle { return Stream::Create(); }},
    {"cuMemFree", [](const harness::Context&) -> OpaqueHandle { return DeviceMemory::Allocate(64); }},
    {"cuLibraryUnload", [](const harness::Context& context) -> OpaqueHandle { return LoadAddOneKernel(context); }},
    {"cuGraphExecDestroy",
     [](const harness::Context&) -> OpaqueHandle { return std::make_shared<GraphExec>(GraphDefinition()); }},
    {"cuGraphDestroy", [](const harness::Context&) -> OpaqueHandle { return std::make_shared<GraphDefinition>(); }},
};

std::size_t CountLines(const std::string& text, const std::string& with) {
  std::istringstream lines(text);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    count += line.find(with) != std::string::npos ? 1 : 0;
  }
  return count;
}

// What is written while `owner`, the last reference, goes in the cleanup context.
std::string LetGo(harness::Context& context, OpaqueHandle owner) {
  std::optional<GraphDefinition> graph(std::in_place);
  graph->AddHostNode({&Nothing, nullptr, std::move(owner), nullptr});
  graph.reset();
  CapturedOutput output;
  context.shim().announce_step("release");
  Settle(context);
  context.shim().announce_step("after");
  return output.Take();
}

void CheckRelease(harness::Context& context, const Release& release) {
  const std::uint64_t faults_before = context.shim().faults(release.call);
  const std::uint64_t reported_before = driver::CleanupFailureCount();
  const std::string told = LetGo(context, release.make(context));
  context.RequireFaults(release.call, faults_before + 1);
  context.Check(driver::CleanupFailureCount() == reported_before + 1,
                std::string("a failure of ") + release.call + " is counted, once");
  context.Check(CountLines(told, release.call) == 1 && CountLines(told, "CUDA_ERROR_LAUNCH_FAILED") == 1 &&
                    CountLines(told, "0x") == 1,
                std::string("it is told of in one line that names call, result and handle: ") + told);

  const std::string silent = LetGo(context, release.make(context));
  context.RequireFaults(release.call, faults_before + 2);
  context.Check(driver::CleanupFailureCount() == reported_before + 1 && CountLines(silent, release.call) == 0,
                std::string("a driver that shuts down is no failure of ") + release.call);
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  for (const Release& release : kReleases) {
    CheckRelease(context, release);
  }
  context.Oracle("what was said of each failed release");
}

// Each call answers its first release in the step with a failure, and its second with the end of the driver.
const harness::Registration registration({
    .name = "SH.cleanup-failures",
    .summary = "A failed release is told of once and never thrown; a driver that is shutting down is no failure",
    .covers = {"SH-04", "SH-05"},
    .catches = {},
    .variants = harness::SingleVariant(),
    .plan = {"cuEventDestroy:times=1,step=release,return=CUDA_ERROR_LAUNCH_FAILED,after",
             "cuStreamDestroy:times=1,step=release,return=CUDA_ERROR_LAUNCH_FAILED,after",
             "cuMemFree:times=1,step=release,return=CUDA_ERROR_LAUNCH_FAILED,after",
             "cuLibraryUnload:times=1,step=release,return=CUDA_ERROR_LAUNCH_FAILED,after",
             "cuGraphExecDestroy:times=1,step=release,return=CUDA_ERROR_LAUNCH_FAILED,after",
             "cuGraphDestroy:times=1,step=release,return=CUDA_ERROR_LAUNCH_FAILED,after",
             "cuEventDestroy:times=1,step=release,return=CUDA_ERROR_DEINITIALIZED,after",
             "cuStreamDestroy:times=1,step=release,return=CUDA_ERROR_DEINITIALIZED,after",
             "cuMemFree:times=1,step=release,return=CUDA_ERROR_DEINITIALIZED,after",
             "cuLibraryUnload:times=1,step=release,return=CUDA_ERROR_DEINITIALIZED,after",
             "cuGraphExecDestroy:times=1,step=release,return=CUDA_ERROR_DEINITIALIZED,after",
             "cuGraphDestroy:times=1,step=release,return=CUDA_ERROR_DEINITIALIZED,after"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
