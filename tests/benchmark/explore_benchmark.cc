// Figures: what the explorer makes of a core, in executions a second, by the kind of search.
//
// The program has three threads with 20 operations between them; the shared state is two atomics.
//
//   bazel run //tests/benchmark:explore_benchmark
#include <benchmark/benchmark.h>

#include <atomic>
#include <string>

#include "harness/explore/explore.h"
#include "harness/explore/explorer.h"

namespace holdfast::explore {
namespace {

struct State {
  atomic<int> first{0}, second{0};
};

void SixOperations(State& state) {
  state.first.store(1, std::memory_order_release);
  state.second.load(std::memory_order_acquire);
  state.first.fetch_add(1, std::memory_order_acq_rel);
  state.second.store(2, std::memory_order_release);
  state.first.load(std::memory_order_relaxed);
  state.second.load(std::memory_order_acquire);
}

const Program& TwentyOperations() {
  static const Program kProgram{"",
                                "",
                                [](Threads& threads) {
                                  State& state = threads.Make<State>();
                                  threads.Add("a", [&state] { SixOperations(state); });
                                  threads.Add("b", [&state] { SixOperations(state); });
                                  threads.Add("c", [&state] {
                                    SixOperations(state);
                                    state.second.exchange(3, std::memory_order_acq_rel);
                                    state.first.load(std::memory_order_acquire);
                                  });
                                },
                                {}};
  return kProgram;
}

void RunSearch(benchmark::State& state, std::optional<Strategy> strategy) {
  ExploreOptions options;
  options.strategy = strategy;
  options.executions_max = 50'000;
  std::uint64_t executions = 0;
  for (auto _ : state) {
    executions += Explore(TwentyOperations(), options).certificate.executions;
  }
  state.counters["executions/s"] = benchmark::Counter(static_cast<double>(executions), benchmark::Counter::kIsRate);
}

}  // namespace
}  // namespace holdfast::explore

int main(int argc, char** argv) {
  using holdfast::explore::RunSearch;
  using holdfast::explore::Strategy;
  benchmark::RegisterBenchmark("exhaustive", [](benchmark::State& state) { RunSearch(state, std::nullopt); });
  benchmark::RegisterBenchmark("random", [](benchmark::State& state) { RunSearch(state, Strategy::kRandom); });
  benchmark::RegisterBenchmark("pct", [](benchmark::State& state) { RunSearch(state, Strategy::kPct); });
  benchmark::RegisterBenchmark("bursts", [](benchmark::State& state) { RunSearch(state, Strategy::kBursts); });
  benchmark::RegisterBenchmark("starvation", [](benchmark::State& state) { RunSearch(state, Strategy::kStarvation); });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
