#pragma once
// The only source of chance in machines: an argument, seeded by the machine's driver, so a run can be
// repeated.

#include <cstdint>

namespace dag {

/// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
class Random {
 public:
  using result_type = std::uint64_t;
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, limit); limit > 0. The bias below 2^-32 does not matter for choices.
  std::uint64_t below(std::uint64_t limit) {
    __extension__ using Wide = unsigned __int128;  // pedantic: not ISO C++, but in every 64-bit compiler
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * limit) >> 64);
  }
  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  bool chance(double probability) { return unit() < probability; }

  // Interface of std::shuffle and the distributions.
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }
  result_type operator()() { return next(); }

 private:
  std::uint64_t state_;
};

}  // namespace dag
