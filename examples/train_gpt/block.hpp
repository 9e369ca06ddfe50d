// A transformer block (layer norm, attention, layer norm, MLP, each half added to the residual stream) as F,
// B and W. Functions, not an object: the weights belong to the stage, kept values to the micro-batch.
#pragma once

#include <vector>

#include "attention.hpp"
#include "parameters.hpp"

namespace gpt {

/// Values kept by F for B and W, and added by B for W, of one micro-batch in one block. B frees those that W
/// does not need. The outputs of layer norms and of GELU are not kept: computing them again is about a sixth
/// of W's time, keeping them would be half as much memory again.
struct BlockKept {
  std::vector<float> input;          ///< [rows, width]
  std::vector<float> mean1;          ///< [rows]
  std::vector<float> inverse1;       ///< [rows]
  std::vector<float> mixed_input;    ///< [rows, 3 * width]; until B
  std::vector<float> probabilities;  ///< [windows, heads, time, time]; until B
  std::vector<float> attended;       ///< [rows, width]
  std::vector<float> middle;         ///< [rows, width]: the residual stream between the halves
  std::vector<float> mean2;          ///< [rows]
  std::vector<float> inverse2;       ///< [rows]
  std::vector<float> hidden;         ///< [rows, 4 * width], before GELU

  std::vector<float> d_mixed_input;  ///< from B on, each like its namesake
  std::vector<float> d_middle;
  std::vector<float> d_hidden;
  std::vector<float> d_output;  ///< [rows, width]
};

/// F: input [rows, width] -> output [rows, width].
std::vector<float> block_forward(const AttentionShape& shape, BlockParts<const float> weights,
                                 std::vector<float> input, BlockKept& kept);

/// B: d_output -> d_input; `gradients` gets those of the two layer norms. Call once after F.
std::vector<float> block_backward_input(const AttentionShape& shape, BlockParts<const float> weights,
                                        std::vector<float> d_output, BlockKept& kept,
                                        BlockParts<float> gradients);

/// W: `gradients` gets those of the four linear layers, overwritten. Call any time after B.
void block_backward_weights(const AttentionShape& shape, BlockParts<const float> weights,
                            const BlockKept& kept, BlockParts<float> gradients);

}  // namespace gpt
