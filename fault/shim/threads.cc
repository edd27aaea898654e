#include "fault/shim/threads.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>

#include "fault/shim/injector.h"
#include "fault/shim/start.h"

namespace holdfast::fault {
namespace {

// Of the initial-exec kind, so that reaching them allocates nothing, not even at the first touch on a driver's thread.
thread_local Thread* t_thread __attribute__((tls_model("initial-exec"))) = nullptr;
thread_local bool t_recording __attribute__((tls_model("initial-exec"))) = false;

std::mutex g_mutex;
// All below: guarded by g_mutex.
Thread* g_threads = nullptr;
bool g_main_arrived = false;
std::uint32_t g_next_subject = 1;
std::uint32_t g_next_callback = 0;

ThreadName NextName(Arrival arrival) {
  if (arrival == Arrival::kCallback) return {Role::kCallback, g_next_callback++};
  if (g_main_arrived) return {Role::kSubject, g_next_subject++};
  g_main_arrived = true;
  return {Role::kMain, 0};
}

// From malloc and not operator new: a subject may have put a faulted allocator behind the latter.
template <typename Item>
Item* NewOf(std::size_t count) {
  void* memory = std::calloc(count, sizeof(Item));
  if (memory == nullptr) std::abort();
  auto* items = static_cast<Item*>(memory);
  for (std::size_t index = 0; index < count; ++index) new (items + index) Item();
  return items;
}

Thread* RecordThread(Arrival arrival) {
  Thread* thread = NewOf<Thread>(1);
  thread->visits = NewOf<std::atomic<std::uint64_t>>(AllSites().size());
  thread->visits_in_step = NewOf<StepCount>(AllSites().size());
  thread->memory = TheInjector().table().NewMemory();
  const std::lock_guard lock(g_mutex);
  thread->name = NextName(arrival);
  thread->next = g_threads;
  g_threads = thread;
  return thread;
}

}  // namespace

std::uint8_t Thread::contexts() const {
  const auto bit = [](int depth, Context context) { return depth > 0 ? static_cast<int>(context) : 0; };
  // Relaxed: only a capture that ends on another thread lowers it from outside, and the caller synchronises that.
  return static_cast<std::uint8_t>(bit(captures.load(std::memory_order_relaxed), Context::kCapture) |
                                   bit(drains, Context::kDrain) | bit(callbacks, Context::kCallback) |
                                   bit(finalizations, Context::kFinalization));
}

std::string Thread::Text() const {
  std::string text(WordOf(name.role));
  return name.role == Role::kMain ? text : text + "-" + std::to_string(name.ordinal);
}

Thread* CurrentThread(Arrival arrival) {
  if (t_thread != nullptr) return t_thread;
  if (t_recording) return nullptr;
  t_recording = true;
  if (EnsureStarted()) t_thread = RecordThread(arrival);
  t_recording = false;
  return t_thread;
}

Thread* KnownThread() { return t_thread; }

InsideCallback::InsideCallback(Thread& thread, const char* kind)
    : thread_(thread), inside_(thread.inside), callback_(thread.callback) {
  thread_.inside = 0;
  thread_.callback = kind;
  ++thread_.callbacks;
}

InsideCallback::~InsideCallback() {
  thread_.inside = inside_;
  thread_.callback = callback_;
  --thread_.callbacks;
}

void RenameThread(Thread& thread, ThreadName name) {
  const std::lock_guard lock(g_mutex);
  thread.name = name;
  if (name.role == Role::kMain) g_main_arrived = true;
  if (name.role == Role::kSubject) g_next_subject = std::max(g_next_subject, name.ordinal + 1);
  if (name.role == Role::kCallback) g_next_callback = std::max(g_next_callback, name.ordinal + 1);
}

std::uint64_t CountVisit(Thread& thread, SiteId site) {
  std::atomic<std::uint64_t>& counter = thread.visits[site];
  // Relaxed, and no read-modify-write: this thread alone writes it, and a reader wants a count, not an order.
  const std::uint64_t ordinal = counter.load(std::memory_order_relaxed) + 1;
  counter.store(ordinal, std::memory_order_relaxed);
  return ordinal;
}

std::uint64_t CountVisitInStep(Thread& thread, SiteId site, std::uint32_t announcement) {
  StepCount& count = thread.visits_in_step[site];
  if (count.announcement != announcement) count = {announcement, 0};
  return ++count.visits;
}

std::uint64_t VisitsOf(SiteId site) {
  const std::lock_guard lock(g_mutex);
  std::uint64_t sum = 0;
  for (const Thread* thread = g_threads; thread != nullptr; thread = thread->next) {
    for (std::size_t index = 0; index < AllSites().size(); ++index) {
      if (site == kEverySite || site == index) sum += thread->visits[index].load(std::memory_order_relaxed);
    }
  }
  return sum;
}

void LockThreadsForFork() { g_mutex.lock(); }
void UnlockThreadsAfterFork() { g_mutex.unlock(); }

}  // namespace holdfast::fault
