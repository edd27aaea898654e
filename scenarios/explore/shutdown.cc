// The queue's shutdown against all that may be under way: a drain, a callback, a retry, another shutdown, an owner that
// brings more.
#include "scenarios/explore/cleanup_world.h"
#include "scenarios/explore/programs.h"

namespace holdfast::scenarios {
namespace {

void Finalize(CleanupWorld& world) {
  if (world.queue.Shutdown()) {
    world.host.Finalize();
  }
}

void AgainstADrain(explore::Threads& threads) {
  CleanupWorld& world = threads.Make<CleanupWorld>();
  threads.Add("drainer", [&world] {
    world.Enqueue(0);
    world.queue.Drain();
  });
  threads.Add("finalizer", [&world] { Finalize(world); });
  threads.Finally([&world] { world.CheckEnd(1); });
}

void AgainstAnother(explore::Threads& threads) {
  CleanupWorld& world = threads.Make<CleanupWorld>();
  threads.Add("producer", [&world] { world.Enqueue(0); });
  threads.Add("finalizer 1", [&world] { Finalize(world); });
  threads.Add("finalizer 2", [&world] { Finalize(world); });
  threads.Finally([&world] { world.CheckEnd(1); });
}

void AgainstTwoCallbacks(explore::Threads& threads) {
  CleanupWorld& world = threads.Make<CleanupWorld>();
  threads.Add("producer 1", [&world] { world.Enqueue(0); });
  threads.Add("producer 2", [&world] { world.Enqueue(1); });
  threads.Add("finalizer", [&world] { Finalize(world); });
  threads.Finally([&world] { world.CheckEnd(2); });
}

void AgainstARetry(explore::Threads& threads) {
  CleanupWorld& world = threads.Make<CleanupWorld>(HostFaults{.refusals_of_a_thread = 1});
  threads.Add("producer", [&world] { world.Enqueue(0); });
  threads.Add("retry", [&world] {
    world.queue.RequestIfNeeded();
    world.queue.RequestAgain();
  });
  threads.Add("finalizer", [&world] { Finalize(world); });
  threads.Finally([&world] { world.CheckEnd(1); });
}

// Owners that bring further payloads, more often than shutdown looks again before it closes the gate.
void OwnersBringMore(explore::Threads& threads) {
  CleanupWorld& world = threads.Make<CleanupWorld>();
  world.OnRelease(0, [&world] { world.Enqueue(1); });
  world.OnRelease(1, [&world] { world.Enqueue(2); });
  threads.Add("producer", [&world] { world.Enqueue(0); });
  threads.Add("finalizer", [&world] { Finalize(world); });
  threads.Finally([&world] {
    // As many as came to be: an owner that was leaked brought nothing.
    const cleanup::CleanupCounters counters = world.queue.Counters();
    world.CheckEnd(counters.enqueued + counters.leaked_at_shutdown);
  });
}

}  // namespace

std::vector<explore::Program> ShutdownPrograms() {
  return {
      {"shutdown.drain", "a drain is under way", &AgainstADrain},
      {"shutdown.two", "two threads shut down", &AgainstAnother},
      {"shutdown.callbacks", "two callbacks are under way", &AgainstTwoCallbacks},
      {"shutdown.retry", "a refused wakeup is asked for again meanwhile", &AgainstARetry},
      {"shutdown.owners-bring-more", "releases enqueue further payloads", &OwnersBringMore},
  };
}

}  // namespace holdfast::scenarios
