// From files to batches: load a text, cut it into shards, draw windows. Bytes are the tokens. Everything here
// is a function of its arguments, so any process that has the same text draws the same batches.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "config.hpp"
#include "tensor.hpp"

namespace gpt {

/// A fault of a text, and the remedy.
struct TextError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The licence texts that every Debian has.
inline constexpr const char* licences_directory = "/usr/share/common-licenses";

/// A text longer than this is refused rather than read.
inline constexpr std::uint64_t text_bytes_max = 1ULL << 30;

/// The regular files of a directory, sorted by name, end to end; symbolic links (GPL -> GPL-3) would repeat a
/// text and are left out. Throws TextError if there is nothing to read.
std::vector<std::uint8_t> load_licences(const std::filesystem::path& directory = licences_directory);

/// `--text FILE`. Throws TextError for a file that is missing, unreadable, no file, empty or too long.
std::vector<std::uint8_t> load_text(const std::filesystem::path& file);

/// A contiguous part of the text: its head to train on, its tail to validate on.
struct Shard {
  std::vector<std::uint8_t> training;
  std::vector<std::uint8_t> validation;

  bool operator==(const Shard&) const = default;
};

/// How to cut a text of `text_bytes`.
struct Cut {
  std::uint64_t text_bytes = 0;
  std::uint32_t shards = 4;
  std::uint32_t context = 64;
};

/// The number of shards that the text has room for, at most those asked for: every shard must hold one window
/// (context + 1 bytes) to train on and one to validate on. Throws TextError if the text has room for none.
std::uint32_t shards_that_fit(const Cut& cut);

/// Makes shard `index` (< shards_that_fit): a tenth of it, but at least a window, is for validation. Called
/// by a preprocessing task.
Shard make_shard(std::span<const std::uint8_t> text, const Cut& cut, std::uint32_t index);

/// All shards of a text, at most `shards`.
std::vector<Shard> make_shards(std::span<const std::uint8_t> text, std::uint32_t shards,
                               std::uint32_t context);

/// The coordinates of a batch: every (step, replica, micro_batch) has its own draws.
struct BatchAt {
  std::uint64_t seed = 0;
  std::uint32_t step = 0;
  std::uint32_t replica = 0;
  std::uint32_t micro_batch = 0;
};

/// `config.batch` windows drawn with replacement, each window of the training parts equally likely; windows
/// do not cross shards. Throws TextError if no shard holds a window.
Batch training_batch(std::span<const Shard> shards, const Config& config, const BatchAt& at);

/// A validation shard as consecutive, not overlapping windows, `config.batch` in a batch (the last one may
/// have fewer). At most `windows_max` windows, spread evenly; 0 means all.
std::vector<Batch> validation_batches(std::span<const std::uint8_t> validation, const Config& config,
                                      std::uint32_t windows_max);

}  // namespace gpt
