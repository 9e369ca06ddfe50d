// Text out of a trained model, a byte at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "random.hpp"
#include "stage.hpp"

namespace gpt {

/// The next token: softmax(logits / temperature), drawn by `draw`. A temperature of 0 takes the likeliest.
std::uint8_t sample(std::span<const float> logits, float temperature, const Draw& draw);

struct Generation {
  std::string prompt;         ///< an empty one stands for a line break
  std::uint32_t bytes = 200;  ///< how many to add
  float temperature = 0.8F;
  std::uint64_t seed = 1;
};

/// The prompt and what the model makes of it. `stages` are all stages of one model in order (one, for a whole
/// model). The model sees the last `context` bytes; byte n is drawn with counter n, so the text depends on
/// weights and settings only. Throws std::invalid_argument if stages are missing or out of order.
std::string generate(std::span<const Stage> stages, const Generation& wanted);

/// For terminals: bytes that are neither printable ASCII nor line breaks become '?'.
std::string printable(std::string text);

}  // namespace gpt
