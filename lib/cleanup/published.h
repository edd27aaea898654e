// A pointer to something that one thread makes and any thread may find.
#ifndef HOLDFAST_LIB_CLEANUP_PUBLISHED_H_
#define HOLDFAST_LIB_CLEANUP_PUBLISHED_H_

#include <atomic>

namespace holdfast::cleanup {

// Thread safety: Get from any thread, Publish from one at a time.
template <typename Atomics, typename T>
class Published {
 public:
  // Memory ordering: release, paired with the acquire of Get.
  void Publish(T* object) noexcept { pointer_.store(object, std::memory_order_release); }

  // Null before the first Publish.
  // Memory ordering: acquire: who sees the pointer sees the object whole.
  T* Get() const noexcept { return pointer_.load(std::memory_order_acquire); }

 private:
  typename Atomics::template Atomic<T*> pointer_{nullptr};
};

}  // namespace holdfast::cleanup

#endif  // HOLDFAST_LIB_CLEANUP_PUBLISHED_H_
