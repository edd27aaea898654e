#include "harness/explore/random_search.h"

#include <algorithm>

namespace holdfast::explore {

void RandomSearch::Draw(std::uint64_t number) {
  random_ = RandomNumbers(RandomNumbers(seed_).Next() ^ number);
  has_begun_ = false;
  run_.Run(*this);
  steps_of_last_ = std::max<std::size_t>(picker_.steps(), 1);
}

std::size_t RandomSearch::PickThread(std::span<const std::size_t> runnable) {
  if (!has_begun_) {
    BeginPicking();
  }
  const std::size_t thread = picker_.Pick(random_, runnable);
  picker_.CountStep();
  return thread;
}

// With the first step: only then the program has said how many threads it has.
void RandomSearch::BeginPicking() {
  has_begun_ = true;
  const std::size_t thread_count = run_.execution().machine().thread_count();
  picker_.Begin(random_, thread_count, thread_count);
  for (std::size_t index = 0; index < picker_.kPriorityChanges; ++index) {
    picker_.SetChange(index, random_.Below(steps_of_last_));
  }
}

}  // namespace holdfast::explore
