#include "layers.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "lanes.hpp"

namespace gpt {
namespace {

/// A lambda, not a function: as a pointer it would not be inlined.
constexpr auto plus = [](Lanes a, Lanes b) { return a + b; };

void add_row(const float* from, float* to, std::size_t count) { for_each_lane(from, to, to, count, plus); }

constexpr float gelu_slope = 0.7978845608028654F;  // sqrt(2 / pi)
constexpr float gelu_cube = 0.044715F;

/// sigmoid(2u) of GELU's u.
Lanes gelu_gate(Lanes x) {
  const Lanes u = gelu_slope * (x + gelu_cube * (x * x * x));
  return 1.0F / (1.0F + exponential(-2.0F * u));
}

}  // namespace

void add(ConstMatrix from, Matrix to) {
  for (std::size_t r = 0; r < from.rows; ++r) add_row(from.row(r), to.row(r), from.columns);
}

void linear_forward(const LinearForward& call) {
  multiply({.left = call.input, .right = call.layer.weights, .out = call.output});
  for (std::size_t r = 0; r < call.output.rows; ++r)
    add_row(call.layer.bias, call.output.row(r), call.output.columns);
}

void linear_backward_input(const LinearBackwardInput& call) {
  multiply(
      {.left = call.d_output, .right = call.layer.weights, .out = call.d_input, .right_transposed = true});
}

void linear_backward_weights(const LinearBackwardWeights& call) {
  multiply(
      {.left = call.input, .right = call.d_output, .out = call.gradients.weights, .left_transposed = true});
  const std::size_t columns = call.d_output.columns;
  std::fill_n(call.gradients.bias, columns, 0.0F);
  for (std::size_t r = 0; r < call.d_output.rows; ++r)
    add_row(call.d_output.row(r), call.gradients.bias, columns);
}

void norm_forward(const NormForward& call) {
  const std::size_t width = call.input.columns;
  const auto count = static_cast<float>(width);
  for (std::size_t r = 0; r < call.input.rows; ++r) {
    const float* x = call.input.row(r);
    float* centred = call.output.row(r);
    const float mean = sum(x, width) / count;
    for_each_lane(x, centred, width, [mean](Lanes value) { return value - mean; });
    const float variance = dot(centred, centred, width) / count;
    call.mean[r] = mean;
    call.inverse[r] = 1.0F / std::sqrt(variance + 1e-5F);
  }
  norm_again({call.layer, call.input, call.output, call.mean, call.inverse});
}

void norm_again(const NormAgain& call) {
  const std::size_t width = call.input.columns;
  for (std::size_t r = 0; r < call.input.rows; ++r) {
    const float mean = call.mean[r];
    const float inverse = call.inverse[r];
    float* y = call.output.row(r);
    for_each_lane(call.input.row(r), call.layer.gain, y, width,
                  [=](Lanes x, Lanes gain) { return (x - mean) * inverse * gain; });
    add_row(call.layer.bias, y, width);
  }
}

// With h = (x - mean) * inverse and g = d_output * gain:
// d_input = inverse * (g - mean(g) - h * mean(g h)).
void norm_backward(const NormBackward& call) {
  const std::size_t width = call.input.columns;
  const auto count = static_cast<float>(width);
  std::vector<float> hat(width);
  std::vector<float> gained(width);
  std::fill_n(call.d_gain, width, 0.0F);
  std::fill_n(call.d_bias, width, 0.0F);
  for (std::size_t r = 0; r < call.input.rows; ++r) {
    const float mean = call.mean[r];
    const float inverse = call.inverse[r];
    const float* d_y = call.d_output.row(r);
    float* d_x = call.d_input.row(r);
    for_each_lane(call.input.row(r), hat.data(), width, [=](Lanes x) { return (x - mean) * inverse; });
    for_each_lane(d_y, call.layer.gain, gained.data(), width, [](Lanes d, Lanes gain) { return d * gain; });
    const float mean_gained = sum(gained.data(), width) / count;
    const float mean_along = dot(gained.data(), hat.data(), width) / count;
    for_each_lane(gained.data(), hat.data(), gained.data(), width,
                  [=](Lanes g, Lanes h) { return inverse * ((g - mean_gained) - h * mean_along); });
    add_row(gained.data(), d_x, width);
    for_each_lane(d_y, hat.data(), hat.data(), width, [](Lanes d, Lanes h) { return d * h; });
    add_row(hat.data(), call.d_gain, width);
    add_row(d_y, call.d_bias, width);
  }
}

void gelu_forward(ConstMatrix input, Matrix output) {
  for (std::size_t r = 0; r < input.rows; ++r)
    for_each_lane(input.row(r), output.row(r), input.columns, [](Lanes x) { return x * gelu_gate(x); });
}

// x s(2u) has the derivative s + x s (1 - s) 2 u'.
void gelu_backward(ConstMatrix input, Matrix gradient) {
  for (std::size_t r = 0; r < input.rows; ++r)
    for_each_lane(input.row(r), gradient.row(r), gradient.row(r), input.columns, [](Lanes x, Lanes d) {
      const Lanes gate = gelu_gate(x);
      const Lanes slope = (2.0F * gelu_slope) * (1.0F + (3.0F * gelu_cube) * (x * x));
      return d * (gate + x * (gate * (1.0F - gate)) * slope);
    });
}

void embedding_forward(const EmbeddingForward& call) {
  if (call.time == 0 || call.time > call.layer.position.rows || call.tokens.size() % call.time != 0)
    throw std::invalid_argument("embedding: " + std::to_string(call.tokens.size()) +
                                " tokens are no rows of 1 to " + std::to_string(call.layer.position.rows));
  const std::size_t width = call.output.columns;
  for (std::size_t r = 0; r < call.tokens.size(); ++r) {
    const std::size_t token = call.tokens[r];
    if (token >= call.layer.token.rows)
      throw std::invalid_argument("embedding: token " + std::to_string(token) + " in a vocabulary of " +
                                  std::to_string(call.layer.token.rows));
    for_each_lane(call.layer.token.row(token), call.layer.position.row(r % call.time), call.output.row(r),
                  width, plus);
  }
}

void embedding_backward(const EmbeddingBackward& call) {
  const std::size_t width = call.d_output.columns;
  for (const Matrix& table : {call.d_token, call.d_position})
    for (std::size_t r = 0; r < table.rows; ++r) std::fill_n(table.row(r), width, 0.0F);
  for (std::size_t r = 0; r < call.tokens.size(); ++r) {
    add_row(call.d_output.row(r), call.d_token.row(call.tokens[r]), width);
    add_row(call.d_output.row(r), call.d_position.row(r % call.time), width);
  }
}

float cross_entropy(const CrossEntropy& call) {
  const std::size_t vocabulary = call.logits.columns;
  const std::size_t rows = call.logits.rows;
  if (call.targets.size() != rows) throw std::invalid_argument("cross entropy: one target per row is needed");
  std::vector<float> powers(vocabulary);
  double loss = 0.0;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t target = call.targets[r];
    if (target >= vocabulary) throw std::invalid_argument("cross entropy: target outside the vocabulary");
    const float* logits = call.logits.row(r);
    const float top = maximum(logits, vocabulary);
    const float at_target = logits[target];
    for_each_lane(logits, powers.data(), vocabulary, [top](Lanes x) { return exponential(x - top); });
    const float all = sum(powers.data(), vocabulary);
    loss += std::log(static_cast<double>(all)) + (static_cast<double>(top) - static_cast<double>(at_target));
    if (call.d_logits.rows == 0) continue;
    const float scale = 1.0F / (all * static_cast<float>(rows));
    float* d = call.d_logits.row(r);
    for_each_lane(powers.data(), d, vocabulary, [scale](Lanes p) { return p * scale; });
    d[target] -= 1.0F / static_cast<float>(rows);
  }
  return static_cast<float>(loss / static_cast<double>(rows));
}

}  // namespace gpt
