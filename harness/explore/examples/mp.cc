// Example: message passing. A plain message, and a flag that says that it is there.
//
//   bazel run //harness/explore/examples:mp -- --program=mp.relaxed
#include "harness/explore/explore.h"
#include "harness/explore/runner.h"

namespace {

namespace explore = holdfast::explore;

struct Shared {
  explore::atomic<int> flag{0};
  explore::var<int> message{0};
};

void MessagePassing(explore::Threads& threads, std::memory_order store_order) {
  auto& shared = threads.Make<Shared>();
  threads.Add("writer", [&shared, store_order] {
    shared.message = 42;
    shared.flag.store(1, store_order);
  });
  threads.Add("reader", [&shared] {
    if (shared.flag.load(std::memory_order_acquire) == 1) {
      explore::Require(shared.message == 42, "the message came with the flag");
    }
  });
}

void Released(explore::Threads& threads) { MessagePassing(threads, std::memory_order_release); }
void Relaxed(explore::Threads& threads) { MessagePassing(threads, std::memory_order_relaxed); }

}  // namespace

int main(int count, char** arguments) {
  return explore::RunMain(
      count, arguments,
      {{"mp.released", "the flag is stored with release: who sees it sees the message", Released, {}},
       {"mp.relaxed", "the flag says nothing of the message", Relaxed, explore::Verdict::kDataRace}});
}
