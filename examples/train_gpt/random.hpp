// Random numbers by counting: the n-th draw of a stream is a function of (seed, stream, n) and of nothing
// that happened before. So any process can draw weight 17 or batch 40 without drawing those before it, and
// gets what every other process gets.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpt {

/// The finaliser of splitmix64: a bijection that flips about half of the bits for each bit of input.
/// Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

/// The coordinates of a random number.
struct Draw {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
  std::uint64_t counter = 0;
};

/// 64 random bits.
constexpr std::uint64_t bits(const Draw& draw) {
  return mix(mix(mix(draw.seed) ^ draw.stream) ^ draw.counter);
}

/// Uniform in [0, 1), a multiple of 2^-53.
constexpr double uniform(const Draw& draw) { return static_cast<double>(bits(draw) >> 11) * 0x1.0p-53; }

/// A stream named by a text (FNV-1a): weights are drawn by parameter name, so they do not depend on which
/// stage holds the parameter.
constexpr std::uint64_t stream_of(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3U;
  return hash;
}

}  // namespace gpt
