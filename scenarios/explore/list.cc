// The list between the callbacks and the drain: what is pushed is taken once, oldest first, with all that came before.
#include "harness/explore/explore.h"
#include "lib/cleanup/item_list.h"
#include "scenarios/explore/programs.h"

namespace holdfast::scenarios {
namespace {

using Item = cleanup::CleanupItem<explore::Atomics>;

struct Numbered : Item {
  Numbered() : Item(nullptr) {}
  explore::var<int> number{0};
};

struct State {
  void Push(int index) {
    items[index].number = index + 1;
    list.Push(&items[index]);
  }

  // Returns the numbers as digits of one number.
  int Take() {
    int digits = 0;
    for (Item* item = list.TakeAll(); item != nullptr; item = item->next) {
      digits = digits * 10 + static_cast<Numbered*>(item)->number;
    }
    return digits;
  }

  Numbered items[3];
  cleanup::ItemList<explore::Atomics> list;
  int taken = 0;
};

void TwoPushersAndATaker(explore::Threads& threads) {
  State& state = threads.Make<State>();
  threads.Add("pusher of 1 and 2", [&state] {
    state.Push(0);
    state.Push(1);
  });
  threads.Add("pusher of 3", [&state] { state.Push(2); });
  threads.Add("taker", [&state] { state.taken = state.Take(); });
  threads.Finally([&state] {
    const int rest = state.Take();
    int digits = state.taken;
    for (int place = rest; place > 0; place /= 10) {
      digits *= 10;
    }
    digits += rest;
    explore::Require(digits == 123 || digits == 132 || digits == 312, "each is taken once, in the order of the pushes");
  });
}

}  // namespace

std::vector<explore::Program> ListPrograms() {
  return {{"list.two-pushers", "two threads push, one takes the list whole", &TwoPushersAndATaker}};
}

}  // namespace holdfast::scenarios
