// The wakeups: at most one is outstanding; one that is refused or lost is asked for again.
#include "lib/cleanup/retry_loop.h"
#include "scenarios/explore/cleanup_world.h"
#include "scenarios/explore/programs.h"

namespace holdfast::scenarios {
namespace {

void Coalesced(explore::Threads& threads) {
  CleanupWorld& world = threads.Make<CleanupWorld>(HostFaults{}, true);
  AddProducers(threads, world, 2);
  threads.AddWaiting("host", [&world] { world.RunWakeups(); });
  threads.Finally([&world] { world.CheckEnd(2); });
}

// With the retry thread that the process has.
struct RetryWorld {
  static void Alert(void* world) noexcept { static_cast<RetryWorld*>(world)->retry.Alert(); }

  cleanup::RetryLoop<explore::Atomics> retry;
  CleanupWorld cleanup{HostFaults{.refusals_of_a_thread = 1}, false, {&Alert, this}};
};

void Refused(explore::Threads& threads) {
  RetryWorld& world = threads.Make<RetryWorld>();
  threads.Add("producer", [&world] { world.cleanup.Enqueue(0); });
  threads.AddWaiting("host", [&world] { world.cleanup.RunWakeups(); });
  threads.AddWaiting("retry", [&world] {
    world.retry.Run([&world] { return world.cleanup.queue.RequestIfNeeded(); }, std::chrono::milliseconds(1));
  });
  threads.Finally([&world] { world.cleanup.CheckEnd(1); });
}

// A payload waits, refused. The retry is refused too; a callback relies on that attempt, and a drain takes the first
// payload alone: the retry must still come to know of the callback's.
void RefusedAndDrained(explore::Threads& threads) {
  CleanupWorld& world = threads.Make<CleanupWorld>();
  world.host.RefuseMine(1);
  world.Enqueue(0);
  threads.Add("retry", [&world] {
    world.host.RefuseMine(1);
    if (!world.queue.RequestIfNeeded()) {
      explore::Require(world.queue.RequestIfNeeded(), "the host refuses once");
    }
  });
  threads.Add("producer", [&world] { world.Enqueue(1); });
  threads.Add("drainer", [&world] { world.queue.Drain(); });
  threads.Finally([&world] {
    explore::RequireNotStranded(!world.queue.HasWork() || world.host.HasPending(),
                                "payloads are left and the host was not asked");
  });
}

// The host loses the producer's wakeup, or is only slow; whoever comes by presumes it lost.
void Lost(explore::Threads& threads) {
  struct State {
    CleanupWorld cleanup{HostFaults{.losses_of_a_thread = 1}};
    explore::semaphore enqueued;
  };
  State& state = threads.Make<State>();
  threads.Add("producer", [&state] {
    state.cleanup.Enqueue(0);
    state.enqueued.release();
  });
  threads.Add("passer-by", [&state] {
    state.enqueued.acquire();
    state.cleanup.queue.RequestIfNeeded();
    state.cleanup.queue.RequestAgain();
    state.cleanup.queue.RequestAgain();
  });
  threads.AddWaiting("host", [&state] { state.cleanup.RunWakeups(); });
  threads.Finally([&state] { state.cleanup.CheckEnd(1); });
}

// Who sees no wakeup outstanding knows what the one before released.
void SeenToHaveRun(explore::Threads& threads) {
  CleanupWorld& world = threads.Make<CleanupWorld>(HostFaults{}, true);
  threads.Add("producer", [&world] {
    world.Enqueue(0);
    if (!world.queue.IsScheduled()) {
      // The host has taken the call out of its queue: there is room for another one.
      explore::Require(world.host.Request(), "the host has room");
    }
  });
  threads.AddWaiting("host", [&world] { world.RunWakeups(); });
  threads.Finally([&world] { world.CheckEnd(1); });
}

}  // namespace

std::vector<explore::Program> WakeupPrograms() {
  return {
      {"wakeup.coalesced", "the host has room for one call, and is never asked for two", &Coalesced},
      {"wakeup.refused", "the host refuses one callback's wakeup; the retry thread asks again", &Refused},
      {"wakeup.refused-and-drained", "a callback relies on a retry that is refused", &RefusedAndDrained},
      {"wakeup.lost", "the host loses the wakeup, and is asked again by who presumes so", &Lost},
      {"wakeup.seen-to-have-run", "who sees that none is outstanding knows that the last one ran", &SeenToHaveRun},
  };
}

}  // namespace holdfast::scenarios
