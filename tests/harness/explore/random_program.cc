#include "tests/harness/explore/random_program.h"

#include <array>
#include <random>

#include "harness/explore/explore.h"

namespace holdfast::explore {
namespace {

struct State {
  std::array<atomic<int>, 2> locations{};
  semaphore tokens;
  mutex lock;
};

// Its value is the last that was read.
class Interpreter {
 public:
  explicit Interpreter(State& state) : state_(state) {}

  void Do(const Statement& statement) {
    if (statement.only_after_reading != -1 && statement.only_after_reading != last_read_) {
      return;
    }
    atomic<int>& location = state_.locations[statement.location];
    switch (statement.action) {
      case Action::kLoad:
        last_read_ = location.load(statement.order);
        break;
      case Action::kStore:
        location.store(statement.value, statement.order);
        break;
      case Action::kExchange:
        last_read_ = location.exchange(statement.value, statement.order);
        break;
      case Action::kFetchAdd:
        last_read_ = location.fetch_add(statement.value, statement.order);
        break;
      case Action::kCompareExchange:
        last_read_ = statement.expected;
        location.compare_exchange_strong(last_read_, statement.value, statement.order, statement.failure_order);
        break;
      case Action::kWeakCompareExchange:
        last_read_ = statement.expected;
        location.compare_exchange_weak(last_read_, statement.value, statement.order, statement.failure_order);
        break;
      case Action::kFence:
        Fence(statement.order);
        break;
      case Action::kChoose:
        last_read_ = static_cast<int>(Choose(2));
        break;
      case Action::kRelease:
        state_.tokens.release();
        break;
      case Action::kAcquire:
        state_.tokens.acquire();
        break;
      case Action::kTryAcquire:
        last_read_ = state_.tokens.try_acquire() ? 1 : 0;
        break;
      case Action::kLockedStore:
        state_.lock.lock();
        location.store(statement.value, statement.order);
        state_.lock.unlock();
        break;
      case Action::kAwait:
        while (location.load(statement.order) == 0) {
        }
        break;
      case Action::kActionCount:
        break;
    }
  }

 private:
  State& state_;
  int last_read_ = 0;
};

const char* NameOf(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return "rlx";
    case std::memory_order_consume:
    case std::memory_order_acquire:
      return "acq";
    case std::memory_order_release:
      return "rel";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      return "sc";
  }
  return "?";
}

constexpr std::array<const char*, static_cast<std::size_t>(Action::kActionCount)> kNames{
    "load",   "store",   "exchange", "fetch_add",   "cas",          "weak_cas", "fence",
    "choose", "release", "acquire",  "try_acquire", "locked_store", "await"};

// The standard's distributions are not the same everywhere; this is.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t Below(std::uint64_t count) { return engine_() % count; }

  template <typename T, std::size_t count>
  T Of(const std::array<T, count>& values) {
    return values[Below(count)];
  }

  std::memory_order Order(Action action) {
    using Order = std::memory_order;
    switch (action) {
      case Action::kLoad:
      case Action::kAwait:
        return Of(std::array{Order::relaxed, Order::acquire, Order::seq_cst});
      case Action::kStore:
      case Action::kLockedStore:
        return Of(std::array{Order::relaxed, Order::release, Order::seq_cst});
      case Action::kFence:
        return Of(std::array{Order::acquire, Order::release, Order::acq_rel, Order::seq_cst, Order::seq_cst});
      default:
        return Of(std::array{Order::relaxed, Order::acquire, Order::release, Order::acq_rel, Order::seq_cst});
    }
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace

Listing Draw(std::uint64_t seed, const Mix& mix) {
  Dice dice(seed);
  Listing listing(mix.threads);
  for (std::vector<Statement>& thread : listing) {
    thread.resize(2 + dice.Below(mix.statements_max - 1));
    for (Statement& statement : thread) {
      statement.action = mix.actions[dice.Below(mix.actions.size())];
      statement.location = static_cast<std::uint8_t>(dice.Below(mix.locations));
      statement.order = mix.only_seq_cst ? std::memory_order_seq_cst : dice.Order(statement.action);
      statement.failure_order = mix.only_seq_cst ? std::memory_order_seq_cst : dice.Order(Action::kLoad);
      statement.value = static_cast<int>(1 + dice.Below(2));
      statement.expected = static_cast<int>(dice.Below(2));
      statement.only_after_reading = dice.Below(4) == 0 ? static_cast<int>(dice.Below(3)) : -1;
    }
  }
  return listing;
}

Program MakeProgram(const Listing& listing) {
  Program program;
  program.set_up = [listing](Threads& threads) {
    State& state = threads.Make<State>();
    const Listing& kept = threads.Make<Listing>(listing);
    for (std::size_t thread = 0; thread < kept.size(); ++thread) {
      threads.Add(std::to_string(thread), [&state, &statements = kept[thread]] {
        Interpreter interpreter(state);
        for (const Statement& statement : statements) {
          interpreter.Do(statement);
        }
      });
    }
  };
  return program;
}

std::string TextOf(const Listing& listing) {
  std::string text;
  for (const std::vector<Statement>& thread : listing) {
    text += "thread:\n";
    for (const Statement& statement : thread) {
      text += "  ";
      if (statement.only_after_reading != -1) {
        text += "if (last == " + std::to_string(statement.only_after_reading) + ") ";
      }
      text += std::string(kNames[static_cast<std::size_t>(statement.action)]) + "(" +
              std::to_string(statement.location) + ", " + std::to_string(statement.expected) + "->" +
              std::to_string(statement.value) + ", " + NameOf(statement.order) + "/" + NameOf(statement.failure_order) +
              ")\n";
    }
  }
  return text;
}

}  // namespace holdfast::explore
