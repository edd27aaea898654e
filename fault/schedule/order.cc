#include "fault/schedule/order.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <span>

#include "fault/schedule/ending.h"
#include "fault/schedule/real_functions.h"

namespace holdfast::schedule {
namespace {

// A schedule's length is not known before it ends, so each change of a priority is as likely among the first 8 choices
// as among the 8 after them, the 16 after those, and so on to the 16384th.
constexpr std::size_t kFirstStretch = 8;
constexpr std::size_t kStretches = 12;

// Those that a bug is likely to be between.
constexpr std::size_t kFavourites = 4;

std::size_t DrawChange(RandomNumbers& random) {
  const std::size_t stretch = random.Below(kStretches);
  const std::size_t length = stretch == 0 ? kFirstStretch : kFirstStretch << (stretch - 1);
  return (stretch == 0 ? 0 : length) + random.Below(length);
}

}  // namespace

void Order::Begin(char* text, std::size_t size) {
  writer_.Begin(text, size);
  Member& self = members_[0];
  self.state = Member::State::kReady;
  self.thread = pthread_self();
  self.kernel_thread = gettid();
}

void Order::BeginWithStrategy(Strategy strategy, std::uint64_t seed, char* text, std::size_t size) {
  Begin(text, size);
  random_ = RandomNumbers(RandomNumbers(seed).Next());
  picker_ = ThreadPicker<kThreadsMax>(strategy);
  picker_.Begin(random_, kFavourites, kThreadsMax);
  for (std::size_t index = 0; index < picker_.kPriorityChanges; ++index) picker_.SetChange(index, DrawChange(random_));
}

void Order::BeginWithReplay(Replay replay, const std::uint8_t* threads, std::size_t steps, char* text,
                            std::size_t size) {
  Begin(text, size);
  is_exact_ = replay == Replay::kExact;
  replay_ = threads;
  replay_steps_ = steps;
}

void Order::Point(Member& self, const char* kind, const char* name) { Step(self, kind, name, /*yields=*/false); }

void Order::Yield(Member& self) {
  self.rests = true;
  picker_.Lower(NumberOf(self));
  Step(self, "yield", "", /*yields=*/true);
}

bool Order::WaitFor(Member& self, Wait wait, const void* object, std::int64_t deadline) {
  self.state = Member::State::kWaits;
  self.wait = wait;
  self.object = object;
  self.deadline = deadline;
  self.since = writer_.steps();
  self.timed_out = false;
  Step(self, "wait", WordsOf(wait), /*yields=*/false);
  return !self.timed_out;
}

std::size_t Order::Wake(Wait wait, const void* object, std::size_t most) {
  std::size_t woken = 0;
  while (woken < most) {
    Member* longest = nullptr;
    for (Member& member : members_) {
      const bool waits = member.state == Member::State::kWaits && member.wait == wait && member.object == object;
      if (waits && (longest == nullptr || member.since < longest->since)) longest = &member;
    }
    if (longest == nullptr) break;
    longest->state = Member::State::kReady;
    ++woken;
  }
  return woken;
}

Member* Order::Add(void* (*function)(void*), void* argument) {
  for (Member& member : members_) {
    if (member.state != Member::State::kNone) continue;
    member.state = Member::State::kReady;
    member.rests = false;
    member.seen_at = "";
    member.function = function;
    member.argument = argument;
    member.exit_rounds = 0;
    return &member;
  }
  return nullptr;
}

void Order::Enter(Member& self) {
  self.kernel_thread = gettid();
  Park(self);
}

void Order::Leave(Member& self) {
  self.state = Member::State::kNone;
  self.kernel_thread = 0;
  Wake(Wait::kThread, reinterpret_cast<const void*>(self.thread), kThreadsMax);
  AddToHash("end");
  HandTo(Choose());
}

bool Order::IsAlive(pthread_t thread) const {
  for (const Member& member : members_) {
    if (member.state != Member::State::kNone && pthread_equal(member.thread, thread) != 0) return true;
  }
  return false;
}

void Order::Step(Member& self, const char* kind, const char* name, bool yields) {
  now_ += kTick;
  for (Member& member : members_) member.rests = member.rests && (yields || &member == &self);
  AddToHash(kind);
  AddToHash(name);
  Member& next = Choose();
  if (&next == &self) return;
  HandTo(next);
  Park(self);
}

// Adds the text with its end.
void Order::AddToHash(const char* text) {
  hash_ = (hash_ ^ static_cast<std::uint32_t>(last_)) * 16777619;
  do {
    hash_ = (hash_ ^ static_cast<unsigned char>(*text)) * 16777619;
  } while (*text++ != '\0');
}

// Who goes on; written down, and made ready.
Member& Order::Choose() {
  std::size_t count = FindRunnable();
  while (count == 0) {
    if (!MoveTime()) EndInDeadlock();
    count = FindRunnable();
  }
  const std::size_t thread =
      replay_ != nullptr ? TakeFromReplay(count) : picker_.Pick(random_, std::span(runnable_).first(count));
  if (count > 1) picker_.CountStep();  // where there is no choice a change of priorities would be wasted
  if (!writer_.Append(thread, hash_)) EndOutOfOrder("it takes more steps than can be written down", writer_.steps());
  Member& member = members_[thread];
  if (member.state == Member::State::kWaits) {
    member.state = Member::State::kReady;
    member.timed_out = true;
  }
  member.rests = false;
  last_ = thread;
  return member;
}

// Fills runnable_ with those that can go on; how many.
std::size_t Order::FindRunnable() {
  std::size_t count = 0;
  for (const Member& member : members_) {
    const bool is_ready = member.state == Member::State::kReady && !member.rests;
    const bool is_late = member.state == Member::State::kWaits && member.deadline <= now_;
    if (is_ready || is_late) runnable_[count++] = NumberOf(member);
  }
  return count;
}

// Moves the time on to where somebody can go on; false if nobody ever can. REQUIRES: nobody can now.
bool Order::MoveTime() {
  std::int64_t deadline = kNever;
  bool somebody_rests = false;
  for (const Member& member : members_) {
    if (member.state == Member::State::kWaits && member.deadline < deadline) deadline = member.deadline;
    somebody_rests = somebody_rests || (member.state == Member::State::kReady && member.rests);
  }
  if (!somebody_rests && deadline == kNever) return false;
  if (!somebody_rests || deadline <= now_ + kRest) {
    now_ = deadline;
    return true;
  }
  now_ += kRest;
  for (Member& member : members_) member.rests = false;
  return true;
}

// Behind its end the thread that has the baton keeps it; the harness compares, and sees that there was more.
std::size_t Order::TakeFromReplay(std::size_t runnable_count) {
  const auto runnable = std::span(runnable_).first(runnable_count);
  const auto can_go_on = [&](std::size_t thread) {
    return std::find(runnable.begin(), runnable.end(), thread) != runnable.end();
  };
  while (replayed_ < replay_steps_) {
    const std::size_t wanted = replay_[replayed_++];
    if (can_go_on(wanted)) return wanted;
    if (is_exact_) {
      char reason[] = "thread ? cannot go on";
      reason[7] = LetterOf(wanted);
      EndOutOfOrder(reason, replayed_);
    }
  }
  return can_go_on(last_) ? last_ : runnable.front();
}

// Memory ordering: release here and acquire in Park: the baton hands over the state of the order, and all that its last
// holder did.
void Order::HandTo(Member& next) {
  next.baton.store(1, std::memory_order_release);
  Real().syscall(SYS_futex, &next.baton, FUTEX_WAKE_PRIVATE, 1);
}

void Order::Park(Member& self) {
  while (self.baton.load(std::memory_order_acquire) == 0) {
    Real().syscall(SYS_futex, &self.baton, FUTEX_WAIT_PRIVATE, 0, nullptr);
  }
  self.baton.store(0, std::memory_order_relaxed);  // whoever sets it again has the baton from this thread
}

void Order::EndInDeadlock() const { EndWithDeadlock(members_); }

}  // namespace holdfast::schedule
