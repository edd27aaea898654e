// CleanupWorld: the shipped queue with a model host and a few payloads whose fate is checked.
//
// A payload has a plain variable that its producer writes and its release reads, and is destroyed by its release: so a
// release that does not know of the enqueue is a data race, and a look at it later a use after free.
#ifndef HOLDFAST_SCENARIOS_EXPLORE_CLEANUP_WORLD_H_
#define HOLDFAST_SCENARIOS_EXPLORE_CLEANUP_WORLD_H_

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "harness/explore/explore.h"
#include "lib/cleanup/cleanup_queue.h"
#include "scenarios/explore/model_host.h"

namespace holdfast::scenarios {

// So small that two payloads reach the bound of a drain.
struct TinyLimits {
  static constexpr std::size_t kBatchItemsMax = 1;
  static constexpr std::size_t kShutdownDrainsMax = 1;
};

class CleanupWorld {
 public:
  using Queue = cleanup::CleanupQueue<explore::Atomics, TinyLimits>;
  using Item = Queue::Item;

  static constexpr std::size_t kPayloadsMax = 4;

  explicit CleanupWorld(const HostFaults& faults = {}, bool holds_one = false, Queue::RefusalFunction on_refusal = {})
      : host(faults, holds_one), queue(host, nullptr, on_refusal) {}

  // The callback: makes the payload and hands it over.
  void Enqueue(std::size_t index) {
    Payload& payload = payloads_[index].emplace(*this, index);
    payload.content = 1;
    queue.Enqueue(&payload);
  }

  // What the payload's owner does when it is released: it may use the queue.
  void OnRelease(std::size_t index, std::function<void()> action) { on_release_[index] = std::move(action); }

  // The host's thread: runs one accepted wakeup after the other, for ever.
  void RunWakeups() {
    while (true) {
      host.Await();
      queue.DrainForWakeup();
    }
  }

  // At quiescence: those that the host has accepted and not run.
  void RunPendingWakeups() {
    while (host.HasPending()) {
      queue.DrainForWakeup();
    }
  }

  // Whether it was released, for threads that may rely on it.
  bool IsReleased(std::size_t index) const { return releases_[index] == 1; }

  // At quiescence: of the first `count` payloads each was released once, or leaked since it came too late. Payloads
  // that wait are stranded: nothing can run any more.
  void CheckEnd(std::size_t count) const {
    explore::RequireNotStranded(!queue.HasWork(), "payloads are left and nobody is on the way to them");
    std::uint64_t released = 0;
    std::uint64_t leaked = 0;
    for (std::size_t index = 0; index < count; ++index) {
      released += static_cast<std::uint64_t>(releases_[index].Get());
      leaked += payloads_[index].has_value() ? 1 : 0;
      explore::Require(releases_[index] <= 1, "no payload is released twice");
      explore::Require((releases_[index] == 1) != payloads_[index].has_value(), "released, or kept whole");
    }
    const cleanup::CleanupCounters counters = queue.Counters();
    explore::Require(counters.leaked_at_shutdown == leaked, "what was not released is counted as leaked");
    explore::Require(leaked == 0 || queue.IsShutDown(), "nothing is leaked before the end");
    explore::Require(counters.released == released, "the counter of releases is right");
    explore::Require(counters.enqueued + counters.leaked_at_shutdown == count, "each payload is counted once");
  }

  ModelHost host;
  Queue queue;

 private:
  struct Payload : Item {
    Payload(CleanupWorld& in_world, std::size_t own_index) : Item(&Release), world(in_world), index(own_index) {}

    static void Release(Item* item) noexcept {
      auto* const payload = static_cast<Payload*>(item);
      CleanupWorld& world = payload->world;
      const std::size_t index = payload->index;
      world.host.RequireAlive();
      explore::Require(payload->content == 1, "the release sees what the producer wrote");
      world.releases_[index] = world.releases_[index] + 1;
      world.payloads_[index].reset();
      if (world.on_release_[index] != nullptr) {
        world.on_release_[index]();
      }
    }

    CleanupWorld& world;
    const std::size_t index;
    explore::var<int> content{0};
  };

  std::array<explore::var<int>, kPayloadsMax> releases_;
  std::array<std::optional<Payload>, kPayloadsMax> payloads_;
  std::array<std::function<void()>, kPayloadsMax> on_release_;
};

// Threads with a payload each.
inline void AddProducers(explore::Threads& threads, CleanupWorld& world, std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) {
    threads.Add("producer " + std::to_string(index + 1), [&world, index] { world.Enqueue(index); });
  }
}

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_EXPLORE_CLEANUP_WORLD_H_
