#include "fault/schedule/start.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include "fault/schedule/ending.h"
#include "fault/schedule/real_functions.h"

namespace holdfast::schedule {
namespace {

constexpr std::size_t kTextSize = 4 << 20;
constexpr char kLibrary[] = "libholdfast_schedule.so";

enum class Stage : std::uint8_t { kBefore, kStarting, kOrdered, kNotOrdered };

Stage g_stage = Stage::kBefore;
pthread_key_t g_exit_key;
std::int64_t g_start_of_realtime = 0;
std::int64_t g_start_of_monotonic = 0;
alignas(Order) unsigned char g_order[sizeof(Order)];

thread_local Member* t_self __attribute__((tls_model("initial-exec"))) = nullptr;

[[noreturn]] void Refuse(const char* variable, const char* what) {
  dprintf(STDERR_FILENO, "holdfast: %s: %s\n", variable, what);
  _exit(2);
}

const char* Need(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0') Refuse(variable, "it is not set");
  return value;
}

// A file of kTextSize, mapped so that what is written into it stays however the process ends.
char* MapRecord() {
  const int file = open(Need("HOLDFAST_SCHEDULE_RECORD"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  void* memory = MAP_FAILED;
  if (file >= 0 && ftruncate(file, kTextSize) == 0) {
    memory = mmap(nullptr, kTextSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  if (memory == MAP_FAILED) Refuse("HOLDFAST_SCHEDULE_RECORD", std::strerror(errno));
  close(file);
  return static_cast<char*>(memory);
}

std::string_view ReadText() {
  const int file = open(Need("HOLDFAST_SCHEDULE_TAKE"), O_RDONLY | O_CLOEXEC);
  const off_t size = file < 0 ? -1 : lseek(file, 0, SEEK_END);
  if (size <= 0) Refuse("HOLDFAST_SCHEDULE_TAKE", "it is no file with a schedule");
  const auto length = static_cast<std::size_t>(size);
  void* memory = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, file, 0);
  if (memory == MAP_FAILED) Refuse("HOLDFAST_SCHEDULE_TAKE", std::strerror(errno));
  close(file);
  return {static_cast<const char*>(memory), length};
}

void BeginReplay(Order& order, Replay replay) {
  auto* threads = static_cast<std::uint8_t*>(std::malloc(kStepsMax));
  std::size_t steps = 0;
  const ScheduleProblem problem = ReadSchedule(ReadText(), threads, steps);
  if (problem.what != nullptr) Refuse("HOLDFAST_SCHEDULE_TAKE", problem.what);
  order.BeginWithReplay(replay, threads, steps, MapRecord(), kTextSize);
}

void BeginOrder(std::string_view word) {
  Order& order = TheOrder();
  if (word == "replay") return BeginReplay(order, Replay::kExact);
  if (word == "follow") return BeginReplay(order, Replay::kLenient);
  constexpr std::string_view kWords[] = {"random", "pct", "bursts", "starvation"};  // in the order of Strategy
  const auto* const found = std::find(std::begin(kWords), std::end(kWords), word);
  if (found == std::end(kWords)) Refuse("HOLDFAST_SCHEDULE", "it is no strategy, and neither replay nor follow");
  const std::uint64_t seed = std::strtoull(Need("HOLDFAST_SEED"), nullptr, 0);
  order.BeginWithStrategy(static_cast<Strategy>(found - kWords), seed, MapRecord(), kTextSize);
}

// So that what this process starts runs as ever.
void HideFromChildren() {
  unsetenv("HOLDFAST_SCHEDULE");
  const std::string_view preloaded = Need("LD_PRELOAD");
  const std::size_t others = preloaded.find(':');
  if (preloaded.substr(0, others).find(kLibrary) == preloaded.npos) return;
  if (others == preloaded.npos) {
    unsetenv("LD_PRELOAD");
  } else {
    setenv("LD_PRELOAD", preloaded.data() + others + 1, 1);
  }
}

// A thread leaves after the destructors of its thread-local objects, C++ ones first and then, in rounds, those of keys.
void LeaveInLastRound(void* self) {
  auto* member = static_cast<Member*>(self);
  if (++member->exit_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(g_exit_key, self);
    return;
  }
  t_self = nullptr;
  TheOrder().Leave(*member);
}

void BecomeUnordered() {
  g_stage = Stage::kNotOrdered;
  t_self = nullptr;
}

std::int64_t RealTime(clockid_t clock) {
  timespec time{};
  Real().clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

void Start() {
  g_stage = Stage::kStarting;
  Real();
  const char* word = std::getenv("HOLDFAST_SCHEDULE");
  if (word == nullptr || *word == '\0') {
    g_stage = Stage::kNotOrdered;
    return;
  }
  new (g_order) Order;
  BeginOrder(word);
  HideFromChildren();
  g_start_of_realtime = RealTime(CLOCK_REALTIME);
  g_start_of_monotonic = RealTime(CLOCK_MONOTONIC);
  pthread_key_create(&g_exit_key, &LeaveInLastRound);
  pthread_atfork(nullptr, nullptr, &BecomeUnordered);
  t_self = TheOrder().First();
  g_stage = Stage::kOrdered;
}

__attribute__((constructor)) void StartWithTheLibrary() { Self(); }

void* RunThread(void* argument) {
  auto* self = static_cast<Member*>(argument);
  TheOrder().Enter(*self);
  t_self = self;
  pthread_setspecific(g_exit_key, self);
  return self->function(self->argument);
}

}  // namespace

Member* Self() {
  if (g_stage == Stage::kBefore) Start();
  return t_self;
}

Order& TheOrder() { return *std::launder(reinterpret_cast<Order*>(g_order)); }

int CreateThread(Member& self, pthread_t* out, const pthread_attr_t* attributes, void* (*function)(void*),
                 void* argument) {
  Order& order = TheOrder();
  Member* member = order.Add(function, argument);
  if (member == nullptr) EndOutOfOrder("it has more threads at once than have letters", order.steps());
  const int error = Real().pthread_create(&member->thread, attributes, &RunThread, member);
  if (error != 0) {
    order.Remove(*member);
    return error;
  }
  *out = member->thread;
  order.Point(self, "create", "");
  return 0;
}

std::int64_t StartOf(clockid_t clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
      return g_start_of_realtime;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
      return g_start_of_monotonic;
    default:
      return 0;
  }
}

}  // namespace holdfast::schedule
