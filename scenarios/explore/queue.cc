// The queue: producers, the host that runs its wakeups, drains without a wakeup, and releases that use the queue.
#include "scenarios/explore/cleanup_world.h"
#include "scenarios/explore/programs.h"

namespace holdfast::scenarios {
namespace {

// One payload each, and the host.
CleanupWorld& MakeProducers(explore::Threads& threads, std::size_t count) {
  CleanupWorld& world = threads.Make<CleanupWorld>();
  AddProducers(threads, world, count);
  threads.AddWaiting("host", [&world] { world.RunWakeups(); });
  return world;
}

std::function<void(explore::Threads&)> Producers(std::size_t count) {
  return [count](explore::Threads& threads) {
    CleanupWorld& world = MakeProducers(threads, count);
    threads.Finally([&world, count] { world.CheckEnd(count); });
  };
}

// Bound: while the producers run the host comes to run one wakeup, the others after them.
void ThreeProducersOneDrain(explore::Threads& threads) {
  CleanupWorld& world = threads.Make<CleanupWorld>();
  AddProducers(threads, world, 3);
  threads.Add("host", [&world] {
    world.host.Await();
    world.queue.DrainForWakeup();
  });
  threads.Finally([&world] {
    world.RunPendingWakeups();
    world.CheckEnd(3);
  });
}

void MoreThanADrainReleases(explore::Threads& threads) {
  CleanupWorld& world = threads.Make<CleanupWorld>();
  threads.Add("producer", [&world] {
    world.Enqueue(0);
    world.Enqueue(1);
    world.Enqueue(2);
  });
  threads.AddWaiting("host", [&world] { world.RunWakeups(); });
  threads.Finally([&world] { world.CheckEnd(3); });
}

void ReleaseUsesTheQueue(explore::Threads& threads) {
  CleanupWorld& world = MakeProducers(threads, 2);
  world.OnRelease(0, [&world] {
    world.Enqueue(2);
    world.queue.Drain();
  });
  threads.Finally([&world] { world.CheckEnd(3); });
}

void DrainWithoutAWakeup(explore::Threads& threads) {
  CleanupWorld& world = MakeProducers(threads, 1);
  threads.Add("drainer", [&world] { world.queue.Drain(); });
  threads.Finally([&world] { world.CheckEnd(1); });
}

// Who sees no work may rely on what was enqueued before: it has been released.
void NoWorkSeen(explore::Threads& threads) {
  CleanupWorld& world = MakeProducers(threads, 1);
  threads.Add("waits", [&world] {
    world.Enqueue(1);
    if (!world.queue.HasWork()) {
      explore::Require(world.IsReleased(1), "who sees no work sees what the releases did");
    }
  });
  threads.Finally([&world] { world.CheckEnd(2); });
}

// A drain has released all that one may when a wakeup is turned away by it: at its end it must know of the payload that
// a callback left to that wakeup.
void NotedAtTheBound(explore::Threads& threads) {
  CleanupWorld& world = threads.Make<CleanupWorld>();
  world.Enqueue(0);
  threads.Add("host", [&world] {
    world.host.Await();
    world.queue.DrainForWakeup();
  });
  threads.Add("producer", [&world] { world.Enqueue(1); });
  threads.Add("drainer", [&world] { world.queue.Drain(); });
  threads.Finally([&world] {
    world.RunPendingWakeups();
    world.CheckEnd(2);
  });
}

// One has a payload. The wakeup comes after them: each drain may find the other under way.
void TwoDrainers(explore::Threads& threads) {
  CleanupWorld& world = threads.Make<CleanupWorld>();
  threads.Add("drainer 1", [&world] {
    world.Enqueue(0);
    world.queue.Drain();
  });
  threads.Add("drainer 2", [&world] { world.queue.Drain(); });
  threads.Finally([&world] {
    world.RunPendingWakeups();
    world.CheckEnd(1);
  });
}

}  // namespace

std::vector<explore::Program> QueuePrograms() {
  return {
      {"queue.one-producer", "one callback, one host", Producers(1)},
      {"queue.two-producers", "two callbacks, one host", Producers(2)},
      {"queue.three-producers", "three callbacks, one wakeup that meets them", &ThreeProducersOneDrain},
      {"queue.drain-bound", "one callback brings more than a drain releases", &MoreThanADrainReleases},
      {"queue.re-entry", "a release enqueues a payload and drains", &ReleaseUsesTheQueue},
      {"queue.drain-by-hand", "a drain without a wakeup meets one with it", &DrainWithoutAWakeup},
      {"queue.no-work-seen", "a thread sees that no work is left, and relies on it", &NoWorkSeen},
      {"queue.noted-at-the-bound", "a wakeup is turned away by a drain that may release no more", &NotedAtTheBound},
      {"queue.two-drainers", "two threads drain at once, one enqueues", &TwoDrainers},
  };
}

}  // namespace holdfast::scenarios
