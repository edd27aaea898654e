// The worker thread's loop, alone and with the queue: it drains when asked to, and is gone before its world is.
#include "lib/cleanup/worker_loop.h"
#include "scenarios/explore/cleanup_world.h"
#include "scenarios/explore/programs.h"

namespace holdfast::scenarios {
namespace {

struct State {
  cleanup::WorkerLoop<explore::Atomics> loop;
  explore::semaphore ended;  // as a join
  explore::var<int> requested{0};
  explore::var<int> last_words{0};
  explore::var<int> drains{0};
};

void DrainsAndEnds(explore::Threads& threads) {
  State& state = threads.Make<State>();
  threads.Add("worker", [&state] {
    state.loop.Run([&state] {
      explore::Require(state.requested == 1, "the drain knows what its request knew");
      state.drains = state.drains + 1;
    });
    explore::Require(state.last_words == 1, "the end knows what came before the call to end");
    state.ended.release();
  });
  threads.Add("host", [&state] {
    state.requested = 1;
    state.loop.Request();
    state.last_words = 1;
    state.loop.RequestStop();
    state.ended.acquire();
    explore::Require(state.drains <= 1, "one request leads to one drain");
  });
}

class WorkerWakeupModel : public cleanup::Wakeup {
 public:
  void Start(cleanup::DrainFunction) override {}
  bool Request() noexcept override {
    loop.Request();
    return true;
  }
  void Stop() noexcept override { loop.RequestStop(); }

  cleanup::WorkerLoop<explore::Atomics> loop;
};

// As DeferredCleanup puts them together: the gate is closed, then the worker stopped.
void WithTheQueue(explore::Threads& threads) {
  struct Parts {
    struct Payload : cleanup::CleanupItem<explore::Atomics> {
      explicit Payload(Parts& in_parts) : CleanupItem(&Release), parts(in_parts) {}
      static void Release(CleanupItem* item) noexcept {
        Parts& parts = static_cast<Payload*>(item)->parts;
        parts.releases = parts.releases + 1;
      }
      Parts& parts;
    };

    WorkerWakeupModel wakeup;
    CleanupWorld::Queue queue{wakeup, nullptr, {}};
    explore::var<int> releases{0};
    Payload payload{*this};
    explore::semaphore ended;
  };
  Parts& parts = threads.Make<Parts>();
  threads.Add("producer", [&parts] { parts.queue.Enqueue(&parts.payload); });
  threads.Add("worker", [&parts] {
    parts.wakeup.loop.Run([&parts] { parts.queue.DrainForWakeup(); });
    parts.ended.release();
  });
  threads.Add("finalizer", [&parts] {
    parts.queue.Shutdown();
    parts.wakeup.Stop();
    parts.ended.acquire();
    explore::Require(parts.releases <= 1, "released once at most");
  });
  threads.Finally([&parts] {
    explore::Require(static_cast<std::uint64_t>(parts.releases.Get()) + parts.queue.Counters().leaked_at_shutdown == 1,
                     "released, or counted as leaked");
  });
}

}  // namespace

std::vector<explore::Program> WorkerPrograms() {
  return {
      {"worker.drains-and-ends", "one request, then the end", &DrainsAndEnds},
      {"worker.queue", "a callback, a worker that drains, and shutdown", &WithTheQueue},
  };
}

}  // namespace holdfast::scenarios
