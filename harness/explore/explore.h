// The primitives of programs under exploration: atomics, fences, plain variables, locks and choices.
//
// A program is a function that sets up shared state and threads (see program.h):
//
//   struct State {
//     explore::atomic<int> flag{0};
//     explore::var<int> data{0};
//   };
//   void MessagePassing(explore::Threads& threads) {
//     State& state = threads.Make<State>();
//     threads.Add("writer", [&state] { state.data = 1; state.flag.store(1, std::memory_order_release); });
//     threads.Add("reader", [&state] {
//       if (state.flag.load(std::memory_order_acquire) == 1) { explore::Require(state.data == 1, "the data has come");
//       }
//     });
//   }
//
// Templates that take their atomics as a parameter take explore::Atomics.
//
// Not modelled: reads of what runs later (load buffering); the out-of-thin-air executions that C++ allows on paper;
// consume, which is acquire here; volatile; mixed-size and non-atomic access to an atomic; time: a wait with a limit
// may end at any moment; exceptions in flight while threads switch; std::mutex and the like of the standard library.
#ifndef HOLDFAST_HARNESS_EXPLORE_EXPLORE_H_
#define HOLDFAST_HARNESS_EXPLORE_EXPLORE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "harness/explore/machine.h"
#include "harness/explore/program.h"
#include "harness/scenario/source_place.h"

namespace holdfast::explore {

using Place = harness::SourcePlace;

// Ends the execution with a finding unless `holds`.
inline void Require(bool holds, const char* what, Place place = Place::Here()) {
  if (!holds) {
    Machine::Current().FailProgram(Verdict::kAssertion, place.Text() + ": not so: " + what);
  }
}

// Work was left behind with nobody on the way to it.
inline void RequireNotStranded(bool holds, const char* what, Place place = Place::Here()) {
  if (!holds) {
    Machine::Current().FailProgram(Verdict::kStrandedWork, place.Text() + ": " + what);
  }
}

inline constexpr std::uint64_t kAlternativesMax = 1024;

// One of `count` numbers from 0 on: a point of the search, as what a thread reads is. Put what usually happens at 0.
inline std::uint64_t Choose(std::uint64_t count, Place place = Place::Here()) {
  if (count == 0 || count > kAlternativesMax) {
    Machine::Current().FailProgram(Verdict::kMisuse, place.Text() + ": a choice of " + std::to_string(count) +
                                                         "; it must have 1 to " + std::to_string(kAlternativesMax));
  }
  Operation operation;
  operation.kind = EventKind::kChoice;
  operation.operand = count;
  operation.place = place;
  return Machine::Current().Perform(operation).value_read;
}

// Whether something that may go wrong does so here: a host refuses, a wakeup is lost, memory is short.
inline bool Fails(Place place = Place::Here()) { return Choose(2, place) == 1; }

inline void Fence(std::memory_order order, Place place = Place::Here()) {
  Operation operation;
  operation.kind = EventKind::kFence;
  operation.order = order;
  operation.place = place;
  Machine::Current().Perform(operation);
}

namespace internal {

template <typename T>
std::uint64_t ToBits(T value) {
  // NOLINTBEGIN(bugprone-sizeof-expression): a pointer is a value like others
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
  // NOLINTEND(bugprone-sizeof-expression)
}

template <typename T>
T FromBits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));  // NOLINT(bugprone-sizeof-expression): as above
  return value;
}

// What a failing compare-exchange asks of memory, by the order of the successful one.
constexpr std::memory_order FailureOrder(std::memory_order order) {
  return order == std::memory_order_acq_rel   ? std::memory_order_acquire
         : order == std::memory_order_release ? std::memory_order_relaxed
                                              : order;
}

}  // namespace internal

// As std::atomic. The place in a call is where tables say that it happens.
template <typename T>
class atomic {  // NOLINT(readability-identifier-naming): named as what it stands for
 public:
  using value_type = T;
  using Order = std::memory_order;

  atomic(Place place = Place::Here()) : atomic(T{}, place) {}  // NOLINT(google-explicit-constructor)
  atomic(T value, Place place = Place::Here())                 // NOLINT(google-explicit-constructor)
      : location_(Machine::Current().CreateLocation(internal::ToBits(value), place)) {}
  ~atomic() { Machine::Current().DestroyLocation(location_, Place::Here()); }
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  // For tables; `name` must be a literal.
  void Name(const char* name) { Machine::Current().NameLocation(location_, name); }

