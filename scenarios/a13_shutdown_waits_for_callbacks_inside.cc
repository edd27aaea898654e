// A13: shutdown waits for a callback that is past all checks and about to call the host; no call reaches the host after
// finalization.
//
// Intent: a callback is stopped between its checks and the host's queue, the very window in which 'check a flag, then
// call' breaks. Another thread shuts the cleanup down and finalizes the host. The host must still be whole when the
// callback goes on.
//
// Interleaving:
//   callback's thread                    main thread
//   enters the gate
//   ... about to add the call
//                                        shutdown: closes the gate, waits
//   adds the call (host is whole)
//   leaves the gate
//                                        last drain, finalize
//
// Expected verdict: passed. On CPython 3.10 to 3.12 a late call is a crash (fact P3), which the host model records.
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/cleanup/deferred_cleanup.h"
#include "lib/graph/graph_definition.h"
#include "scenarios/support/cleanup_context.h"
#include "scenarios/support/device_session.h"
#include "scenarios/support/host_session.h"
#include "scenarios/support/owner_probe.h"

namespace holdfast::scenarios {
namespace {

using cleanup::DeferredCleanup;

void CUDA_CB Nothing(void*) {}

constexpr std::chrono::milliseconds kTimeToFinalize{300};

// Where the callback is stopped.
struct Window {
  std::atomic<bool> armed{false};
  std::atomic<bool> inside{false};
  std::atomic<bool> go_on{false};

  void Pass() {
    if (armed.exchange(false)) {
      inside = true;
      while (!go_on) {
        std::this_thread::yield();
      }
    }
  }
};

// Lets the callback go on, whatever ends the scenario: its thread is joined afterwards.
struct GoOnAtExit {
  ~GoOnAtExit() { window.go_on = true; }
  Window& window;
};

void DropGraphOwnedBy(OwnerProbe& owner) {
  GraphDefinition graph;
  graph.AddHostNode({&Nothing, nullptr, owner.Take(), nullptr});
}

void Run(harness::Context& context) {
  DeviceSession device(context);
  Window window;
  HostSession session(context, context.variant() == "3.12" ? 12 : 13, [&window] { window.Pass(); });
  OwnerProbe stopped_owner;
  window.armed = true;
  std::jthread callback = context.StartThread(1, [&] {
    device.MakeCurrent();
    DropGraphOwnedBy(stopped_owner);
  });
  context.CheckEventually([&] { return window.inside.load(); }, "the callback is about to add its call");

  std::atomic<bool> finalized{false};
  std::jthread shutdown = context.StartThread(2, [&] {
    ShutdownCleanup();
    session.Finalize();
    finalized = true;
  });
  const GoOnAtExit go_on_at_exit{window};
  // Payloads that come when the gate is closed are turned away and counted, which shows that it is.
  int later_payloads = 0;
  context.CheckEventually(
      [&] {
        OwnerProbe later;
        DropGraphOwnedBy(later);
        ++later_payloads;
        return DeferredCleanup::Process().Counters().leaked_at_shutdown > 0;
      },
      "the gate closes");
  // A shutdown that does not wait has this long to finalize the host under the callback.
  context.AwaitFor(kTimeToFinalize, [&] { return finalized.load(); });
  context.Check(!finalized, "shutdown waits for the callback inside");
  window.go_on = true;
  callback.join();
  shutdown.join();

  context.Check(session.late_calls() == 0, "no call reaches the host after its finalization");
  context.Check(session.host().violations().empty(), "no call crashes an older interpreter");
  CheckReleasedOnce(context, stopped_owner, "its callback was inside when shutdown began, and shutdown drained last");
  context.Count("payloads_while_closing", later_payloads);
  context.Oracle("calls of the host against its finalization");
}

const harness::Registration registration({
    .name = "A13.shutdown-waits-for-callbacks-inside",
    .summary =
        "Shutdown waits for a callback between its checks and the host; the host sees no call after finalization",
    .covers = {"A13", "SH-01", "D-05", "BR-25"},
    .catches = {"flag-instead-of-gate"},
    .variants = {{"3.12", {}}, {"3.13", {}}},
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
