// Random: the generator of a sequence, the same on every machine (splitmix64).
#ifndef HOLDFAST_SCENARIOS_FUZZ_RANDOM_H_
#define HOLDFAST_SCENARIOS_FUZZ_RANDOM_H_

#include <cstdint>

namespace holdfast::fuzz {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
  }

  // 0 to bound - 1. REQUIRES: bound > 0.
  unsigned Below(unsigned bound) { return static_cast<unsigned>((Next() >> 32U) * bound >> 32U); }

  // True in `numerator` of `denominator` cases.
  bool Chance(unsigned numerator, unsigned denominator) { return Below(denominator) < numerator; }

 private:
  std::uint64_t state_;
};

}  // namespace holdfast::fuzz

#endif  // HOLDFAST_SCENARIOS_FUZZ_RANDOM_H_
