// Handles that are numbers, not addresses of objects: a table maps them to objects, so that a dead or made-up handle is
// noticed instead of being dereferenced, and so that reuse can be steered.
//
// A table's slots are never unmapped. With reuse "at once" the slot freed last is the next one given out, over all
// graphs of the process (fact N1); with "never" each handle is new.
#ifndef HOLDFAST_FAULT_MODEL_HANDLES_H_
#define HOLDFAST_FAULT_MODEL_HANDLES_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

#include "fault/model/settings.h"

namespace holdfast::fault::model {

// Each kind has its own range of values, so that a handle of one kind is never one of another.
enum class HandleKind : std::uint64_t {
  kContext = 1,
  kStream,
  kEvent,
  kModule,
  kFunction,
  kLibrary,
  kKernel,
  kGraph,
  kNode,
  kExecutable,
  kUserObject,
  kArray,
};

// What a handle stands for.
enum class HandleState : std::uint8_t {
  kForeign,  // no table ever gave it out
  kLive,
  kDead,          // destroyed by itself
  kDeadWithOwner  // gone because what it belonged to was destroyed
};

// Thread safety: all functions may be called from any thread. Memory ordering: what a thread did to an object before
// Insert is visible to a thread that gets it from Find.
template <typename Handle, typename Object, HandleKind kKind>
class HandleTable {
 public:
  Handle Insert(Object* object) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::uint32_t index;
    if (!free_.empty()) {
      index = free_.back();
      free_.pop_back();
    } else {
      index = size_.load(std::memory_order_relaxed);
      Grow(index);
    }
    Slot& slot = SlotAt(index);
    slot.state.store(HandleState::kLive, std::memory_order_relaxed);
    slot.object.store(object, std::memory_order_release);
    ++live_;
    return Encode(index);
  }

  // Null for a handle that is not live.
  Object* Find(Handle handle) const noexcept {
    const Slot* slot = Decode(handle);
    return slot == nullptr ? nullptr : slot->object.load(std::memory_order_acquire);
  }

  HandleState State(Handle handle) const noexcept {
    const Slot* slot = Decode(handle);
    return slot == nullptr ? HandleState::kForeign : slot->state.load(std::memory_order_relaxed);
  }

  // REQUIRES: `handle` is live.
  void Erase(Handle handle, HandleState state = HandleState::kDead) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Slot* slot = const_cast<Slot*>(Decode(handle));
    slot->object.store(nullptr, std::memory_order_relaxed);
    slot->state.store(state, std::memory_order_relaxed);
    --live_;
    if (CurrentReuse() == HandleReuse::kAtOnce) free_.push_back(IndexOf(handle));
  }

  // The object, whose handle is dead from now on; null if it was not live. Of two threads that take one handle, one
  // gets the object.
  Object* Take(Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Slot* slot = const_cast<Slot*>(Decode(handle));
    if (slot == nullptr) return nullptr;
    Object* object = slot->object.exchange(nullptr, std::memory_order_acquire);
    if (object == nullptr) return nullptr;
    slot->state.store(HandleState::kDead, std::memory_order_relaxed);
    --live_;
    if (CurrentReuse() == HandleReuse::kAtOnce) free_.push_back(IndexOf(handle));
    return object;
  }

  std::uint64_t live() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return live_;
  }

 private:
  struct Slot {
    std::atomic<Object*> object{nullptr};
    std::atomic<HandleState> state{HandleState::kForeign};
  };
  static constexpr std::uint32_t kChunkBits = 14;
  static constexpr std::uint32_t kChunkSize = 1u << kChunkBits;
  static constexpr std::uint32_t kChunkCount = 1u << 14;
  // Looks like a user address, is aligned like one, and lies where no system maps anything.
  static constexpr std::uint64_t kBase = 0x0000'1f00'0000'0000u + (static_cast<std::uint64_t>(kKind) << 36);
  static constexpr std::uint64_t kStride = 64;

  using Chunk = std::array<Slot, kChunkSize>;

  static Handle Encode(std::uint32_t index) { return reinterpret_cast<Handle>(kBase + index * kStride); }
  static std::uint32_t IndexOf(Handle handle) {
    return static_cast<std::uint32_t>((reinterpret_cast<std::uint64_t>(handle) - kBase) / kStride);
  }

  const Slot* Decode(Handle handle) const noexcept {
    const std::uint64_t value = reinterpret_cast<std::uint64_t>(handle);
    if (value < kBase || value % kStride != 0) return nullptr;
    const std::uint64_t index = (value - kBase) / kStride;
    if (index >= size_.load(std::memory_order_acquire)) return nullptr;
    return &SlotAt(static_cast<std::uint32_t>(index));
  }

  const Slot& SlotAt(std::uint32_t index) const {
    return (*chunks_[index >> kChunkBits].load(std::memory_order_acquire))[index % kChunkSize];
  }
  Slot& SlotAt(std::uint32_t index) {
    return (*chunks_[index >> kChunkBits].load(std::memory_order_acquire))[index % kChunkSize];
  }

  // Makes slot `index` exist. Release: a reader that sees the new size sees the chunk.
  void Grow(std::uint32_t index) {
    if (index >= kChunkSize * (kChunkCount - 1)) throw std::bad_alloc();
    std::atomic<Chunk*>& chunk = chunks_[index >> kChunkBits];
    if (chunk.load(std::memory_order_relaxed) == nullptr) chunk.store(new Chunk, std::memory_order_release);
    size_.store(index + 1, std::memory_order_release);
  }

  mutable std::mutex mutex_;
  std::array<std::atomic<Chunk*>, kChunkCount> chunks_{};
  std::atomic<std::uint32_t> size_{0};  // written with mutex_ held
  std::vector<std::uint32_t> free_;     // guarded by mutex_
  std::uint64_t live_ = 0;              // guarded by mutex_
};

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_HANDLES_H_
