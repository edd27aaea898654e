// A12: at no interleaving of an enqueue with a drain, or of two enqueues, is a payload left behind with no wakeup
// outstanding.
//
// Intent: run the shipped queue under SteppedAtomics: one operation step by step, another placed whole between any two
// of its steps, with stores that take effect late, as on x86. Afterwards the system is quiet: either the queue is
// empty, or a wakeup is outstanding, or a refusal has been told to the retry. Then let the wakeups run: everything must
// have been released, once.
//
// Interleaving: enumerated. A few hundred runs, each in microseconds; no driver and no second thread takes part.
//
// Expected verdict: passed.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/scenario/context.h"
#include "harness/scenario/scenario.h"
#include "lib/cleanup/cleanup_queue.h"
#include "scenarios/support/stepped_atomics.h"

namespace holdfast::scenarios {
namespace {

using Queue = cleanup::CleanupQueue<SteppedAtomics>;
using Item = cleanup::CleanupItem<SteppedAtomics>;

// A host that takes wakeups, except for as many as it is told to refuse.
class SteppedWakeup : public cleanup::Wakeup {
 public:
  void RefuseNext(int refusals) { refusals_ = refusals; }
  void Start(cleanup::DrainFunction) override {}
  void Stop() noexcept override {}

  bool Request() noexcept override {
    if (refusals_ > 0) {
      --refusals_;
      return false;
    }
    ++outstanding_;
    outstanding_peak_ = outstanding_ > outstanding_peak_ ? outstanding_ : outstanding_peak_;
    return true;
  }

  // True if there was one to run.
  bool Take() { return outstanding_ > 0 && outstanding_-- > 0; }
  int outstanding() const { return outstanding_; }
  int outstanding_peak() const { return outstanding_peak_; }

 private:
  int refusals_ = 0;
  int outstanding_ = 0;
  int outstanding_peak_ = 0;
};

struct Payload : Item {
  Payload() : Item(&Release) {}
  static void Release(Item* item) noexcept { ++static_cast<Payload*>(item)->releases; }
  int releases = 0;
};

// One queue, up to four payloads, and the two operations that meet.
struct World {
  World() : queue(wakeup, nullptr, {&Alert, this}) {}

  // The retry at its earliest: it comes at the very moment of the alert, and is content if it may be.
  static void Alert(void* world) noexcept {
    auto* self = static_cast<World*>(world);
    self->alerts = self->queue.RequestIfNeeded() ? 0 : self->alerts + 1;
  }

  void Enqueue() { queue.Enqueue(&payloads[enqueued++]); }

  // What the host does when the accepted wakeup's time has come.
  void RunWakeup() {
    if (wakeup.Take()) {
      queue.DrainForWakeup();
    }
  }

  SteppedWakeup wakeup;
  int alerts = 0;
  Queue queue;
  Payload payloads[4];
  int enqueued = 0;
};

using Operation = std::function<void(World&)>;

struct Meeting {
  const char* name;
  int enqueued_before;
  Operation outer;
  Operation inner;
};

void Finish(World& world) {
  while (world.alerts > 0 && !world.queue.RequestIfNeeded()) {
  }
  while (world.wakeup.outstanding() > 0) {
    world.RunWakeup();
  }
}

// False once the outer operation has fewer steps than `step`.
bool RunMeeting(harness::Context& context, const Meeting& meeting, int refusals, std::uint64_t step) {
  World world;
  for (int i = 0; i < meeting.enqueued_before; ++i) {
    world.Enqueue();
  }
  world.wakeup.RefuseNext(refusals);
  const bool met = SteppedWorld::Run(
      step, [&] { meeting.outer(world); }, [&] { meeting.inner(world); });
  const std::string where =
      std::string(meeting.name) + ", at step " + std::to_string(step) + ", refusals " + std::to_string(refusals);
  context.Check(!world.queue.HasWork() || world.wakeup.outstanding() > 0 || world.alerts > 0,
                "stranded work: the queue is not empty and no wakeup is outstanding: " + where);
  context.Check(world.wakeup.outstanding_peak() <= 1, "at most one wakeup is outstanding: " + where);
  Finish(world);
  for (int i = 0; i < world.enqueued; ++i) {
    context.Check(world.payloads[i].releases == 1, "each payload is released exactly once: " + where);
  }
  return met;
}

void Run(harness::Context& context) {
  const Operation enqueue = [](World& world) { world.Enqueue(); };
  const Operation wakeup = [](World& world) { world.RunWakeup(); };
  const Operation drain = [](World& world) { world.queue.Drain(); };
  const Operation retry = [](World& world) { world.queue.RequestIfNeeded(); };
  const Operation enqueue_twice = [](World& world) {
    world.Enqueue();
    world.Enqueue();
  };
  const std::vector<Meeting> meetings = {
      {"a drain meets an enqueue", 1, wakeup, enqueue},
      {"a drain meets two enqueues", 1, wakeup, enqueue_twice},
      {"an enqueue meets a drain", 1, enqueue, wakeup},
      {"an enqueue meets an enqueue", 0, enqueue, enqueue},
      {"an explicit drain meets an enqueue", 1, drain, enqueue},
      {"a wakeup's drain meets an explicit drain", 1, wakeup, drain},
      {"two enqueues meet a drain", 1, enqueue_twice, wakeup},
      {"an enqueue meets a retry", 0, enqueue, retry},
      {"a retry meets an enqueue", 0, retry, enqueue},
      {"a retry meets a drain", 1, retry, drain},
      {"a wakeup's drain meets a retry", 2, wakeup, retry},
  };
  std::uint64_t runs = 0;
  for (const Meeting& meeting : meetings) {
    for (int refusals = 0; refusals <= 2; ++refusals) {
      std::uint64_t step = 1;
      while (RunMeeting(context, meeting, refusals, step)) {
        ++step;
        ++runs;
      }
      context.Check(step > 4, std::string("the meeting has steps to meet at: ") + meeting.name);
    }
  }
  context.Count("interleavings", runs);
  context.Oracle("stranded work and releases over all interleavings");
}

const harness::Registration registration({
    .name = "A12.no-lost-wakeup-at-any-step",
    .summary = "No interleaving of enqueues and drains leaves a payload behind without a wakeup",
    .covers = {"A12", "D-01", "D-02", "DC-02", "DC-04", "DC-06", "DC-07"},
    .catches = {"lost-wakeup", "wakeup-before-the-payload-is-linked", "refused-wakeup-never-retried",
                "retry-told-before-the-flag-is-back", "one-pending-call-a-payload"},
    .variants = harness::SingleVariant(),
    .run = &Run,
});

}  // namespace
}  // namespace holdfast::scenarios