  T load(Order order = Order::seq_cst, Place place = Place::Here()) const {
    Operation operation = Make(EventKind::kRead, order, place);
    return internal::FromBits<T>(Machine::Current().Perform(operation).value_read);
  }

  void store(T value, Order order = Order::seq_cst, Place place = Place::Here()) {
    Operation operation = Make(EventKind::kWrite, order, place);
    operation.operand = internal::ToBits(value);
    Machine::Current().Perform(operation);
  }

  T exchange(T value, Order order = Order::seq_cst, Place place = Place::Here()) {
    return ReadModifyWrite(nullptr, value, order, place);
  }

  bool compare_exchange_strong(T& expected, T wanted, Order success, Order failure, Place place = Place::Here()) {
    return CompareExchange(expected, wanted, success, failure, false, place);
  }
  bool compare_exchange_strong(T& expected, T wanted, Order order = Order::seq_cst, Place place = Place::Here()) {
    return CompareExchange(expected, wanted, order, internal::FailureOrder(order), false, place);
  }
  bool compare_exchange_weak(T& expected, T wanted, Order success, Order failure, Place place = Place::Here()) {
    return CompareExchange(expected, wanted, success, failure, true, place);
  }
  bool compare_exchange_weak(T& expected, T wanted, Order order = Order::seq_cst, Place place = Place::Here()) {
    return CompareExchange(expected, wanted, order, internal::FailureOrder(order), true, place);
  }

  T fetch_add(T operand, Order order = Order::seq_cst, Place place = Place::Here()) {
    return ReadModifyWrite(&Apply<Add>, operand, order, place);
  }
  T fetch_sub(T operand, Order order = Order::seq_cst, Place place = Place::Here()) {
    return ReadModifyWrite(&Apply<Subtract>, operand, order, place);
  }
  T fetch_and(T operand, Order order = Order::seq_cst, Place place = Place::Here()) {
    return ReadModifyWrite(&Apply<And>, operand, order, place);
  }
  T fetch_or(T operand, Order order = Order::seq_cst, Place place = Place::Here()) {
    return ReadModifyWrite(&Apply<Or>, operand, order, place);
  }
  T fetch_xor(T operand, Order order = Order::seq_cst, Place place = Place::Here()) {
    return ReadModifyWrite(&Apply<ExclusiveOr>, operand, order, place);
  }

  operator T() const { return load(); }  // NOLINT(google-explicit-constructor)
  T operator=(T value) {                 // NOLINT(misc-unconventional-assign-operator): as std::atomic
    store(value);
    return value;
  }

 private:
  struct Add {
    static T Of(T read, T operand) { return static_cast<T>(read + operand); }
  };
  struct Subtract {
    static T Of(T read, T operand) { return static_cast<T>(read - operand); }
  };
  struct And {
    static T Of(T read, T operand) { return static_cast<T>(read & operand); }
  };
  struct Or {
    static T Of(T read, T operand) { return static_cast<T>(read | operand); }
  };
  struct ExclusiveOr {
    static T Of(T read, T operand) { return static_cast<T>(read ^ operand); }
  };

  template <typename Function>
  static bool Apply(std::uint64_t read, std::uint64_t operand, std::uint64_t /*expected*/, std::uint64_t* written) {
    *written = internal::ToBits(Function::Of(internal::FromBits<T>(read), internal::FromBits<T>(operand)));
    return true;
  }

  static bool Compare(std::uint64_t read, std::uint64_t operand, std::uint64_t expected, std::uint64_t* written) {
    *written = operand;
    return read == expected;
  }

  Operation Make(EventKind kind, Order order, Place place) const {
    Operation operation;
    operation.kind = kind;
    operation.order = order;
    operation.location = location_;
    operation.place = place;
    return operation;
  }

  T ReadModifyWrite(Transform transform, T operand, Order order, Place place) {
    Operation operation = Make(EventKind::kReadModifyWrite, order, place);
    operation.transform = transform;
    operation.operand = internal::ToBits(operand);
    return internal::FromBits<T>(Machine::Current().Perform(operation).value_read);
  }

  bool CompareExchange(T& expected, T wanted, Order success, Order failure, bool is_weak, Place place) {
    Operation operation = Make(EventKind::kReadModifyWrite, success, place);
    operation.failure_order = failure;
    operation.may_fail_spuriously = is_weak;
    operation.transform = &Compare;
    operation.operand = internal::ToBits(wanted);
    operation.expected = internal::ToBits(expected);
    const OperationResult result = Machine::Current().Perform(operation);
    if (!result.has_written) {
      expected = internal::FromBits<T>(result.value_read);
    }
    return result.has_written;
  }

