// The threads of the process, run one at a time.
//
// One thread has the baton; each other one sleeps on a word of its own. At a point the thread with the baton picks the
// one that goes on (thread_picker.h), writes that down (schedule_text.h), and hands the baton over. What threads wait
// for is kept here, by address, so that it is known who can go on, and that nobody can.
//
// Time is part of the order: it moves by a microsecond a step, and when nobody can go on, to the next deadline. So a
// wait with a limit runs into it only when nothing else can happen, or very much has happened. A thread that yields
// rests until another one has done something.
//
// Thread safety: whoever has the baton has the state; a thread without one is not in here. Nothing is allocated with
// operator new, behind which a scenario may have put faults.
#ifndef HOLDFAST_FAULT_SCHEDULE_ORDER_H_
#define HOLDFAST_FAULT_SCHEDULE_ORDER_H_

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "fault/schedule/schedule_text.h"
#include "fault/schedule/thread_picker.h"

namespace holdfast::schedule {

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

enum class Wait : std::uint8_t { kMutex, kReadWriteLock, kCondition, kSemaphore, kFutex, kOnce, kThread, kTime };

// What becomes of a schedule whose next thread cannot go on: the process ends, or the schedule goes on with the first
// of its later steps that can be taken.
enum class Replay : std::uint8_t { kExact, kLenient };

// A thread of the process. Its number, and with it its letter, is given to a later thread once it has ended.
struct Member {
  enum class State : std::uint8_t { kNone, kReady, kWaits };

  State state = State::kNone;
  bool rests = false;      // it yielded, and nobody else has done anything since
  bool timed_out = false;  // how its last wait ended
  Wait wait{};
  const void* object = nullptr;
  std::int64_t deadline = kNever;
  std::uint64_t since = 0;   // the step at which the wait began
  const char* seen_at = "";  // the name of the last point that the shim told of
  pthread_t thread{};
  std::atomic<int> kernel_thread{0};
  std::atomic<std::uint32_t> baton{0};
  void* (*function)(void*) = nullptr;
  void* argument = nullptr;
  int exit_rounds = 0;
};

class Order {
 public:
  // What the environment asks for; see start.cc. The calling thread becomes thread a, and has the baton.
  void BeginWithStrategy(Strategy strategy, std::uint64_t seed, char* text, std::size_t size);
  void BeginWithReplay(Replay replay, const std::uint8_t* threads, std::size_t steps, char* text, std::size_t size);

  // Another thread may go on here. REQUIRES for these and all below: the calling thread, `self`, has the baton.
  void Point(Member& self, const char* kind, const char* name);
  void Yield(Member& self);

  // Returns once it was woken (true) or the deadline is over (false).
  bool WaitFor(Member& self, Wait wait, const void* object, std::int64_t deadline);

  // Those who wait for the object may go on, the one that waits longest first; how many.
  std::size_t Wake(Wait wait, const void* object, std::size_t most);

  // A thread that takes part from its start on; null if there are too many. Not yet if `Remove` is called.
  Member* Add(void* (*function)(void*), void* argument);
  void Remove(Member& member) { member.state = Member::State::kNone; }

  // The first thing that a new thread does: waits until it has the baton.
  void Enter(Member& self);

  // The last thing.
  void Leave(Member& self);

  bool IsAlive(pthread_t thread) const;

  Member* First() { return members_.data(); }
  std::size_t steps() const { return writer_.steps(); }

  // Since the start, in nanoseconds. Moves a little each time it is asked, so that a loop that waits for it ends.
  std::int64_t Now() { return now_ += kTick; }
  std::int64_t now() const { return now_; }

 private:
  static constexpr std::int64_t kTick = 1'000;
  static constexpr std::int64_t kRest = 1'000'000;  // how long a rest is when everybody rests

  void Begin(char* text, std::size_t size);
  void Step(Member& self, const char* kind, const char* name, bool yields);
  Member& Choose();
  std::size_t FindRunnable();
  bool MoveTime();
  std::size_t TakeFromReplay(std::size_t runnable_count);
  void HandTo(Member& next);
  void Park(Member& self);
  void AddToHash(const char* text);
  [[noreturn]] void EndInDeadlock() const;

  std::size_t NumberOf(const Member& member) const { return static_cast<std::size_t>(&member - members_.data()); }

  std::array<Member, kThreadsMax> members_;
  std::array<std::size_t, kThreadsMax> runnable_{};
  std::int64_t now_ = 0;
  std::uint32_t hash_ = 2166136261;  // FNV-1a
  ScheduleWriter writer_;
  RandomNumbers random_{0};
  ThreadPicker<kThreadsMax> picker_{Strategy::kRandom};
  const std::uint8_t* replay_ = nullptr;  // null: pick
  std::size_t replay_steps_ = 0;
  std::size_t replayed_ = 0;  // how many of them are behind us
  bool is_exact_ = true;
  std::size_t last_ = 0;  // who has the baton
};

}  // namespace holdfast::schedule

#endif  // HOLDFAST_FAULT_SCHEDULE_ORDER_H_
