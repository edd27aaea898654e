// A scenario with a finding that takes one fault and one order of threads: what end_to_end_test.py has made smaller.
//
// Two threads add to a sum under a lock. A thread whose query of the driver is refused does so in two steps, with the
// lock given back in between. The finding is that the other thread's addition came in there and got lost. Without an
// order that is a matter of nanoseconds.
#include <mutex>
#include <thread>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/driver/driver.h"

namespace holdfast::harness {
namespace {

constexpr int kRounds = 6;  // of each thread

void Run(Context& context) {
  std::mutex mutex;
  int sum = 0;
  const auto add = [&] {
    for (int round = 0; round < kRounds; ++round) {
      int count = 0;
      const bool is_refused = driver::GetDriver().cuDeviceGetCount(&count) != CUDA_SUCCESS;
      mutex.lock();
      const int before = sum;
      if (is_refused) {
        mutex.unlock();
        mutex.lock();
      }
      sum = before + 1;
      mutex.unlock();
    }
  };
  {
    const std::jthread first = context.StartThread(1, add);
    const std::jthread second = context.StartThread(2, add);
  }
  context.Oracle("the sum");
  context.Check(sum == 2 * kRounds, "no addition is lost");
}

const Registration registration({
    .name = "specimen.lost-addition",
    .summary = "Two threads' additions all count",
    .covers = {},
    .catches = {},
    .variants = SingleVariant(),
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::harness
