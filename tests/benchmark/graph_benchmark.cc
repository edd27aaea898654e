// Figures: what each step in the life of a big graph costs a node, by the number of nodes, with the order of growth
// that fits best.
//
//   bazel run -c opt //tests/benchmark:graph_benchmark
#include <benchmark/benchmark.h>

#include <chrono>

#include "tests/benchmark/graph_life.h"
#include "tests/benchmark/model_device.h"

namespace holdfast::benchmarks {
namespace {

// Runs the whole life and times one step of it.
void RunStep(benchmark::State& state, std::size_t timed) {
  StartOnce();
  const auto node_count = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    const std::vector<Step> steps = GraphLife(node_count);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto begin = std::chrono::steady_clock::now();
      steps[i].run();
      if (i == timed) {
        state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      }
    }
  }
  state.SetComplexityN(state.range(0));
  state.counters["time/node"] = benchmark::Counter(static_cast<double>(node_count) * state.iterations(),
                                                   benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

}  // namespace
}  // namespace holdfast::benchmarks

int main(int argc, char** argv) {
  using holdfast::benchmarks::GraphLife;
  const auto steps = GraphLife(0);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    benchmark::RegisterBenchmark(steps[i].name.c_str(), holdfast::benchmarks::RunStep, i)
        ->RangeMultiplier(8)
        ->Range(1'000'000 / 64, 1'000'000)
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond)
        ->Complexity();
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
