// Four floats at a time, with the order of every sum written down. The compiler may not reorder float sums
// (we never use -ffast-math), so plain reduction loops would run one element at a time; and whether it
// vectorises the others depends on its flags. Explicit lanes are fast at -O2 and give the same bits in every
// build: each operation is one IEEE operation. (Build with -ffp-contract=off where the target has FMA.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gpt {

inline constexpr std::size_t lane_count = 4;
using Lanes = float __attribute__((vector_size(16)));
using LaneBits = std::int32_t __attribute__((vector_size(16)));

/// No alignment is asked of `from` or `to`: tensors come out of ordinary vectors.
inline Lanes load(const float* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
inline void store(float* to, Lanes lanes) { std::memcpy(to, &lanes, sizeof lanes); }
inline Lanes fill(float value) { return Lanes{value, value, value, value}; }
inline float total(Lanes lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }
inline Lanes larger(Lanes a, Lanes b) { return a > b ? a : b; }
inline Lanes smaller(Lanes a, Lanes b) { return a < b ? a : b; }

/// The first `count` (< lane_count) values, zeros behind them: the end of a row whose length is odd.
inline Lanes load_some(const float* from, std::size_t count) {
  Lanes lanes = fill(0.0F);
  std::memcpy(&lanes, from, count * sizeof(float));
  return lanes;
}
inline void store_some(float* to, Lanes lanes, std::size_t count) {
  std::memcpy(to, &lanes, count * sizeof(float));
}

/// out[i] = f(a[i]) for i < count; `out` may be `a`.
template <class F>
void for_each_lane(const float* a, float* out, std::size_t count, F f) {
  std::size_t i = 0;
  for (; i + lane_count <= count; i += lane_count) store(out + i, f(load(a + i)));
  if (i < count) store_some(out + i, f(load_some(a + i, count - i)), count - i);
}

/// out[i] = f(a[i], b[i]) for i < count; `out` may be `a` or `b`.
template <class F>
void for_each_lane(const float* a, const float* b, float* out, std::size_t count, F f) {
  std::size_t i = 0;
  for (; i + lane_count <= count; i += lane_count) store(out + i, f(load(a + i), load(b + i)));
  if (i < count) store_some(out + i, f(load_some(a + i, count - i), load_some(b + i, count - i)), count - i);
}

/// The sum of f(i-th lanes) over a row. Two running sums hide the latency of the addition; `f` gets the
/// offset and a loader that pads the end of the row with zeros, so f(zeros) must be zero.
template <class F>
float sum_over(std::size_t count, F f) {
  Lanes even = fill(0.0F);
  Lanes odd = fill(0.0F);
  std::size_t i = 0;
  for (; i + 2 * lane_count <= count; i += 2 * lane_count) {
    even += f(i, [](const float* from) { return load(from); });
    odd += f(i + lane_count, [](const float* from) { return load(from); });
  }
  for (; i < count; i += lane_count) {
    const std::size_t left = count - i < lane_count ? count - i : lane_count;
    even += f(i, [left](const float* from) { return load_some(from, left); });
  }
  return total(even + odd);
}

inline float sum(const float* values, std::size_t count) {
  return sum_over(count, [=](std::size_t i, auto at) { return at(values + i); });
}

inline float dot(const float* a, const float* b, std::size_t count) {
  return sum_over(count, [=](std::size_t i, auto at) { return at(a + i) * at(b + i); });
}

/// The largest of `count` >= 1 values.
inline float maximum(const float* values, std::size_t count) {
  float best = values[0];
  std::size_t i = 0;
  if (count >= lane_count) {
    Lanes lanes = load(values);
    for (i = lane_count; i + lane_count <= count; i += lane_count) lanes = larger(lanes, load(values + i));
    for (std::size_t lane = 0; lane < lane_count; ++lane) best = lanes[lane] > best ? lanes[lane] : best;
  }
  for (; i < count; ++i) best = values[i] > best ? values[i] : best;
  return best;
}

/// e^x within about two units in the last place, the argument clamped to [-87, 88] so that the result is
/// always a normal number (a denormal would cost a hundred cycles). Our own, since libm has no vector form
/// that is the same on every Debian machine.
/// Source: Cephes expf (Moshier): x = n ln 2 + r, a polynomial in r, then n into the exponent bits.
inline Lanes exponential(Lanes x) {
  const Lanes magic = fill(12582912.0F);  // 1.5 * 2^23: adding it rounds to the nearest integer.
  x = smaller(larger(x, fill(-87.0F)), fill(88.0F));
  const Lanes n = (x * 1.44269504088896341F + magic) - magic;
  const Lanes r = (x - n * 0.693359375F) - n * -2.12194440e-4F;
  Lanes p = fill(1.9875691500e-4F);
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = (p * (r * r) + r) + 1.0F;
  const LaneBits exponent = (__builtin_convertvector(n, LaneBits) + 127) << 23;
  Lanes power;
  std::memcpy(&power, &exponent, sizeof power);
  return p * power;
}

}  // namespace gpt