  const std::uint16_t location_;
};

// A plain variable: two accesses of which one writes and neither happens before the other are a data race.
template <typename T>
class var {  // NOLINT(readability-identifier-naming)
 public:
  var(T value = T{}, Place place = Place::Here())  // NOLINT(google-explicit-constructor)
      : value_(std::move(value)), location_(Machine::Current().CreateLocation(0, place)) {}
  ~var() { Machine::Current().DestroyLocation(location_, Place::Here()); }
  var(const var& other) : var(other.Get()) {}
  var& operator=(const var& other) {
    Set(other.Get());
    return *this;
  }

  void Name(const char* name) { Machine::Current().NameLocation(location_, name); }

  T Get(Place place = Place::Here()) const {
    Machine::Current().PlainRead(location_, place);
    return value_;
  }
  void Set(T value, Place place = Place::Here()) {
    Machine::Current().PlainWrite(location_, place);
    value_ = std::move(value);
  }

  operator T() const { return Get(); }  // NOLINT(google-explicit-constructor)
  var& operator=(T value) {
    Set(std::move(value));
    return *this;
  }
  T operator->() const { return Get(); }

 private:
  T value_;
  const std::uint16_t location_;
};

// Counts up and down; who finds it at zero waits.
class semaphore {  // NOLINT(readability-identifier-naming)
 public:
  explicit semaphore(std::uint64_t count = 0, Place place = Place::Here())
      : location_(Machine::Current().CreateLocation(count, place)) {}
  ~semaphore() { Machine::Current().DestroyLocation(location_, Place::Here()); }
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  void release(Place place = Place::Here());
  void acquire(Place place = Place::Here());
  bool try_acquire(Place place = Place::Here());

 private:
  const std::uint16_t location_;
};

class mutex {  // NOLINT(readability-identifier-naming)
 public:
  explicit mutex(Place place = Place::Here()) : location_(Machine::Current().CreateLocation(0, place)) {}
  ~mutex() { Machine::Current().DestroyLocation(location_, Place::Here()); }
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  void lock(Place place = Place::Here());
  bool try_lock(Place place = Place::Here());
  void unlock(Place place = Place::Here());

 private:
  const std::uint16_t location_;
};

// With a mutex of this library. Wakes up when it is told to, and, as the standard allows, at other times not: a program
// that relies on its condition alone is no worse off.
class condition_variable {  // NOLINT(readability-identifier-naming)
 public:
  explicit condition_variable(Place place = Place::Here()) : location_(Machine::Current().CreateLocation(0, place)) {}
  ~condition_variable() { Machine::Current().DestroyLocation(location_, Place::Here()); }
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  // REQUIRES: the calling thread holds `mutex`.
  template <typename Lock>
  void wait(Lock& lock, Place place = Place::Here()) {
    const std::uint64_t me = BeginWait(place);
    lock.unlock();
    EndWait(me, place);
    lock.lock();
  }
  template <typename Lock, typename Predicate>
  void wait(Lock& lock, Predicate predicate, Place place = Place::Here()) {
    while (!predicate()) {
      wait(lock, place);
    }
  }

  // Which of several waiting threads is woken is a point of the search.
  void notify_one(Place place = Place::Here());
  void notify_all(Place place = Place::Here());

 private:
  std::uint64_t BeginWait(Place place);
  void EndWait(std::uint64_t me, Place place);

  const std::uint16_t location_;  // a bit for each thread that waits
};

// What the templates of lib/cleanup take in place of StandardAtomics.
struct Atomics {
  template <typename T>
  using Atomic = atomic<T>;

  template <typename T>
  using Plain = var<T>;

  // Statistics order nothing and steer nothing, so they are left out of the search.
  class Counter {
   public:
    void Add(std::uint64_t amount) { value_ += amount; }
    std::uint64_t Get() const { return value_; }
    void RaiseTo(std::uint64_t value) { value_ = value > value_ ? value : value_; }

   private:
    std::uint64_t value_ = 0;
  };

  class Semaphore {
   public:
    void Release() { semaphore_.release(); }
    void Acquire() { semaphore_.acquire(); }
    // The limit may pass at any moment.
    bool AcquireFor(std::chrono::milliseconds /*limit*/) { return Choose(2) == 0 && semaphore_.try_acquire(); }

   private:
    semaphore semaphore_;
  };
};

}  // namespace holdfast::explore

#endif  // HOLDFAST_HARNESS_EXPLORE_EXPLORE_H_
