// Causal multi-head attention without its linear layers: position t of a window looks at positions 0..t of
// the same window. It has no weights, so only forward and B exist. Source: Vaswani et al., "Attention Is All
// You Need", 2017, with the decoder's mask.
#pragma once

#include "matrix.hpp"

namespace gpt {

struct AttentionShape {
  std::size_t windows = 0;  ///< rows = windows * time
  std::size_t time = 0;
  std::size_t width = 0;  ///< a multiple of heads
  std::size_t heads = 0;
};

/// attended = softmax(Q K^T / sqrt(width / heads), masked) V for each window and head. Columns of
/// `mixed_input`: all heads' queries, then keys, then values.
struct AttentionForward {
  AttentionShape shape;
  ConstMatrix mixed_input;         ///< [rows, 3 * width]
  Matrix attended;                 ///< [rows, width]
  float* probabilities = nullptr;  ///< [windows, heads, time, time], kept for backward
};
void attention_forward(const AttentionForward& call);

/// B. Overwrites d_mixed_input.
struct AttentionBackward {
  AttentionShape shape;
  ConstMatrix mixed_input;
  const float* probabilities = nullptr;
  ConstMatrix d_attended;  ///< [rows, width]
  Matrix d_mixed_input;    ///< [rows, 3 * width]
};
void attention_backward(const AttentionBackward& call);

}  // namespace gpt
