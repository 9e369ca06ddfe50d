// The values that the parts of the model hand to each other: plain, nothing that points elsewhere. Tensor and
// Batch are aggregates with public fields so that a generic codec can carry them between processes; the
// arithmetic works on the views of matrix.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpt {

/// An owned array of floats, row-major: the last entry of `shape` varies fastest.
/// Invariant: `values.size()` is the product of `shape`. The empty tensor (no shape, no values) means "none":
/// the input of the first stage, the gradient that enters the last one.
struct Tensor {
  std::vector<std::uint32_t> shape;
  std::vector<float> values;

  bool operator==(const Tensor&) const = default;
};

/// Token windows, row-major [rows, context]: `targets[i]` is the byte that follows `tokens[i]` in the text.
/// `rows` is Config::batch in training; the last batch of a validation shard may have fewer.
struct Batch {
  std::uint32_t rows = 0;
  std::vector<std::uint8_t> tokens;
  std::vector<std::uint8_t> targets;

  bool operator==(const Batch&) const = default;
};

/// "[8, 64, 128]", for messages.
inline std::string to_string(const std::vector<std::uint32_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

/// Throws std::invalid_argument, naming `what`, unless the tensor has exactly this shape and as many values.
inline void check_shape(const Tensor& tensor, const std::vector<std::uint32_t>& shape,
                        const std::string& what) {
  std::size_t count = 1;
  for (const std::uint32_t extent : shape) count *= extent;
  if (tensor.shape != shape || tensor.values.size() != count)
    throw std::invalid_argument(what + ": expected shape " + to_string(shape) + ", got " +
                                to_string(tensor.shape) + " with " + std::to_string(tensor.values.size()) +
                                " values");
}

/// Throws std::invalid_argument, naming `what`, unless the tensor is the empty one.
inline void check_none(const Tensor& tensor, const std::string& what) {
  if (!tensor.shape.empty() || !tensor.values.empty())
    throw std::invalid_argument(what + ": expected none, got shape " + to_string(tensor.shape));
}

}  // namespace gpt
