#include "harness/explore/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "harness/explore/machine.h"

namespace holdfast::explore {
namespace {

constexpr std::uint64_t kLive = 0x6c697665'6c697665;
constexpr std::uint64_t kFreed = 0x66726565'66726565;

struct alignas(16) Header {
  std::uint64_t size_bytes;
  std::uint64_t state;
};

}  // namespace

Arena& Arena::Instance() {
  static Arena arena;
  return arena;
}

Arena::Arena()
    : memory_(static_cast<std::byte*>(mmap(nullptr, kRegionSizeBytes * (kThreadsMax + 1), PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
  if (memory_ == MAP_FAILED) {
    std::abort();
  }
}

void Arena::Reset() {
  used_.fill(0);
  live_count_ = 0;
}

void* Arena::Allocate(std::size_t size_bytes, std::size_t alignment_bytes) {
  const auto round_up = [](std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; };
  std::size_t& used = used_[current_];
  // Regions begin at the beginning of a page. The header is right before what is given out.
  const std::size_t offset = round_up(used + sizeof(Header), std::max(alignment_bytes, sizeof(Header)));
  if (size_bytes > kRegionSizeBytes || offset + round_up(size_bytes, sizeof(Header)) > kRegionSizeBytes) {
    return nullptr;
  }
  used = offset + round_up(size_bytes, sizeof(Header));
  auto* const header = reinterpret_cast<Header*>(memory_ + current_ * kRegionSizeBytes + offset - sizeof(Header));
  *header = {size_bytes, kLive};
  ++live_count_;
  return header + 1;
}

bool Arena::Owns(const void* address) const {
  const auto* byte = static_cast<const std::byte*>(address);
  return byte >= memory_ && byte < memory_ + kRegionSizeBytes * (kThreadsMax + 1);
}

std::optional<Arena::MemoryPlace> Arena::Find(std::uint64_t address) const {
  const auto first = reinterpret_cast<std::uint64_t>(memory_);
  if (address < first || address >= first + kRegionSizeBytes * (kThreadsMax + 1)) {
    return std::nullopt;
  }
  return MemoryPlace{(address - first) / kRegionSizeBytes, (address - first) % kRegionSizeBytes};
}

bool Arena::Free(void* address) {
  Header* const header = static_cast<Header*>(address) - 1;
  if (header->state != kLive) {
    return false;
  }
  header->state = kFreed;
  --live_count_;
  return true;
}

}  // namespace holdfast::explore

namespace {

void* Allocate(std::size_t size_bytes, std::size_t alignment_bytes = alignof(std::max_align_t)) {
  holdfast::explore::Arena& arena = holdfast::explore::Arena::Instance();
  void* memory = nullptr;
  if (arena.IsEntered()) {
    memory = arena.Allocate(size_bytes, alignment_bytes);
  } else if (alignment_bytes <= alignof(std::max_align_t)) {
    memory = std::malloc(size_bytes == 0 ? 1 : size_bytes);
  } else {
    memory =
        std::aligned_alloc(alignment_bytes, (size_bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes);
  }
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

void Free(void* memory) noexcept {
  holdfast::explore::Arena& arena = holdfast::explore::Arena::Instance();
  if (!arena.Owns(memory)) {
    std::free(memory);
  } else if (!arena.Free(memory) && arena.IsEntered()) {
    holdfast::explore::Machine::Current().ReportDoubleFree();
  }
}

}  // namespace

// The whole process allocates through these; see Arena.
void* operator new(std::size_t size_bytes) { return Allocate(size_bytes); }
void* operator new[](std::size_t size_bytes) { return Allocate(size_bytes); }
void operator delete(void* memory) noexcept { Free(memory); }
void operator delete[](void* memory) noexcept { Free(memory); }
void operator delete(void* memory, std::size_t /*size_bytes*/) noexcept { Free(memory); }
void operator delete[](void* memory, std::size_t /*size_bytes*/) noexcept { Free(memory); }
void* operator new(std::size_t size_bytes, std::align_val_t alignment_bytes) {
  return Allocate(size_bytes, static_cast<std::size_t>(alignment_bytes));
}
void operator delete(void* memory, std::align_val_t /*alignment_bytes*/) noexcept { Free(memory); }
void operator delete(void* memory, std::size_t /*size_bytes*/, std::align_val_t /*alignment_bytes*/) noexcept {
  Free(memory);
}
