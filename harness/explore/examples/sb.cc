// Example: store buffering. Two threads each raise a flag and look at the other's; may both find it down?
//
//   bazel run //harness/explore/examples:sb -- --list
//   bazel run //harness/explore/examples:sb -- --program=sb.relaxed
#include "harness/explore/explore.h"
#include "harness/explore/runner.h"

namespace {

namespace explore = holdfast::explore;

struct Shared {
  explore::atomic<int> x{0};
  explore::atomic<int> y{0};
  int seen_of_x = 0;  // each written by one thread, read when both are over
  int seen_of_y = 0;
};

// With `order` for the four accesses, and a fence between the two of each thread or none.
void StoreBuffering(explore::Threads& threads, std::memory_order order, bool has_fences) {
  auto& shared = threads.Make<Shared>();
  threads.Add("left", [&shared, order, has_fences] {
    shared.x.store(1, order);
    if (has_fences) {
      explore::Fence(std::memory_order_seq_cst);
    }
    shared.seen_of_y = shared.y.load(order);
  });
  threads.Add("right", [&shared, order, has_fences] {
    shared.y.store(1, order);
    if (has_fences) {
      explore::Fence(std::memory_order_seq_cst);
    }
    shared.seen_of_x = shared.x.load(order);
  });
  threads.Finally([&shared] {
    explore::Require(shared.seen_of_x == 1 || shared.seen_of_y == 1, "one of the two has seen the other's flag");
  });
}

void Relaxed(explore::Threads& threads) { StoreBuffering(threads, std::memory_order_relaxed, false); }
void Sequential(explore::Threads& threads) { StoreBuffering(threads, std::memory_order_seq_cst, false); }
void Fenced(explore::Threads& threads) { StoreBuffering(threads, std::memory_order_relaxed, true); }

}  // namespace

int main(int count, char** arguments) {
  return explore::RunMain(count, arguments,
                          {{"sb.relaxed", "both may find the other's flag down", Relaxed, explore::Verdict::kAssertion},
                           {"sb.sequential", "all four accesses seq_cst: one sees the other", Sequential, {}},
                           {"sb.fenced", "relaxed accesses with seq_cst fences between them: as good", Fenced, {}}});
}
