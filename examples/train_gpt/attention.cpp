#include "attention.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "lanes.hpp"

namespace gpt {
namespace {

/// The part of `matrix` that one head sees in one window: `block` 0 queries, 1 keys, 2 values.
struct HeadAt {
  std::size_t window = 0;
  std::size_t head = 0;
  std::size_t block = 0;
};

template <class View>
View head_view(View matrix, const AttentionShape& shape, const HeadAt& at) {
  const std::size_t head_width = shape.width / shape.heads;
  return {matrix.row(at.window * shape.time) + at.block * shape.width + at.head * head_width, shape.time,
          head_width, matrix.stride};
}

float score_scale(const AttentionShape& shape) {
  return 1.0F / std::sqrt(static_cast<float>(shape.width / shape.heads));
}

void check(const AttentionShape& shape, std::size_t rows) {
  if (shape.heads == 0 || shape.width % shape.heads != 0 || rows != shape.windows * shape.time)
    throw std::invalid_argument("attention: shapes do not fit");
}

/// Row t becomes softmax over its first t + 1 scores, zeros behind them.
void causal_softmax(Matrix scores) {
  for (std::size_t t = 0; t < scores.rows; ++t) {
    float* row = scores.row(t);
    const std::size_t seen = t + 1;
    const float top = maximum(row, seen);
    for_each_lane(row, row, seen, [top](Lanes x) { return exponential(x - top); });
    const float scale = 1.0F / sum(row, seen);
    for_each_lane(row, row, seen, [scale](Lanes p) { return p * scale; });
    std::fill(row + seen, row + scores.columns, 0.0F);
  }
}

/// In place: d_p becomes p * (d_p - sum of p d_p), the gradient by the scores; zeros above the diagonal.
void causal_softmax_backward(ConstMatrix probabilities, Matrix gradient) {
  for (std::size_t t = 0; t < gradient.rows; ++t) {
    const float* p = probabilities.row(t);
    float* d = gradient.row(t);
    const std::size_t seen = t + 1;
    const float along = dot(p, d, seen);
    for_each_lane(p, d, d, seen, [along](Lanes p_here, Lanes d_here) { return p_here * (d_here - along); });
    std::fill(d + seen, d + gradient.columns, 0.0F);
  }
}

}  // namespace

void attention_forward(const AttentionForward& call) {
  const AttentionShape& shape = call.shape;
  check(shape, call.mixed_input.rows);
  for (std::size_t window = 0; window < shape.windows; ++window) {
    for (std::size_t head = 0; head < shape.heads; ++head) {
      float* at = call.probabilities + (window * shape.heads + head) * shape.time * shape.time;
      const Matrix scores = view(at, {shape.time, shape.time});
      multiply({.left = head_view(call.mixed_input, shape, {window, head, 0}),
                .right = head_view(call.mixed_input, shape, {window, head, 1}),
                .out = scores,
                .right_transposed = true,
                .scale = score_scale(shape)});
      causal_softmax(scores);
      multiply({.left = scores,
                .right = head_view(call.mixed_input, shape, {window, head, 2}),
                .out = head_view(call.attended, shape, {window, head, 0})});
    }
  }
}

void attention_backward(const AttentionBackward& call) {
  const AttentionShape& shape = call.shape;
  check(shape, call.mixed_input.rows);
  std::vector<float> scratch(shape.time * shape.time);
  const Matrix d_scores = view(scratch.data(), {shape.time, shape.time});
  for (std::size_t window = 0; window < shape.windows; ++window) {
    for (std::size_t head = 0; head < shape.heads; ++head) {
      const float* at = call.probabilities + (window * shape.heads + head) * shape.time * shape.time;
      const ConstMatrix probabilities = view(at, {shape.time, shape.time});
      const ConstMatrix d_out = head_view(call.d_attended, shape, {window, head, 0});
      multiply({.left = probabilities,
                .right = d_out,
                .out = head_view(call.d_mixed_input, shape, {window, head, 2}),
                .left_transposed = true});
      multiply({.left = d_out,
                .right = head_view(call.mixed_input, shape, {window, head, 2}),
                .out = d_scores,
                .right_transposed = true});
      causal_softmax_backward(probabilities, d_scores);
      multiply({.left = d_scores,
                .right = head_view(call.mixed_input, shape, {window, head, 1}),
                .out = head_view(call.d_mixed_input, shape, {window, head, 0}),
                .scale = score_scale(shape)});
      multiply({.left = d_scores,
                .right = head_view(call.mixed_input, shape, {window, head, 0}),
                .out = head_view(call.d_mixed_input, shape, {window, head, 1}),
                .left_transposed = true,
                .scale = score_scale(shape)});
    }
  }
}

}  // namespace gpt
