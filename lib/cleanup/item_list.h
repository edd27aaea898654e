// A list that any thread pushes to and one thread takes whole: the hand-over from driver callbacks to the drain.
#ifndef HOLDFAST_LIB_CLEANUP_ITEM_LIST_H_
#define HOLDFAST_LIB_CLEANUP_ITEM_LIST_H_

#include <atomic>

namespace holdfast::cleanup {

// The intrusive part of every payload, allocated before CUDA ever sees the payload.
template <typename Atomics>
struct CleanupItem {
  // Destroys the payload, this item included. It may release owners and call CUDA, so only a drain calls it.
  using ReleaseFunction = void (*)(CleanupItem*) noexcept;

  explicit CleanupItem(ReleaseFunction release_function) noexcept : release(release_function) {}
  CleanupItem(const CleanupItem&) = delete;
  CleanupItem& operator=(const CleanupItem&) = delete;

  const ReleaseFunction release;
  // Written by the thread that pushes, before the push; by the thread that took the list, after it.
  typename Atomics::template Plain<CleanupItem*> next{nullptr};
};

// Thread safety: Push and Empty from any thread, TakeAll from one at a time.
// No node is ever looked at by a pusher after its push, and the head is only ever taken whole: there is no ABA.
template <typename Atomics>
class ItemList {
 public:
  using Item = CleanupItem<Atomics>;

  // Memory ordering: everything the caller did before Push happens before what the taker does with the item.
  // Release on success, so that the taker sees `next` and the payload; relaxed on failure, where only the value of
  // the pointer is used, for the next attempt.
  void Push(Item* item) noexcept {
    Item* head = head_.load(std::memory_order_relaxed);
    do {
      item->next = head;
    } while (!head_.compare_exchange_weak(head, item, std::memory_order_release, std::memory_order_relaxed));
  }

  // The items pushed since the last call, oldest first, linked by `next`; null if there are none.
  // Memory ordering: acquire, paired with the release of every push that the exchange reads through; the pushes are
  // read-modify-writes, so the newest one carries the release sequences of all older ones. Release, paired with Empty.
  Item* TakeAll() noexcept {
    Item* newest = head_.exchange(nullptr, std::memory_order_acq_rel);
    Item* oldest = nullptr;
    while (newest != nullptr) {
      Item* older = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = older;
    }
    return oldest;
  }

  // A hint. Whoever acts on it asks for a wakeup, which is harmless when the list turns out empty; whoever must not
  // miss an item has a wakeup outstanding instead.
  // Memory ordering: acquire: who sees the list empty sees what the taker did before.
  bool Empty() const noexcept { return head_.load(std::memory_order_acquire) == nullptr; }

 private:
  typename Atomics::template Atomic<Item*> head_{nullptr};
};

}  // namespace holdfast::cleanup

#endif  // HOLDFAST_LIB_CLEANUP_ITEM_LIST_H_
