#include "matrix.hpp"

#include <cblas.h>

#include <limits>
#include <stdexcept>

namespace gpt {
namespace {

blasint to_blas(std::size_t extent) {
  if (extent > static_cast<std::size_t>(std::numeric_limits<blasint>::max()))
    throw std::invalid_argument("matrix extent beyond what BLAS can count");
  return static_cast<blasint>(extent);
}

}  // namespace

void multiply(const Product& product) {
  const auto& [left, right, out, left_transposed, right_transposed, scale] = product;
  const std::size_t rows = left_transposed ? left.columns : left.rows;
  const std::size_t inner = left_transposed ? left.rows : left.columns;
  const std::size_t right_inner = right_transposed ? right.columns : right.rows;
  const std::size_t columns = right_transposed ? right.rows : right.columns;
  if (inner != right_inner || out.rows != rows || out.columns != columns)
    throw std::invalid_argument("matrix product of shapes that do not fit");
  if (rows == 0 || columns == 0 || inner == 0) throw std::invalid_argument("matrix product of nothing");
  // beta = 0: sgemm overwrites `out` without reading it.
  cblas_sgemm(CblasRowMajor, left_transposed ? CblasTrans : CblasNoTrans,
              right_transposed ? CblasTrans : CblasNoTrans, to_blas(rows), to_blas(columns), to_blas(inner),
              scale, left.at, to_blas(left.stride), right.at, to_blas(right.stride), 0.0F, out.at,
              to_blas(out.stride));
}

void use_one_blas_thread() { openblas_set_num_threads(1); }

}  // namespace gpt
