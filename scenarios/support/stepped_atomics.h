// SteppedAtomics: primitives for the cleanup templates under which two threads' worth of work runs on one thread, with
// the second placed, whole, between any two steps of the first.
//
// The first operation ("outer") runs step by step; at the step that the test has chosen, the second ("inner") runs to
// its end. The outer one has a store buffer, as a processor has: a plain store takes effect only at its next
// read-modify-write or at its end, and its own loads see it before. That is the reordering that x86 allows, so a
// protocol that needs a store to be seen before a later load fails here, each time, and not once in a thousand runs.
//
// Not modelled: more than one switch, reorderings of weaker machines. Those are for a schedule explorer.
#ifndef HOLDFAST_SCENARIOS_SUPPORT_STEPPED_ATOMICS_H_
#define HOLDFAST_SCENARIOS_SUPPORT_STEPPED_ATOMICS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace holdfast::scenarios {

class SteppedWorld {
 public:
  // Runs `outer` with `inner` before its step number `inner_step` (from 1; the last possible place is after all steps,
  // before the store buffer is written out). False if the outer operation has fewer steps than that.
  static bool Run(std::uint64_t inner_step, const std::function<void()>& outer, std::function<void()> inner) {
    Current() = {inner_step, std::move(inner), 0, false, {}};
    Current().active = true;
    outer();
    Step();
    Flush();
    Current().active = false;
    return Current().step >= inner_step;
  }

  // One step of whoever runs.
  static void Step() {
    State& state = Current();
    if (!state.active || state.inside_inner) {
      return;
    }
    if (++state.step == state.inner_step) {
      state.inside_inner = true;
      state.inner();
      state.inside_inner = false;
    }
  }

  // Whether stores are buffered now.
  static bool Buffers() { return Current().active && !Current().inside_inner; }

  static void Buffer(const void* variable, std::uint64_t value, std::function<void()> write) {
    Current().buffer.push_back({variable, value, std::move(write)});
  }

  // The youngest buffered value of the variable, or null.
  static const std::uint64_t* Buffered(const void* variable) {
    if (!Buffers()) {
      return nullptr;
    }
    std::vector<Store>& buffer = Current().buffer;
    for (auto store = buffer.rbegin(); store != buffer.rend(); ++store) {
      if (store->variable == variable) {
        return &store->value;
      }
    }
    return nullptr;
  }

  static void Flush() {
    std::vector<Store> buffer = std::exchange(Current().buffer, {});
    for (const Store& store : buffer) {
      store.write();
    }
  }

 private:
  struct Store {
    const void* variable;
    std::uint64_t value;
    std::function<void()> write;
  };

  struct State {
    std::uint64_t inner_step = 0;
    std::function<void()> inner;
    std::uint64_t step = 0;
    bool inside_inner = false;
    std::vector<Store> buffer;
    bool active = false;
  };

  static State& Current() {
    static State state;
    return state;
  }
};

struct SteppedAtomics {
  // Values are kept as integers, so that one store buffer serves all types.
  template <typename T>
  class Atomic {
   public:
    Atomic(T value) : value_(ToBits(value)) {}  // NOLINT(google-explicit-constructor): as std::atomic

    T load(std::memory_order = std::memory_order_seq_cst) const {
      SteppedWorld::Step();
      const std::uint64_t* buffered = SteppedWorld::Buffered(this);
      return FromBits(buffered != nullptr ? *buffered : value_);
    }

    void store(T value, std::memory_order order = std::memory_order_seq_cst) {
      SteppedWorld::Step();
      if (!SteppedWorld::Buffers()) {
        value_ = ToBits(value);
        return;
      }
      SteppedWorld::Buffer(this, ToBits(value), [this, value] { value_ = ToBits(value); });
      if (order == std::memory_order_seq_cst) {
        SteppedWorld::Flush();
      }
    }

    T exchange(T value, std::memory_order = std::memory_order_seq_cst) {
      return Modify([value](T) { return value; });
    }

    T fetch_add(T amount, std::memory_order = std::memory_order_seq_cst) {
      return Modify([amount](T old) { return static_cast<T>(old + amount); });
    }

    T fetch_sub(T amount, std::memory_order = std::memory_order_seq_cst) {
      return Modify([amount](T old) { return static_cast<T>(old - amount); });
    }

    T fetch_or(T bits, std::memory_order = std::memory_order_seq_cst) {
      return Modify([bits](T old) { return static_cast<T>(old | bits); });
    }

    bool compare_exchange_weak(T& expected, T desired, std::memory_order = std::memory_order_seq_cst,
                               std::memory_order = std::memory_order_seq_cst) {
      const T old = Modify([&](T present) { return present == expected ? desired : present; });
      const bool equal = old == expected;
      expected = old;
      return equal;
    }

   private:
    template <typename Function>
    T Modify(Function function) {
      SteppedWorld::Step();
      if (SteppedWorld::Buffers()) {
        SteppedWorld::Flush();
      }
      const T old = FromBits(value_);
      value_ = ToBits(function(old));
      return old;
    }

    static std::uint64_t ToBits(T value) {
      if constexpr (std::is_pointer_v<T>) {
        return reinterpret_cast<std::uint64_t>(value);
      } else {
        return static_cast<std::uint64_t>(value);
      }
    }

    static T FromBits(std::uint64_t bits) {
      if constexpr (std::is_pointer_v<T>) {
        return reinterpret_cast<T>(bits);
      } else {
        return static_cast<T>(bits);
      }
    }

    std::uint64_t value_;
  };

  template <typename T>
  using Plain = T;

  class Counter {
   public:
    void Add(std::uint64_t amount) { value_ += amount; }
    void RaiseTo(std::uint64_t value) { value_ = value > value_ ? value : value_; }
    std::uint64_t Get() const { return value_; }

   private:
    std::uint64_t value_ = 0;
  };

  // Never waited for here: waiting would need the other thread.
  class Semaphore {
   public:
    void Release() {}
    void Acquire() {}
    bool AcquireFor(std::chrono::milliseconds) { return true; }
  };
};

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_STEPPED_ATOMICS_H_
