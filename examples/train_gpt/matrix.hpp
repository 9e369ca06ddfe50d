// Matrix views and the one door to BLAS. Every matrix product goes through multiply(); all else is our own
// code.
#pragma once

#include <cstddef>

namespace gpt {

/// A view of floats, row-major; `stride` floats lie between the starts of two rows (a head is a column range
/// of a wider matrix). Owns nothing.
struct ConstMatrix {
  const float* at = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t stride = 0;

  const float* row(std::size_t index) const { return at + index * stride; }
};

struct Matrix {
  float* at = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t stride = 0;

  float* row(std::size_t index) const { return at + index * stride; }
  operator ConstMatrix() const { return {at, rows, columns, stride}; }
};

struct Extent {
  std::size_t rows = 0;
  std::size_t columns = 0;
};

/// Dense views of a buffer that has rows * columns floats.
inline ConstMatrix view(const float* at, Extent extent) {
  return {at, extent.rows, extent.columns, extent.columns};
}
inline Matrix view(float* at, Extent extent) { return {at, extent.rows, extent.columns, extent.columns}; }

/// out = scale * left * right, with either factor transposed first; `out` must overlap neither factor.
struct Product {
  ConstMatrix left;
  ConstMatrix right;
  Matrix out;
  bool left_transposed = false;
  bool right_transposed = false;
  float scale = 1.0F;
};

/// Computes a product by sgemm on the calling thread. What is in `out` before does not matter. The bits
/// depend on the values and on the shapes only, neither on the thread nor on the alignment
/// (alignment_test.cpp). Throws std::invalid_argument if the shapes do not fit.
void multiply(const Product& product);

/// Keeps OpenBLAS from starting threads of its own: a lane is one thread, and spinning helpers on
/// over-subscribed cores made a training run 18 times slower. To be called once, before the first product.
void use_one_blas_thread();

}  // namespace gpt
