// The registry of handles: insert, find and remove on several threads, with raw values that come again at once.
//
// Its handles are counted as std::shared_ptr counts them, on atomics of the explorer.
#include <cstddef>

#include "harness/explore/explore.h"
#include "lib/handles/handle_registry.h"
#include "scenarios/explore/programs.h"

namespace holdfast::scenarios {
namespace {

struct Counts {
  explore::atomic<int> strong{1};
  explore::atomic<int> weak{1};  // all strong ones together count as one

  // Memory ordering: who comes to zero knows all that the others did.
  void DropWeak() {
    if (weak.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete this;
    }
  }
};

template <typename T>
class Weak;

template <typename T>
class Shared {
 public:
  Shared() = default;
  Shared(std::nullptr_t) {}  // NOLINT(google-explicit-constructor): as std::shared_ptr
  explicit Shared(T* object) : object_(object), counts_(new Counts) {}
  Shared(const Shared& other) : object_(other.object_), counts_(other.counts_) {
    if (counts_ != nullptr) {
      counts_->strong.fetch_add(1, std::memory_order_relaxed);
    }
  }
  Shared(Shared&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), counts_(std::exchange(other.counts_, nullptr)) {}
  Shared& operator=(const Shared&) = delete;
  ~Shared() {
    if (counts_ != nullptr && counts_->strong.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete object_;
      counts_->DropWeak();
    }
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  friend class Weak<T>;
  Shared(T* object, Counts* counts) : object_(object), counts_(counts) {}

  T* object_ = nullptr;
  Counts* counts_ = nullptr;
};

// The variables are plain: only the registry's lock makes it safe to read one while another thread replaces it.
template <typename T>
class Weak {
 public:
  Weak() = default;
  Weak(const Shared<T>& shared) : object_(shared.object_), counts_(shared.counts_) {  // NOLINT
    shared.counts_->weak.fetch_add(1, std::memory_order_relaxed);
  }
  Weak(const Weak&) = delete;
  Weak& operator=(Weak&& other) noexcept {
    Drop();
    object_ = other.object_.Get();
    counts_ = other.counts_.Get();
    other.counts_ = nullptr;
    return *this;
  }
  ~Weak() { Drop(); }

  Shared<T> lock() const {
    Counts* const counts = counts_;
    if (counts == nullptr) {
      return nullptr;
    }
    int strong = counts->strong.load(std::memory_order_relaxed);
    while (strong != 0) {
      if (counts->strong.compare_exchange_weak(strong, strong + 1, std::memory_order_acq_rel,
                                               std::memory_order_relaxed)) {
        return Shared<T>(object_, counts);
      }
    }
    return nullptr;
  }

 private:
  void Drop() {
    if (Counts* const counts = counts_) {
      counts->DropWeak();
    }
  }

  explore::var<T*> object_{nullptr};
  explore::var<Counts*> counts_{nullptr};
};

struct Concurrency {
  using Mutex = explore::mutex;
  template <typename T>
  using Shared = scenarios::Shared<T>;
  template <typename T>
  using Weak = scenarios::Weak<T>;
  template <typename T>
  using Plain = explore::var<T>;
};

class Object;
using Registry = handles::HandleRegistry<Object, Concurrency>;
using Handle = Shared<const Object>;

// As the handles of the library are: it takes its own entry out as it goes.
class Object {
 public:
  Object(Registry& registry, int raw) : registry_(registry), raw_(raw) {}
  ~Object() { registry_.Remove(*this); }
  int raw() const { return raw_; }
  int content() const { return content_; }

 private:
  Registry& registry_;
  const int raw_;
  explore::var<int> content_{1};
};

Handle Make(Registry& registry, int raw) { return Handle(new Object(registry, raw)); }

void RequireWhole(const Handle& handle) {
  explore::Require(handle->raw() == 1 && handle->content() == 1, "what is found is whole");
}

void RequireEmptyAtTheEnd(explore::Threads& threads, Registry& registry) {
  threads.Finally([&registry] { explore::Require(registry.size() == 0, "no entry outlives its object"); });
}

void AddsAndDrops(Registry& registry) {
  const Handle handle = Make(registry, 1);
  registry.Add(handle);
}

void InsertFindRemove(explore::Threads& threads) {
  Registry& registry = threads.Make<Registry>();
  threads.Add("inserts and removes", [&registry] { AddsAndDrops(registry); });
  threads.Add("finds", [&registry] {
    if (const Handle found = registry.Find(1)) {
      RequireWhole(found);
    }
  });
  RequireEmptyAtTheEnd(threads, registry);
}

void FindOrAdd(explore::Threads& threads) {
  Registry& registry = threads.Make<Registry>();
  for (const char* name : {"looks up 1", "looks up 2"}) {
    threads.Add(name, [&registry] {
      const Handle handle = registry.FindOrAdd(Make(registry, 1));
      RequireWhole(handle);
      const Handle again = registry.Find(1);
      explore::Require(again && again.get() == handle.get(), "while a handle lives it is the one that is found");
    });
  }
  RequireEmptyAtTheEnd(threads, registry);
}

// The raw value is given out again while its first owner is on its way out.
void RawValueComesAgain(explore::Threads& threads) {
  Registry& registry = threads.Make<Registry>();
  threads.Add("old", [&registry] { AddsAndDrops(registry); });
  threads.Add("young", [&registry] {
    const Handle handle = Make(registry, 1);
    registry.Add(handle);
    RequireWhole(handle);
  });
  RequireEmptyAtTheEnd(threads, registry);
}

}  // namespace

std::vector<explore::Program> RegistryPrograms() {
  return {
      {"registry.insert-find-remove", "one thread inserts and removes, another finds", &InsertFindRemove},
      {"registry.find-or-add", "two threads look the same raw value up", &FindOrAdd},
      {"registry.raw-value-comes-again", "a raw value is registered anew while its entry goes", &RawValueComesAgain},
  };
}

}  // namespace holdfast::scenarios
