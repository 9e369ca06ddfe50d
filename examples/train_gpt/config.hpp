// The size of the model and how it is cut into stages.
#pragma once

#include <cstdint>
#include <string>

namespace gpt {

/// A decoder-only transformer over bytes. The defaults have 867,328 parameters.
struct Config {
  std::uint32_t layers = 4;
  std::uint32_t width = 128;
  std::uint32_t heads = 4;
  std::uint32_t context = 64;      ///< tokens in a window
  std::uint32_t vocabulary = 256;  ///< bytes; smaller only in tests
  std::uint32_t batch = 8;         ///< windows in a micro-batch

  bool operator==(const Config&) const = default;
};

/// Stage `index` of `count`: the blocks [first_block, end_block), with the embedding if it is the first and
/// the final layer norm, head and loss if it is the last.
struct StagePlace {
  std::uint32_t index = 0;
  std::uint32_t count = 1;

  bool first() const { return index == 0; }
  bool last() const { return index + 1 == count; }
  bool operator==(const StagePlace&) const = default;
};

/// Blocks are dealt out evenly; where layers do not divide by stages, later stages have the extra one.
inline std::uint32_t first_block(const Config& config, StagePlace place) {
  return config.layers * place.index / place.count;
}
inline std::uint32_t end_block(const Config& config, StagePlace place) {
  return config.layers * (place.index + 1) / place.count;
}

/// Throws std::invalid_argument that says which number is wrong and what it may be.
void check(const Config& config);
void check(const Config& config, StagePlace place);

/// "layers 4, width 128, heads 4, context 64, vocabulary 256, batch 8", for messages and manifests.
std::string to_string(const Config& config);

}  // namespace gpt
