// A stage's weights lie in one flat array; so do its gradients and Adam's moments. This file has the layout
// of the array, and the initial values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "config.hpp"
#include "matrix.hpp"

namespace gpt {

/// A parameter of the model. Names do not depend on the number of stages ("block2.expand.weights"), and a
/// model's stages, laid end to end, give the array of the whole model.
struct Parameter {
  std::string name;
  std::size_t offset = 0;  ///< in floats, from the start of the stage's array
  Extent extent;           ///< vectors have one row
  float start = 0.0F;      ///< initial value: start + uniform in [-spread, spread)
  float spread = 0.0F;

  std::size_t size() const { return extent.rows * extent.columns; }
};

std::vector<Parameter> stage_parameters(const Config& config, StagePlace place);

/// Floats in the stage's array.
std::size_t size_of(const std::vector<Parameter>& parameters);

/// Drawn by (seed, parameter name, element): the same for any number of stages.
std::vector<float> initial_weights(const std::vector<Parameter>& parameters, std::uint64_t seed);

/// The pieces of a block's part of an array; `Float` is float or const float.
template <class Float>
struct BlockParts {
  Float* norm1_gain;
  Float* norm1_bias;
  Float* mix_weights;  ///< [width, 3 * width]: queries, keys, values
  Float* mix_bias;
  Float* project_weights;  ///< [width, width]
  Float* project_bias;
  Float* norm2_gain;
  Float* norm2_bias;
  Float* expand_weights;  ///< [width, 4 * width]
  Float* expand_bias;
  Float* contract_weights;  ///< [4 * width, width]
  Float* contract_bias;
};

/// Must agree with stage_parameters(), which the test parameters_test.cpp checks.
template <class Float>
BlockParts<Float> block_parts(Float* at, std::size_t width) {
  const auto take = [&at](std::size_t count) {
    Float* part = at;
    at += count;
    return part;
  };
  // The order of evaluation within braces is left to right.
  return {take(width),
          take(width),
          take(width * 3 * width),
          take(3 * width),
          take(width * width),
          take(width),
          take(width),
          take(width),
          take(width * 4 * width),
          take(4 * width),
          take(4 * width * width),
          take(width)};
}

inline std::size_t block_size(std::size_t width) { return 12 * width * width + 13 * width; }

}  // namespace gpt
