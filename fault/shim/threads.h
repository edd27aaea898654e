// The threads of the subject as the shim knows them: their names, what they are in the middle of, how often they
// visited each site.
//
// The first thread to arrive is "main"; the next ones are "subject-1", "subject-2", ...; a thread on which a callback
// of the driver is the first thing seen is "callback-0", ... A scenario that wants names that do not depend on timing
// names its threads itself (control.h).
//
// Thread safety: a Thread belongs to its thread, but for the counters, which others may read, and `captures`, which the
// thread that ends a capture may lower. A Thread is never freed, since its counts outlive it.
#ifndef HOLDFAST_FAULT_SHIM_THREADS_H_
#define HOLDFAST_FAULT_SHIM_THREADS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fault/plan/decide.h"
#include "fault/shim/armed.h"
#include "fault/shim/timeline.h"

namespace holdfast::fault {

// Calls of one site since a step was announced.
struct StepCount {
  std::uint32_t announcement = 0;  // which one, from 1
  std::uint64_t visits = 0;
};

// The contexts that a thread has announced and not left yet, for the timeline. Those that nest deeper than kMost are
// not in it.
class AnnouncedContexts {
 public:
  struct Context {
    OpenMoment moment;
    std::uint32_t queue = kNotCounted;
  };

  void Enter(const OpenMoment& moment) {
    if (depth_++ < kMost) contexts_[depth_ - 1] = {moment};
  }
  void SetQueue(std::uint32_t queue) {
    if (depth_ > 0 && depth_ <= kMost) contexts_[depth_ - 1].queue = queue;
  }
  Context Leave() {
    if (depth_ == 0) return {};  // one that was never entered
    return depth_-- <= kMost ? contexts_[depth_] : Context{};
  }

 private:
  static constexpr std::size_t kMost = 8;
  std::array<Context, kMost> contexts_;
  std::size_t depth_ = 0;
};

struct Thread {
  ThreadName name;
  // Depth of shim and driver code above the subject's. A call that arrives while this is not 0 is the driver's or ours,
  // not the subject's: it is forwarded and neither counted nor faulted.
  int inside = 0;
  const char* callback = nullptr;  // the kind of callback that runs here; null: none
  int drains = 0;
  int finalizations = 0;
  int callbacks = 0;
  std::atomic<int> captures{0};
  ThreadMemory memory;
  std::atomic<std::uint64_t>* visits = nullptr;  // one a site
  StepCount* visits_in_step = nullptr;           // one a site
  ArmedFaults armed;
  AnnouncedContexts announced;
  Thread* next = nullptr;

  std::uint8_t contexts() const;
  std::string Text() const;
};

enum class Arrival : std::uint8_t { kSubject, kCallback };

// The calling thread; null while the shim starts or while this very thread is being recorded.
Thread* CurrentThread(Arrival arrival);

// The calling thread if it was recorded before, else null. Allocates nothing and takes no lock.
Thread* KnownThread();

// Marks the calling thread as inside the shim for a scope.
class InsideShim {
 public:
  explicit InsideShim(Thread& thread) : thread_(thread) { ++thread_.inside; }
  ~InsideShim() { --thread_.inside; }
  InsideShim(const InsideShim&) = delete;
  InsideShim& operator=(const InsideShim&) = delete;

 private:
  Thread& thread_;
};

// Marks the calling thread as back in the subject's code, inside a callback, for a scope.
class InsideCallback {
 public:
  InsideCallback(Thread& thread, const char* kind);
  ~InsideCallback();
  InsideCallback(const InsideCallback&) = delete;
  InsideCallback& operator=(const InsideCallback&) = delete;

 private:
  Thread& thread_;
  const int inside_;
  const char* const callback_;
};

void RenameThread(Thread& thread, ThreadName name);

// The ordinal of this visit of the site on this thread, from 1.
std::uint64_t CountVisit(Thread& thread, SiteId site);

// The same, counted from the announcement with this number. A thread may see an announcement late, but never go back.
std::uint64_t CountVisitInStep(Thread& thread, SiteId site, std::uint32_t announcement);

// Visits of the site over all threads; kEverySite for all sites.
std::uint64_t VisitsOf(SiteId site);

void LockThreadsForFork();
void UnlockThreadsAfterFork();

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_THREADS_H_
