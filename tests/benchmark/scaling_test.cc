// No step in the life of a graph of 1,000,000 nodes with attachments is superlinear.
//
// Method: the same steps for 1/16 of the nodes and for all of them, in one run; time must grow by less than the 1.5th
// power. A linear step with worse and worse cache behaviour stays well below (measured: 1.0 to 1.2), a quadratic one is
// at 2. Steps that take no time worth measuring at the smaller size say nothing and are left out.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include "tests/benchmark/graph_life.h"
#include "tests/benchmark/model_device.h"

namespace holdfast::benchmarks {
namespace {

constexpr std::size_t kNodeCount = 1'000'000;
constexpr std::size_t kShare = 16;
constexpr double kLargestPower = 1.5;
constexpr double kShortestSeconds = 1e-4;

std::vector<double> SecondsOfSteps(std::size_t node_count) {
  std::vector<double> seconds;
  for (const Step& step : GraphLife(node_count)) {
    const auto begin = std::chrono::steady_clock::now();
    step.run();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return seconds;
}

TEST(ScalingTest, NoStepIsSuperlinear) {
  StartOnce();
  // The fastest of three, so that a disturbed small run does not make the big one look good.
  std::vector<double> small = SecondsOfSteps(kNodeCount / kShare);
  for (int i = 0; i < 2; ++i) {
    const std::vector<double> again = SecondsOfSteps(kNodeCount / kShare);
    std::transform(small.begin(), small.end(), again.begin(), small.begin(),
                   [](double left, double right) { return std::min(left, right); });
  }
  const std::vector<double> big = SecondsOfSteps(kNodeCount);
  const std::vector<Step> steps = GraphLife(0);
  std::size_t judged = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (small[i] < kShortestSeconds) {
      continue;
    }
    ++judged;
    const double power = std::log(big[i] / small[i]) / std::log(static_cast<double>(kShare));
    std::printf("%-28s %8.0f ns a node, then %8.0f: power %.2f\n", steps[i].name.c_str(),
                1e9 * small[i] / (kNodeCount / kShare), 1e9 * big[i] / kNodeCount, power);
    EXPECT_LT(power, kLargestPower) << steps[i].name;
  }
  EXPECT_GE(judged, 8u) << "too few steps could be measured";
}

}  // namespace
}  // namespace holdfast::benchmarks
