#include "fault/model/user_object.h"

#include <deque>
#include <mutex>
#include <vector>

#include "fault/model/call.h"
#include "fault/model/delivery.h"
#include "fault/model/handles.h"

namespace holdfast::fault::model {
namespace {

using Table = HandleTable<CUuserObject, UserObject, HandleKind::kUserObject>;

Table& Handles() {
  static auto* table = new Table;
  return *table;
}

// All records. They are never freed, so that a stale reference can still be recognised.
struct Pool {
  std::mutex mutex;
  std::deque<UserObject> records;   // guarded by mutex; the records themselves are not
  std::vector<UserObject*> spares;  // guarded by mutex; those that can be used again
};

Pool& Records() {
  static auto* pool = new Pool;
  return *pool;
}

UserObject* TakeRecord() {
  Pool& pool = Records();
  const std::lock_guard<std::mutex> lock(pool.mutex);
  if (pool.spares.empty()) return &pool.records.emplace_back();
  UserObject* record = pool.spares.back();
  pool.spares.pop_back();
  return record;
}

constexpr std::uint64_t Pack(std::uint32_t generation, std::uint32_t count) {
  return (static_cast<std::uint64_t>(generation) << 32) | count;
}
constexpr std::uint32_t CountOf(std::uint64_t state) { return static_cast<std::uint32_t>(state); }
constexpr std::uint32_t GenerationOf(std::uint64_t state) { return static_cast<std::uint32_t>(state >> 32); }

bool IsLessThanNone(const Reference& reference) { return static_cast<std::int32_t>(reference.count) < 0; }

}  // namespace

CUuserObject UserObject::Create(CUhostFn destructor, void* payload, std::uint32_t count) {
  UserObject* object = TakeRecord();
  object->destructor_ = destructor;
  object->payload_ = payload;
  const std::uint32_t generation = GenerationOf(object->state_.load(std::memory_order_relaxed));
  object->state_.store(Pack(generation, count), std::memory_order_relaxed);
  object->handle_ = Handles().Insert(object);
  return object->handle_;
}

UserObject* UserObject::Find(CUuserObject handle) {
  UserObject* object = Handles().Find(handle);
  Require(object != nullptr || Handles().State(handle) != HandleState::kForeign);
  return object;
}

Reference UserObject::Refer(std::uint32_t count) noexcept {
  return Reference{this, GenerationOf(state_.load(std::memory_order_relaxed)), count};
}

std::uint64_t UserObject::live() { return Handles().live(); }

void UserObject::Add(const Reference& reference) {
  std::atomic<std::uint64_t>& state = reference.object->state_;
  std::uint64_t seen = state.load(std::memory_order_relaxed);
  do {
    if (GenerationOf(seen) != reference.generation) {
      if (IsLessThanNone(reference)) return;
      Misuse("a reference is added to a user object that is already destroyed");
    }
    // Relaxed: who adds a reference has one already, or the right to one.
  } while (!state.compare_exchange_weak(seen, Pack(reference.generation, CountOf(seen) + reference.count),
                                        std::memory_order_relaxed));
}

void UserObject::Drop(const Reference& reference) {
  std::atomic<std::uint64_t>& state = reference.object->state_;
  std::uint64_t seen = state.load(std::memory_order_relaxed);
  std::uint64_t next;
  do {
    if (GenerationOf(seen) != reference.generation) {
      if (IsLessThanNone(reference)) return;
      Misuse("a reference is dropped of a user object that is already destroyed; it was released too often before");
    }
    const std::uint32_t count = CountOf(seen) - reference.count;
    next = count == 0 ? Pack(reference.generation + 1, 0) : Pack(reference.generation, count);
    // Release and acquire: what each holder did to the payload happens before the destructor.
  } while (!state.compare_exchange_weak(seen, next, std::memory_order_acq_rel, std::memory_order_relaxed));
  if (GenerationOf(next) != reference.generation) reference.object->Retire();
}

// The record may be in use again before the destructor has run, as the real driver's handle may.
void UserObject::Retire() {
  const DueDestructor due{destructor_, payload_};
  const bool reuse = CurrentReuse() == HandleReuse::kAtOnce;
  Handles().Erase(handle_);
  if (reuse) {
    Pool& pool = Records();
    const std::lock_guard<std::mutex> lock(pool.mutex);
    pool.spares.push_back(this);
  }
  Deliver(due);
}

}  // namespace holdfast::fault::model
