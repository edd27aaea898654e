// The pointer to the cleanup of the process: who finds it finds the cleanup whole.
#include "harness/explore/explore.h"
#include "lib/cleanup/published.h"
#include "scenarios/explore/programs.h"

namespace holdfast::scenarios {
namespace {

struct Parts {
  explore::var<int> options{1};
};

struct State {
  ~State() { delete published.Get(); }
  cleanup::Published<explore::Atomics, Parts> published;
};

void FoundWhole(explore::Threads& threads) {
  State& state = threads.Make<State>();
  threads.Add("starts", [&state] { state.published.Publish(new Parts); });
  for (const char* name : {"callback 1", "callback 2"}) {
    threads.Add(name, [&state] {
      if (const Parts* parts = state.published.Get()) {
        explore::Require(parts->options == 1, "what is found is whole");
      }
    });
  }
}

}  // namespace

std::vector<explore::Program> StartPrograms() {
  return {{"start.found-whole", "one thread starts the cleanup, two others look for it", &FoundWhole}};
}

}  // namespace holdfast::scenarios
