// HandleRegistry: finds the live handle of a driver object by its raw value, as it is read back from the driver.
#ifndef HOLDFAST_LIB_HANDLES_HANDLE_REGISTRY_H_
#define HOLDFAST_LIB_HANDLES_HANDLE_REGISTRY_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace holdfast::handles {

// What the registry is written against, as the program ships with it. An explorer of interleavings has its own.
struct StandardConcurrency {
  using Mutex = std::mutex;

  template <typename T>
  using Shared = std::shared_ptr<T>;

  template <typename T>
  using Weak = std::weak_ptr<T>;

  // An ordinary variable; an explorer checks it for races.
  template <typename T>
  using Plain = T;
};

// Keeps nothing alive. CUDA gives a raw value out again as soon as its object is gone, to whichever thread asks next:
// the younger object's entry then replaces the older one's, and an object takes out no entry but its own.
//
// `Object` has raw(), which never changes.
//
// Thread safety: all members from any thread. The lock is held for the look-up alone; no handle is dropped under it.
template <typename Object, typename Concurrency = StandardConcurrency>
class HandleRegistry {
 public:
  using Raw = decltype(std::declval<const Object&>().raw());
  using Handle = typename Concurrency::template Shared<const Object>;

  HandleRegistry() = default;
  HandleRegistry(const HandleRegistry&) = delete;
  HandleRegistry& operator=(const HandleRegistry&) = delete;

  // The one of this process. Never destroyed: handles may go while the process ends.
  static HandleRegistry& Process() {
    static HandleRegistry* const registry = new HandleRegistry;
    return *registry;
  }

  // For an object that has just been made. Throws std::bad_alloc; nothing is registered then.
  void Add(const Handle& created) {
    const std::lock_guard lock(mutex_);
    entries_[created->raw()] = Entry{created.get(), created};
  }

  // For one that was looked up: the live handle of the same raw value, else `created`, which is registered. Throws
  // std::bad_alloc; nothing is registered then.
  Handle FindOrAdd(const Handle& created) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[created->raw()];
    if (Handle existing = entry.handle.lock()) {
      return existing;
    }
    entry = Entry{created.get(), created};
    return created;
  }

  // Null if there is none.
  Handle Find(Raw raw) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(raw);
    return found != entries_.end() ? found->second.handle.lock() : nullptr;
  }

  // For the object's destructor. Does nothing if it has no entry, or another object has taken it over.
  void Remove(const Object& object) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(object.raw());
    if (found != entries_.end() && found->second.object == &object) {
      entries_.erase(found);
    }
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    typename Concurrency::template Plain<const Object*> object = nullptr;
    typename Concurrency::template Weak<const Object> handle;
  };

  mutable typename Concurrency::Mutex mutex_;
  std::unordered_map<Raw, Entry> entries_;  // guarded by mutex_
};

}  // namespace holdfast::handles

#endif  // HOLDFAST_LIB_HANDLES_HANDLE_REGISTRY_H_
