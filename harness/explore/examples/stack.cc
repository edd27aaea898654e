// Example: a lock-free stack of nodes on the heap. Two threads push; others take.
//
// It takes its primitives as a parameter, as code under test does: std::atomic in a product, explore::Atomics here.
//
//   bazel run //harness/explore/examples:stack -- --program=stack.pop-frees
#include "harness/explore/explore.h"
#include "harness/explore/runner.h"

namespace {

namespace explore = holdfast::explore;

template <typename Policy>
class Stack {
 public:
  struct Node {
    explicit Node(int given) : value(given) {}

    typename Policy::template Plain<int> value;
    typename Policy::template Plain<Node*> next{nullptr};
  };

  // `order` is that of the publication; release is what it takes.
  void Push(int value, std::memory_order order = std::memory_order_release) {
    Node* const node = new Node(value);
    Node* top = top_.load(std::memory_order_relaxed);
    do {
      node->next = top;
    } while (!top_.compare_exchange_weak(top, node, order, std::memory_order_relaxed));
  }

  // Takes all at once, frees them, and gives their sum.
  int TakeAll() {
    int sum = 0;
    for (Node* node = top_.exchange(nullptr, std::memory_order_acquire); node != nullptr;) {
      Node* const next = node->next;
      sum += node->value;
      delete node;
      node = next;
    }
    return sum;
  }

  // Wrong for more than one taker: another may have freed the node whose `next` is read here.
  int Pop() {
    Node* top = top_.load(std::memory_order_acquire);
    while (top != nullptr && !top_.compare_exchange_weak(top, top->next, std::memory_order_acquire)) {
    }
    const int value = top == nullptr ? 0 : static_cast<int>(top->value);
    delete top;
    return value;
  }

 private:
  typename Policy::template Atomic<Node*> top_{nullptr};
};

struct Shared {
  Stack<explore::Atomics> stack;
  explore::atomic<int> taken{0};
};

// Whatever the threads did: what was pushed is taken once.
void TakeTheRest(explore::Threads& threads, Shared& shared, int pushed) {
  threads.Finally([&shared, pushed] {
    explore::Require(shared.taken.load() + shared.stack.TakeAll() == pushed, "each value was taken once");
  });
}

void TakeAll(explore::Threads& threads, std::memory_order order) {
  auto& shared = threads.Make<Shared>();
  for (int value = 1; value <= 2; ++value) {
    threads.Add("pusher", [&shared, value, order] { shared.stack.Push(value, order); });
  }
  threads.Add("taker", [&shared] { shared.taken.fetch_add(shared.stack.TakeAll(), std::memory_order_relaxed); });
  TakeTheRest(threads, shared, 3);
}

void Released(explore::Threads& threads) { TakeAll(threads, std::memory_order_release); }
void Relaxed(explore::Threads& threads) { TakeAll(threads, std::memory_order_relaxed); }

void PopFrees(explore::Threads& threads) {
  auto& shared = threads.Make<Shared>();
  shared.stack.Push(1);
  shared.stack.Push(2);
  for (int popper = 0; popper < 2; ++popper) {
    threads.Add("popper", [&shared] { shared.taken.fetch_add(shared.stack.Pop(), std::memory_order_relaxed); });
  }
  TakeTheRest(threads, shared, 3);
}

}  // namespace

int main(int count, char** arguments) {
  return explore::RunMain(
      count, arguments,
      {{"stack.take-all", "two push, one takes all", Released, {}},
       {"stack.relaxed-push", "a push that publishes its node with relaxed", Relaxed, explore::Verdict::kDataRace},
       {"stack.pop-frees", "two pop and free: one reads a node that the other frees", PopFrees,
        explore::Verdict::kDataRace}});
}
