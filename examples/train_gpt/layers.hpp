// The layers of the transformer but attention (attention.hpp). Each is a few free functions over views:
// forward, backward to the input (B) and backward to the weights (W), apart, so that a schedule may do W
// later from what B queued (the layer's input and the gradient of its output). Layer norm and embedding do W
// inside B: it is cheap and needs the same values. None allocates more than a row, none keeps state, every
// sum runs in a fixed order. Names: rows = batch * time; "d_x" is the gradient of the loss by x.
#pragma once

#include <cstdint>
#include <span>

#include "matrix.hpp"

namespace gpt {

/// A linear layer's parameters: weights [inputs, outputs], bias [outputs].
struct LinearWeights {
  ConstMatrix weights;
  const float* bias = nullptr;
};

/// Where its gradients go; overwritten, not added to.
struct LinearGradients {
  Matrix weights;
  float* bias = nullptr;
};

/// output[r] = input[r] * weights + bias.
struct LinearForward {
  LinearWeights layer;
  ConstMatrix input;  ///< [rows, inputs]
  Matrix output;      ///< [rows, outputs]
};
void linear_forward(const LinearForward& call);

/// B: d_input = d_output * weights^T.
struct LinearBackwardInput {
  LinearWeights layer;
  ConstMatrix d_output;  ///< [rows, outputs]
  Matrix d_input;        ///< [rows, inputs]
};
void linear_backward_input(const LinearBackwardInput& call);

/// W: weights = input^T * d_output, bias = the column sums of d_output (rows in index order).
struct LinearBackwardWeights {
  LinearGradients gradients;
  ConstMatrix input;
  ConstMatrix d_output;
};
void linear_backward_weights(const LinearBackwardWeights& call);

/// Layer norm's parameters, [width] each.
struct NormWeights {
  const float* gain = nullptr;
  const float* bias = nullptr;
};

/// output = (input - mean) / sqrt(variance + 1e-5) * gain + bias, by row. Source: Ba, Kiros, Hinton,
/// "Layer Normalization", 2016.
struct NormForward {
  NormWeights layer;
  ConstMatrix input;
  Matrix output;
  float* mean = nullptr;     ///< [rows], kept for backward
  float* inverse = nullptr;  ///< [rows], 1 / standard deviation, kept for backward
};
void norm_forward(const NormForward& call);

/// The forward output again, from what forward kept: cheaper than keeping it until W. Same bits.
struct NormAgain {
  NormWeights layer;
  ConstMatrix input;
  Matrix output;
  const float* mean = nullptr;
  const float* inverse = nullptr;
};
void norm_again(const NormAgain& call);

/// B, and W with it: d_input is *added to*, for the residual stream runs past every layer norm; the gradients
/// of gain and bias are overwritten.
struct NormBackward {
  NormWeights layer;
  ConstMatrix input;
  const float* mean = nullptr;
  const float* inverse = nullptr;
  ConstMatrix d_output;
  Matrix d_input;
  float* d_gain = nullptr;
  float* d_bias = nullptr;
};
void norm_backward(const NormBackward& call);

/// output = GELU(input), the tanh form. Source: Hendrycks, Gimpel, "Gaussian Error Linear Units", 2016,
/// written as x * sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3), which is the same and needs one
/// exponential.
void gelu_forward(ConstMatrix input, Matrix output);

/// B, in place: gradient *= GELU'(input). GELU has no weights.
void gelu_backward(ConstMatrix input, Matrix gradient);

/// Token and position tables: [vocabulary, width] and [context, width].
struct EmbeddingWeights {
  ConstMatrix token;
  ConstMatrix position;
};

/// output[r] = token[tokens[r]] + position[r mod time]. Throws std::invalid_argument for a token outside the
/// table or a time longer than the position table.
struct EmbeddingForward {
  EmbeddingWeights layer;
  std::span<const std::uint8_t> tokens;  ///< [rows]
  std::size_t time = 0;                  ///< rows is a multiple of it
  Matrix output;                         ///< [rows, width]
};
void embedding_forward(const EmbeddingForward& call);

/// W (there is no B: tokens have no gradient): rows of d_output are summed in index order. Both tables are
/// overwritten.
struct EmbeddingBackward {
  std::span<const std::uint8_t> tokens;
  std::size_t time = 0;
  ConstMatrix d_output;
  Matrix d_token;
  Matrix d_position;
};
void embedding_backward(const EmbeddingBackward& call);

/// The mean over rows of -ln softmax(logits)[target], in nats; rows are summed in index order in double. If
/// `d_logits` has rows, it gets the gradient of that mean (it may be `logits` itself).
struct CrossEntropy {
  ConstMatrix logits;                     ///< [rows, vocabulary]
  std::span<const std::uint8_t> targets;  ///< [rows]
  Matrix d_logits;
};
float cross_entropy(const CrossEntropy& call);

/// to += from, element by element, the same extents.
void add(ConstMatrix from, Matrix to);

}  // namespace gpt
