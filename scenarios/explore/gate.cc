// The gate against finalization: who is inside is waited for, and who comes later does not touch the host.
#include "lib/cleanup/gate.h"

#include "scenarios/explore/cleanup_world.h"
#include "scenarios/explore/programs.h"

namespace holdfast::scenarios {
namespace {

struct State {
  void Visit() {
    if (gate.Enter()) {
      explore::Require(is_host_alive, "the host is there for who is inside");
      gate.Leave();
    }
  }

  cleanup::ShutdownGate<explore::Atomics> gate;
  explore::var<bool> is_host_alive{true};
  explore::var<int> told{0};
  explore::atomic<int> closed_count{0};
};

void CloseWaits(explore::Threads& threads) {
  State& state = threads.Make<State>();
  threads.Add("visitor 1", [&state] { state.Visit(); });
  threads.Add("visitor 2", [&state] { state.Visit(); });
  threads.Add("finalizer", [&state] {
    state.gate.Close();
    state.is_host_alive = false;
  });
}

void OneClosesIt(explore::Threads& threads) {
  State& state = threads.Make<State>();
  threads.Add("visitor", [&state] { state.Visit(); });
  for (const char* name : {"finalizer 1", "finalizer 2"}) {
    threads.Add(name, [&state] {
      if (state.gate.Close()) {
        state.closed_count.fetch_add(1, std::memory_order_relaxed);
        state.is_host_alive = false;
      }
    });
  }
  threads.Finally([&state] { explore::Require(state.closed_count.load() == 1, "one of them closed it"); });
}

// What the one who closes it did before is known to whoever finds it closed, in each of the ways to find that out.
void KnownToBeClosed(explore::Threads& threads, bool waits) {
  State& state = threads.Make<State>();
  threads.Add("finalizer", [&state, waits] {
    state.told = 1;
    if (waits) {
      state.gate.Close();
    } else {
      state.gate.CloseWithoutWaiting();
    }
  });
  threads.Add("turned away", [&state] {
    if (state.gate.Enter()) {
      state.gate.Leave();
    } else {
      explore::Require(state.told == 1, "who is turned away knows what came before");
    }
  });
  threads.Add("looks", [&state] {
    if (state.gate.IsClosed()) {
      explore::Require(state.told == 1, "who sees it closed knows what came before");
    }
  });
}

void SecondCloserKnows(explore::Threads& threads) {
  State& state = threads.Make<State>();
  for (const char* name : {"finalizer 1", "finalizer 2"}) {
    threads.Add(name, [&state] {
      if (state.gate.IsClosed()) {
        return;
      }
      state.gate.Close();
    });
  }
  threads.Finally([&state] { explore::Require(state.gate.IsClosed(), "closed"); });
}

// The queue's own use: the host is gone once Shutdown has returned.
void Finalization(explore::Threads& threads) {
  CleanupWorld& world = threads.Make<CleanupWorld>();
  threads.Add("producer", [&world] { world.Enqueue(0); });
  threads.AddWaiting("host", [&world] { world.RunWakeups(); });
  threads.Add("finalizer", [&world] {
    world.queue.Shutdown();
    world.host.Finalize();
  });
  threads.Finally([&world] { world.CheckEnd(1); });
}

}  // namespace

std::vector<explore::Program> GatePrograms() {
  return {
      {"gate.close-waits", "two threads inside, one closes and takes the host away", &CloseWaits},
      {"gate.two-closers", "two threads close; one of them takes the host away", &OneClosesIt},
      {"gate.known-to-be-closed", "who finds the gate closed knows what came before",
       [](explore::Threads& threads) { KnownToBeClosed(threads, true); }},
      {"gate.known-to-be-closed-at-once", "the same, closed without waiting",
       [](explore::Threads& threads) { KnownToBeClosed(threads, false); }},
      {"gate.looks-first", "two closers that look whether it is closed", &SecondCloserKnows},
      {"gate.finalization", "a callback, the host and the end of the host", &Finalization},
  };
}

}  // namespace holdfast::scenarios
