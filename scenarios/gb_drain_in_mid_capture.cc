// D-31: a drain in the middle of a capture leaves the capture alone and releases all the same.
//
// Intent: freeing memory, unloading code and destroying an executable are forbidden on a thread that captures in global
// or thread-local mode (and in global mode on every thread): they invalidate the capture. At each step of a capture, in
// each mode, let owners of those kinds retire and drain, on the capturing thread and on another. The capture goes on,
// the owners are gone, the driver refused nothing, and the thread's own mode is as it was.
//
// Interleaving: the drain comes after each step of the capture; the variants differ in where CUDA's destructor
// callbacks run.
//
// Expected verdict: passed.
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"
#include "lib/graph/graph_builder.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"
#include "scenarios/support/add_one_kernel.h"
#include "scenarios/support/captured_work.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/counting_callback.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/live_objects.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

constexpr std::pair<const char*, CUstreamCaptureMode> kModes[] = {
    {"global", CU_STREAM_CAPTURE_MODE_GLOBAL},
    {"thread local", CU_STREAM_CAPTURE_MODE_THREAD_LOCAL},
    {"relaxed", CU_STREAM_CAPTURE_MODE_RELAXED},
};

// A graph with the last references to what a capture forbids to let go of: memory, code and an executable.
class Retiring {
 public:
  explicit Retiring(const harness::Context& context)
      : owner_([executable = std::make_shared<std::optional<GraphExec>>(GraphDefinition())] { executable->reset(); }) {
    const DeviceMemoryHandle memory = DeviceMemory::Allocate(16);
    graphs_.emplace_back();
    graphs_.back().AddKernelNode(LoadAddOneKernel(context), {.block = {16, 1, 1}},
                                 KernelArguments().Add(memory).Add(std::uint32_t{16}));
    graphs_.back().AddHostNode({[](void*) {}, nullptr, owner_.Take(), nullptr});
  }

  void Retire() { graphs_.clear(); }

  const OwnerProbe& owner() const noexcept { return owner_; }

 private:
  OwnerProbe owner_;
  std::vector<GraphDefinition> graphs_;
};

// The capture mode of the calling thread.
CUstreamCaptureMode ThreadMode() {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  driver::Check("cuThreadExchangeStreamCaptureMode", driver::GetDriver().cuThreadExchangeStreamCaptureMode(&mode),
                "asking for the thread's capture mode");
  CUstreamCaptureMode present = mode;
  driver::Check("cuThreadExchangeStreamCaptureMode", driver::GetDriver().cuThreadExchangeStreamCaptureMode(&present),
                "putting the thread's capture mode back");
  return mode;
}

// What is released at each step, made before the capture begins: making it is forbidden as well.
class Steps {
 public:
  Steps(harness::Context& context, std::string mode, std::size_t count) : context_(context), mode_(std::move(mode)) {
    retiring_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      retiring_.emplace_back(context);
    }
  }

  // Retires one owner of each kind and drains: every second time on another thread.
  void DrainIn(const GraphBuilder& builder, const std::string& step) {
    Retiring& retiring = retiring_.at(next_++);
    retiring.Retire();
    if (next_ % 2 == 0) {
      context_.StartThread(1, [&] { Settle(context_); }).join();
    } else {
      Settle(context_);
    }
    const std::string when = mode_ + " capture, " + step;
    context_.Check(IsCapturing(context_, builder.stream()), "the capture goes on after a drain: " + when);
    context_.Check(ThreadMode() == CU_STREAM_CAPTURE_MODE_GLOBAL, "the thread's capture mode is as before: " + when);
    CheckReleasedOnce(context_, retiring.owner(), when);
    const fault::LiveObjects live = context_.shim().live();
    const std::uint64_t left = retiring_.size() - next_;
    context_.Check(live.allocations == left && live.libraries == left && live.executables == left,
                   "memory, code and executable are let go of: " + when);
  }

 private:
  harness::Context& context_;
  const std::string mode_;
  std::vector<Retiring> retiring_;
  std::size_t next_ = 0;
};

void CheckMode(harness::Context& context, const DeviceSession& session, const char* name, CUstreamCaptureMode mode) {
  int runs = 0;
  Steps steps(context, name, 6);
  GraphDefinition embedded;
  embedded.AddHostNode(CountingCallback(runs));
  GraphBuilder builder(Stream::Create());
  builder.Begin(mode);
  steps.DrainIn(builder, "begun");
  builder.AddCallback(CountingCallback(runs));
  steps.DrainIn(builder, "with a callback");
  std::vector<GraphBuilder> builders = builder.Split(2);
  steps.DrainIn(builders[1], "split");
  builders[1].AddCallback(CountingCallback(runs));
  steps.DrainIn(builders[1], "with a callback on a fork");
  GraphBuilder::Join(builders);
  steps.DrainIn(builder, "joined");
  builder.Embed(embedded);
  steps.DrainIn(builder, "with an embedded graph");
  builder.End();
  const GraphExec executable = builder.Complete();
  executable.Launch(session.stream());
  session.stream()->Synchronize();
  context.Check(runs == 3, "what was captured between the drains runs");
}

void Run(harness::Context& context) {
  DeviceSession session(context);
  StartManualCleanup(context);
  for (const auto& [name, mode] : kModes) {
    CheckMode(context, session, name, mode);
    CheckNoOwnersLeft(context);
  }
  context.CheckUndisturbed(driver::CleanupFailureCount() == 0, "the driver refused no release");
  context.Oracle("capture and owners after a drain at each step, in each mode");
}

const harness::Registration registration({
    .name = "GB.drain-in-mid-capture",
    .summary =
        "A drain in mid-capture releases memory, code and executables, and leaves the capture going, in all modes",
    .covers = {"D-31", "BR-22"},
    .catches = {"drain-in-the-mode-of-the-thread"},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
