#include "block.hpp"

#include <utility>

#include "layers.hpp"

namespace gpt {
namespace {

/// The extents that occur in a block, and views of buffers by extent.
struct Sizes {
  std::size_t rows;
  std::size_t width;

  explicit Sizes(const AttentionShape& shape) : rows(shape.windows * shape.time), width(shape.width) {}

  Extent narrow() const { return {rows, width}; }
  Extent mixed() const { return {rows, 3 * width}; }
  Extent wide() const { return {rows, 4 * width}; }
};

std::vector<float> buffer(Extent extent) { return std::vector<float>(extent.rows * extent.columns); }

LinearWeights mix(BlockParts<const float> weights, std::size_t width) {
  return {view(weights.mix_weights, {width, 3 * width}), weights.mix_bias};
}
LinearWeights project(BlockParts<const float> weights, std::size_t width) {
  return {view(weights.project_weights, {width, width}), weights.project_bias};
}
LinearWeights expand(BlockParts<const float> weights, std::size_t width) {
  return {view(weights.expand_weights, {width, 4 * width}), weights.expand_bias};
}
LinearWeights contract(BlockParts<const float> weights, std::size_t width) {
  return {view(weights.contract_weights, {4 * width, width}), weights.contract_bias};
}

void release(std::vector<float>& values) { std::vector<float>().swap(values); }

}  // namespace

std::vector<float> block_forward(const AttentionShape& shape, BlockParts<const float> weights,
                                 std::vector<float> input, BlockKept& kept) {
  const Sizes sizes(shape);
  const std::size_t width = sizes.width;
  kept.input = std::move(input);
  kept.mean1.resize(sizes.rows);
  kept.inverse1.resize(sizes.rows);
  kept.mean2.resize(sizes.rows);
  kept.inverse2.resize(sizes.rows);
  const ConstMatrix stream = view(std::as_const(kept.input).data(), sizes.narrow());

  std::vector<float> normed = buffer(sizes.narrow());
  const Matrix normed_view = view(normed.data(), sizes.narrow());
  norm_forward({.layer = {weights.norm1_gain, weights.norm1_bias},
                .input = stream,
                .output = normed_view,
                .mean = kept.mean1.data(),
                .inverse = kept.inverse1.data()});
  kept.mixed_input = buffer(sizes.mixed());
  const Matrix mixed = view(kept.mixed_input.data(), sizes.mixed());
  linear_forward({.layer = mix(weights, width), .input = normed_view, .output = mixed});
  kept.attended = buffer(sizes.narrow());
  kept.probabilities.resize(shape.windows * shape.heads * shape.time * shape.time);
  const Matrix attended = view(kept.attended.data(), sizes.narrow());
  attention_forward({.shape = shape,
                     .mixed_input = mixed,
                     .attended = attended,
                     .probabilities = kept.probabilities.data()});
  kept.middle = buffer(sizes.narrow());
  const Matrix middle = view(kept.middle.data(), sizes.narrow());
  linear_forward({.layer = project(weights, width), .input = attended, .output = middle});
  add(stream, middle);

  norm_forward({.layer = {weights.norm2_gain, weights.norm2_bias},
                .input = middle,
                .output = normed_view,
                .mean = kept.mean2.data(),
                .inverse = kept.inverse2.data()});
  kept.hidden = buffer(sizes.wide());
  const Matrix hidden = view(kept.hidden.data(), sizes.wide());
  linear_forward({.layer = expand(weights, width), .input = normed_view, .output = hidden});
  std::vector<float> activated = buffer(sizes.wide());
  const Matrix activated_view = view(activated.data(), sizes.wide());
  gelu_forward(hidden, activated_view);
  const Matrix output = normed_view;  // The second norm's output is used up.
  linear_forward({.layer = contract(weights, width), .input = activated_view, .output = output});
  add(middle, output);
  return normed;
}

std::vector<float> block_backward_input(const AttentionShape& shape, BlockParts<const float> weights,
                                        std::vector<float> d_output, BlockKept& kept,
                                        BlockParts<float> gradients) {
  const Sizes sizes(shape);
  const std::size_t width = sizes.width;
  kept.d_output = std::move(d_output);
  const ConstMatrix d_out = view(std::as_const(kept.d_output).data(), sizes.narrow());

  kept.d_hidden = buffer(sizes.wide());
  const Matrix d_hidden = view(kept.d_hidden.data(), sizes.wide());
  linear_backward_input({.layer = contract(weights, width), .d_output = d_out, .d_input = d_hidden});
  gelu_backward(view(std::as_const(kept.hidden).data(), sizes.wide()), d_hidden);
  std::vector<float> d_normed = buffer(sizes.narrow());
  const Matrix d_normed_view = view(d_normed.data(), sizes.narrow());
  linear_backward_input({.layer = expand(weights, width), .d_output = d_hidden, .d_input = d_normed_view});
  kept.d_middle = kept.d_output;  // The residual stream runs past the second half.
  const Matrix d_middle = view(kept.d_middle.data(), sizes.narrow());
  norm_backward({.layer = {weights.norm2_gain, weights.norm2_bias},
                 .input = view(std::as_const(kept.middle).data(), sizes.narrow()),
                 .mean = kept.mean2.data(),
                 .inverse = kept.inverse2.data(),
                 .d_output = d_normed_view,
                 .d_input = d_middle,
                 .d_gain = gradients.norm2_gain,
                 .d_bias = gradients.norm2_bias});

  const Matrix d_attended = d_normed_view;  // Used up; the same extent.
  linear_backward_input({.layer = project(weights, width), .d_output = d_middle, .d_input = d_attended});
  kept.d_mixed_input = buffer(sizes.mixed());
  const Matrix d_mixed = view(kept.d_mixed_input.data(), sizes.mixed());
  attention_backward({.shape = shape,
                      .mixed_input = view(std::as_const(kept.mixed_input).data(), sizes.mixed()),
                      .probabilities = kept.probabilities.data(),
                      .d_attended = d_attended,
                      .d_mixed_input = d_mixed});
  release(kept.mixed_input);
  release(kept.probabilities);
  linear_backward_input({.layer = mix(weights, width), .d_output = d_mixed, .d_input = d_normed_view});
  std::vector<float> d_input = kept.d_middle;  // The residual stream runs past the first half, too.
  norm_backward({.layer = {weights.norm1_gain, weights.norm1_bias},
                 .input = view(std::as_const(kept.input).data(), sizes.narrow()),
                 .mean = kept.mean1.data(),
                 .inverse = kept.inverse1.data(),
                 .d_output = d_normed_view,
                 .d_input = view(d_input.data(), sizes.narrow()),
                 .d_gain = gradients.norm1_gain,
                 .d_bias = gradients.norm1_bias});
  return d_input;
}

void block_backward_weights(const AttentionShape& shape, BlockParts<const float> weights,
                            const BlockKept& kept, BlockParts<float> gradients) {
  const Sizes sizes(shape);
  const std::size_t width = sizes.width;
  std::vector<float> normed = buffer(sizes.narrow());
  const Matrix normed_view = view(normed.data(), sizes.narrow());
  norm_again({.layer = {weights.norm1_gain, weights.norm1_bias},
              .input = view(kept.input.data(), sizes.narrow()),
              .output = normed_view,
              .mean = kept.mean1.data(),
              .inverse = kept.inverse1.data()});
  linear_backward_weights({.gradients = {view(gradients.mix_weights, {width, 3 * width}), gradients.mix_bias},
                           .input = normed_view,
                           .d_output = view(kept.d_mixed_input.data(), sizes.mixed())});
  linear_backward_weights(
      {.gradients = {view(gradients.project_weights, {width, width}), gradients.project_bias},
       .input = view(kept.attended.data(), sizes.narrow()),
       .d_output = view(kept.d_middle.data(), sizes.narrow())});
  norm_again({.layer = {weights.norm2_gain, weights.norm2_bias},
              .input = view(kept.middle.data(), sizes.narrow()),
              .output = normed_view,
              .mean = kept.mean2.data(),
              .inverse = kept.inverse2.data()});
  linear_backward_weights(
      {.gradients = {view(gradients.expand_weights, {width, 4 * width}), gradients.expand_bias},
       .input = normed_view,
       .d_output = view(kept.d_hidden.data(), sizes.wide())});
  std::vector<float> activated = buffer(sizes.wide());
  const Matrix activated_view = view(activated.data(), sizes.wide());
  gelu_forward(view(kept.hidden.data(), sizes.wide()), activated_view);
  linear_backward_weights(
      {.gradients = {view(gradients.contract_weights, {4 * width, width}), gradients.contract_bias},
       .input = activated_view,
       .d_output = view(kept.d_output.data(), sizes.narrow())});
}

}  // namespace gpt
