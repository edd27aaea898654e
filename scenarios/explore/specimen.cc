// Specimens: the wakeup protocol of the first cleanup document (D-01) and its five repairs, as far as each goes.
//
// A producer pushes an item and then tries to take the flag; who takes it asks for a wakeup. The drain takes the list,
// clears the flag, and reads the head of the list again. A store and then a load of another variable on either side
// (a failed attempt to take the flag is only a load): neither release nor acquire forbids that both loads read old
// values, and then the item waits and nobody is on the way to it.
#include "harness/explore/explore.h"
#include "scenarios/explore/programs.h"

namespace holdfast::scenarios {
namespace {

using Order = std::memory_order;

struct Orders {
  Order push = Order::release;
  Order flag_taken = Order::acq_rel;
  Order flag_not_taken = Order::relaxed;
  Order take_list = Order::acquire;
  Order clear = Order::release;
  Order read_again = Order::acquire;
};

enum class Flag { kAttempt, kExchange };

struct Protocol {
  Orders orders = {};
  Flag producer = Flag::kAttempt;
  bool drain_exchanges = false;
  bool has_fences = false;
};

constexpr Orders kAllSequential{.push = Order::seq_cst,
                                .flag_taken = Order::seq_cst,
                                .flag_not_taken = Order::seq_cst,
                                .take_list = Order::seq_cst,
                                .clear = Order::seq_cst,
                                .read_again = Order::seq_cst};
constexpr Orders kDrainSequential{.take_list = Order::seq_cst, .clear = Order::seq_cst, .read_again = Order::seq_cst};

class Specimen {
 public:
  explicit Specimen(const Protocol& protocol) : protocol_(protocol), orders_(protocol.orders) {}

  // How many items wait stands for the list.
  void Produce() {
    length_.fetch_add(1, orders_.push);
    FenceIfAny();
    if (TakeFlag()) {
      wakeups_.release();
    }
  }

  void RunWakeups() {
    while (true) {
      wakeups_.acquire();
      Drain();
    }
  }

  void CheckEnd() const {
    explore::RequireNotStranded(length_.load() == 0, "an item waits, and nobody is on the way to it");
  }

 private:
  void Drain() {
    length_.exchange(0, orders_.take_list);
    if (protocol_.drain_exchanges) {
      scheduled_.exchange(false, Order::acq_rel);
    } else {
      scheduled_.store(false, orders_.clear);
    }
    FenceIfAny();
    if (length_.load(orders_.read_again) != 0 && TakeFlag()) {
      wakeups_.release();
    }
  }

  bool TakeFlag() {
    if (protocol_.producer == Flag::kExchange) {
      return !scheduled_.exchange(true, Order::acq_rel);
    }
    bool expected = false;
    return scheduled_.compare_exchange_strong(expected, true, orders_.flag_taken, orders_.flag_not_taken);
  }

  void FenceIfAny() const {
    if (protocol_.has_fences) {
      explore::Fence(Order::seq_cst);
    }
  }

  const Protocol protocol_;
  const Orders orders_;
  explore::atomic<int> length_{0};
  explore::atomic<bool> scheduled_{false};
  explore::semaphore wakeups_;
};

explore::Program Make(const char* name, const char* summary, const Protocol& protocol, bool is_refuted) {
  const auto set_up = [protocol](explore::Threads& threads) {
    Specimen& specimen = threads.Make<Specimen>(protocol);
    threads.Add("producer 1", [&specimen] { specimen.Produce(); });
    threads.Add("producer 2", [&specimen] { specimen.Produce(); });
    threads.AddWaiting("host", [&specimen] { specimen.RunWakeups(); });
    threads.Finally([&specimen] { specimen.CheckEnd(); });
  };
  explore::Program program{name, summary, set_up};
  if (is_refuted) {
    program.expected = explore::Verdict::kStrandedWork;
  }
  return program;
}

}  // namespace

std::vector<explore::Program> SpecimenPrograms() {
  return {
      Make("specimen.lost-wakeup", "as it shipped: a store, then a load, on either side", {}, true),
      Make("specimen.exchange-on-the-drain-side", "the drain clears the flag by an exchange, the producer only tries",
           {.drain_exchanges = true}, true),
      Make("specimen.exchange-on-both-sides", "both exchange the flag",
           {.producer = Flag::kExchange, .drain_exchanges = true}, false),
      Make("specimen.all-sequential", "every access is sequentially consistent", {.orders = kAllSequential}, false),
      Make("specimen.fences-on-both-sides", "a sequentially consistent fence between the two steps of either side",
           {.has_fences = true}, false),
      Make("specimen.drain-side-sequential", "only the drain's accesses are sequentially consistent",
           {.orders = kDrainSequential}, true),
  };
}

}  // namespace holdfast::scenarios
