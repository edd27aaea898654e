// Freed memory that is spoilt: what it held is gone at once, and it is not given out again for a while.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>

#include "harness/scenario/context.h"

namespace holdfast::harness {
namespace {

constexpr std::size_t kSizeBytes = 48;

TEST(FreedMemoryTest, IsOverwritten) {
  SpoilFreedMemory();
  void* const piece = operator new(kSizeBytes);
  std::memset(piece, 1, kSizeBytes);
  // As whoever uses freed memory does: the compiler must not know that it is the same.
  volatile std::uintptr_t address = reinterpret_cast<std::uintptr_t>(piece);
  operator delete(piece);
  const auto* const bytes = reinterpret_cast<const volatile unsigned char*>(address);
  for (std::size_t i = 0; i < kSizeBytes; ++i) {
    EXPECT_EQ(bytes[i], 0xA5) << i;
  }
}

TEST(FreedMemoryTest, IsNotGivenOutAgainForAWhile) {
  SpoilFreedMemory();
  std::set<void*> freed;
  for (int i = 0; i < 500; ++i) {
    void* piece = operator new(kSizeBytes);
    EXPECT_FALSE(freed.contains(piece));
    freed.insert(piece);
    operator delete(piece);
  }
}

// In the end all of it goes back: else this would need gigabytes.
TEST(FreedMemoryTest, IsGivenOutAgainInTheEnd) {
  SpoilFreedMemory();
  std::set<void*> seen;
  for (int i = 0; i < 100'000; ++i) {
    void* piece = operator new(kSizeBytes);
    seen.insert(piece);
    operator delete(piece);
  }
  EXPECT_LT(seen.size(), 50'000U);
}

}  // namespace
}  // namespace holdfast::harness
