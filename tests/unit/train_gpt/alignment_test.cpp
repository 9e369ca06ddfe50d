// Buffers arrive from other processes at any address, and lanes run anywhere: the bits of a product must
// depend on values and shapes only. The shapes are those of the default model.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <thread>

#include "examples/train_gpt/matrix.hpp"
#include "tests/unit/train_gpt/helpers.hpp"

using namespace gpt;

namespace {

struct Case {
  Extent left;
  Extent right;
  Extent out;
  bool left_transposed;
  bool right_transposed;
};

/// Where each operand starts, in floats behind a 64-byte border.
struct Shift {
  std::size_t left = 0;
  std::size_t right = 0;
  std::size_t out = 0;
};

std::size_t size_of(Extent extent) { return extent.rows * extent.columns; }

using AlignedFloats = std::unique_ptr<float, decltype(&std::free)>;
AlignedFloats aligned(std::size_t count) {
  const std::size_t bytes = (count * sizeof(float) / 64 + 2) * 64;
  return {static_cast<float*>(std::aligned_alloc(64, bytes)), &std::free};
}

std::vector<float> product_of(const Case& shape, const Shift& shift) {
  const std::vector<float> left = test::noise(size_of(shape.left), 1);
  const std::vector<float> right = test::noise(size_of(shape.right), 2);
  const AlignedFloats left_at = aligned(left.size() + 16);
  const AlignedFloats right_at = aligned(right.size() + 16);
  const AlignedFloats out_at = aligned(size_of(shape.out) + 16);
  std::copy(left.begin(), left.end(), left_at.get() + shift.left);
  std::copy(right.begin(), right.end(), right_at.get() + shift.right);
  const Matrix out = view(out_at.get() + shift.out, shape.out);
  std::fill_n(out.at, size_of(shape.out), 3.0F);
  multiply({.left = view(static_cast<const float*>(left_at.get()) + shift.left, shape.left),
            .right = view(static_cast<const float*>(right_at.get()) + shift.right, shape.right),
            .out = out,
            .left_transposed = shape.left_transposed,
            .right_transposed = shape.right_transposed});
  return {out.at, out.at + size_of(shape.out)};
}

}  // namespace

TEST_CASE("train_gpt: products do not depend on alignment or thread") {
  use_one_blas_thread();
  const Case shape = GENERATE(
      Case{{512, 128}, {128, 384}, {512, 384}, false, false},
      Case{{512, 512}, {512, 128}, {512, 128}, false, false},
      Case{{512, 512}, {128, 512}, {512, 128}, false, true},
      Case{{512, 128}, {512, 512}, {128, 512}, true, false}, Case{{64, 32}, {64, 32}, {64, 64}, false, true},
      Case{{64, 64}, {64, 32}, {64, 32}, true, false}, Case{{7, 11}, {11, 5}, {7, 5}, false, false},
      Case{{1, 128}, {128, 256}, {1, 256}, false, false});
  const std::vector<float> straight = product_of(shape, {});
  for (std::size_t shift = 1; shift < 16; shift += 2) {
    INFO("shift " << shift);
    CHECK(product_of(shape, {shift, 0, 0}) == straight);
    CHECK(product_of(shape, {0, shift, 0}) == straight);
    CHECK(product_of(shape, {0, 0, shift}) == straight);
    CHECK(product_of(shape, {shift, (shift * 3) % 16, (shift * 5) % 16}) == straight);
  }
  // Two threads at once, as two lanes do.
  std::vector<float> first;
  std::vector<float> second;
  std::thread one([&] { first = product_of(shape, {}); });
  std::thread two([&] { second = product_of(shape, {1, 1, 1}); });
  one.join();
  two.join();
  CHECK(first == straight);
  CHECK(second == straight);
}
