// Shared by tests of train_gpt: small models and texts, a directory that goes away.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "examples/train_gpt/random.hpp"
#include "examples/train_gpt/text.hpp"
#include "examples/train_gpt/training.hpp"
#include "tests/support/temporary_directory.hpp"

namespace gpt::test {

using dag::test::TemporaryDirectory;

/// Values in [-1, 1), by index.
inline std::vector<float> noise(std::size_t count, std::uint64_t stream) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(2.0 * uniform({7, stream, i}) - 1.0);
  return values;
}

/// A model that trains in milliseconds. The odd width and context exercise the ends of rows.
inline Config small_config() {
  return {.layers = 4, .width = 22, .heads = 2, .context = 7, .vocabulary = 256, .batch = 3};
}

/// A text that can be learned: words in a fixed but irregular order.
inline std::vector<std::uint8_t> small_text(std::size_t bytes = 4000) {
  const std::vector<std::string> words = {"the ", "licence ", "of ", "this ", "work ", "is ", "free\n"};
  std::vector<std::uint8_t> text;
  for (std::uint64_t i = 0; text.size() < bytes; ++i) {
    const std::string& word = words[bits({3, 1, i}) % words.size()];
    text.insert(text.end(), word.begin(), word.end());
  }
  text.resize(bytes);
  return text;
}

inline Options small_options() {
  Options options;
  options.model = small_config();
  options.stages = 1;
  options.micro_batches = 3;
  options.steps = 6;
  options.warm_up_steps = 2;
  options.evaluate_every = 3;
  options.validation_windows = 5;
  options.shards = 2;
  return options;
}

inline void write_text_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read_text_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace gpt::test
