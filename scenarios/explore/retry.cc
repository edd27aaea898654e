// The retry thread's loop: alerted, it tries until all is well; told to end, it does.
#include "harness/explore/explore.h"
#include "lib/cleanup/retry_loop.h"
#include "scenarios/explore/programs.h"

namespace holdfast::scenarios {
namespace {

struct State {
  cleanup::RetryLoop<explore::Atomics> loop;
  explore::semaphore ended;  // as a join
  explore::var<int> alerted{0};
  explore::var<int> last_words{0};
  int attempts = 0;  // of the retry thread
};

void TriesAndEnds(explore::Threads& threads) {
  State& state = threads.Make<State>();
  threads.Add("retry", [&state] {
    const auto retry = [&state] {
      explore::Require(state.alerted == 1, "an attempt knows what the alert knew");
      return ++state.attempts == 2;
    };
    state.loop.Run(retry, std::chrono::milliseconds(1));
    explore::Require(state.last_words == 1, "the end knows what came before the call to end");
    state.ended.release();
  });
  threads.Add("host", [&state] {
    state.alerted = 1;
    state.loop.Alert();
    state.last_words = 1;
    state.loop.RequestStop();
    state.ended.acquire();
  });
  threads.Finally([&state] { explore::Require(state.attempts <= 2, "settled after two attempts"); });
}

void AlertedIsNotMissed(explore::Threads& threads) {
  State& state = threads.Make<State>();
  threads.AddWaiting(
      "retry", [&state] { state.loop.Run([&state] { return ++state.attempts >= 2; }, std::chrono::milliseconds(1)); });
  threads.Add("host", [&state] { state.loop.Alert(); });
  threads.Finally([&state] { explore::RequireNotStranded(state.attempts >= 2, "it tries until all is well"); });
}

}  // namespace

std::vector<explore::Program> RetryPrograms() {
  return {
      {"retry.tries-and-ends", "an alert, then the end", &TriesAndEnds},
      {"retry.not-missed", "an alert that nothing interrupts", &AlertedIsNotMissed},
  };
}

}  // namespace holdfast::scenarios
