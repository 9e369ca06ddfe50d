#include "text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "random.hpp"

namespace gpt {
namespace {

namespace fs = std::filesystem;

std::string hint() {
  return " Name a readable text with --text FILE, or leave --text away to train on " +
         std::string(licences_directory) + ".";
}

std::vector<std::uint8_t> read_file(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) throw TextError("text '" + file.string() + "' does not exist." + hint());
  if (!fs::is_regular_file(status))
    throw TextError("text '" + file.string() + "' is not a regular file." + hint());
  const std::uintmax_t size_bytes = fs::file_size(file, error);
  if (!error && size_bytes > text_bytes_max)
    throw TextError("text '" + file.string() + "' has " + std::to_string(size_bytes) +
                    " bytes; at most 1 GiB is read." + hint());
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw TextError("text '" + file.string() + "': " + std::strerror(errno) + "." + hint());
  std::vector<std::uint8_t> bytes(error ? 0 : size_bytes);
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (static_cast<std::size_t>(stream.gcount()) != bytes.size())
    throw TextError("text '" + file.string() + "' ended early while it was read." + hint());
  return bytes;
}

std::size_t windows_in(std::size_t text_bytes, std::uint32_t context) {
  return text_bytes > context ? text_bytes - context : 0;
}

struct Window {
  const std::uint8_t* at = nullptr;
  std::uint32_t context = 0;
};

void append(Batch& batch, const Window& window) {
  batch.tokens.insert(batch.tokens.end(), window.at, window.at + window.context);
  batch.targets.insert(batch.targets.end(), window.at + 1, window.at + 1 + window.context);
  ++batch.rows;
}

}  // namespace

std::vector<std::uint8_t> load_licences(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    if (entry->symlink_status().type() == fs::file_type::regular) files.push_back(entry->path());
  if (error)
    throw TextError("licence texts in '" + directory.string() + "': " + error.message() + "." + hint());
  std::sort(files.begin(), files.end());
  std::vector<std::uint8_t> text;
  for (const fs::path& file : files) {
    const std::vector<std::uint8_t> bytes = read_file(file);
    text.insert(text.end(), bytes.begin(), bytes.end());
  }
  if (text.empty()) throw TextError("there are no licence texts in '" + directory.string() + "'." + hint());
  return text;
}

std::vector<std::uint8_t> load_text(const fs::path& file) {
  std::vector<std::uint8_t> text = read_file(file);
  if (text.empty()) throw TextError("text '" + file.string() + "' is empty." + hint());
  return text;
}

std::uint32_t shards_that_fit(const Cut& cut) {
  const std::uint64_t window_bytes = std::uint64_t{cut.context} + 1;
  const std::string needed = " bytes; with a context of " + std::to_string(cut.context) + " at least " +
                             std::to_string(2 * window_bytes) +
                             " are needed (one window to train on, one to validate on). "
                             "Use a longer text, or a smaller --context.";
  if (cut.text_bytes < window_bytes)
    throw TextError("the text is smaller than the context: it has " + std::to_string(cut.text_bytes) +
                    needed);
  if (cut.text_bytes < 2 * window_bytes)
    throw TextError("the text is too small: it has " + std::to_string(cut.text_bytes) + needed);
  const std::uint64_t room = cut.text_bytes / (2 * window_bytes);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(cut.shards, 1, room));
}

Shard make_shard(std::span<const std::uint8_t> text, const Cut& cut, std::uint32_t index) {
  const std::uint32_t shards = shards_that_fit(cut);
  if (index >= shards || text.size() != cut.text_bytes)
    throw std::invalid_argument("there is no shard " + std::to_string(index) + " of " +
                                std::to_string(shards) + " in " + std::to_string(text.size()) + " bytes");
  const std::size_t from = text.size() * index / shards;
  const std::size_t to = text.size() * (index + 1) / shards;
  const std::size_t tail_bytes = std::max<std::size_t>((to - from) / 10, std::size_t{cut.context} + 1);
  const auto part = text.subspan(from, to - from);
  const auto head = part.first(part.size() - tail_bytes);
  const auto tail = part.last(tail_bytes);
  return {{head.begin(), head.end()}, {tail.begin(), tail.end()}};
}

std::vector<Shard> make_shards(std::span<const std::uint8_t> text, std::uint32_t shards,
                               std::uint32_t context) {
  const Cut cut{text.size(), shards, context};
  std::vector<Shard> all;
  for (std::uint32_t index = 0; index < shards_that_fit(cut); ++index)
    all.push_back(make_shard(text, cut, index));
  return all;
}

Batch training_batch(std::span<const Shard> shards, const Config& config, const BatchAt& at) {
  std::uint64_t windows = 0;
  for (const Shard& shard : shards) windows += windows_in(shard.training.size(), config.context);
  if (windows == 0) throw TextError("the training text is smaller than the context." + hint());
  const std::uint64_t stream =
      mix(mix(mix(stream_of("training batch") ^ at.step) ^ at.replica) ^ at.micro_batch);
  Batch batch;
  for (std::uint32_t row = 0; row < config.batch; ++row) {
    std::uint64_t window = bits({at.seed, stream, row}) % windows;
    for (const Shard& shard : shards) {
      const std::uint64_t here = windows_in(shard.training.size(), config.context);
      if (window < here) {
        append(batch, {shard.training.data() + window, config.context});
        break;
      }
      window -= here;
    }
  }
  return batch;
}

std::vector<Batch> validation_batches(std::span<const std::uint8_t> validation, const Config& config,
                                      std::uint32_t windows_max) {
  if (validation.size() <= config.context)
    throw TextError("a validation shard of " + std::to_string(validation.size()) +
                    " bytes is smaller than the context of " + std::to_string(config.context) + "." + hint());
  const std::size_t room = (validation.size() - 1) / config.context;
  const std::size_t windows = windows_max == 0 ? room : std::min<std::size_t>(room, windows_max);
  std::vector<Batch> batches;
  for (std::size_t window = 0; window < windows; ++window) {
    if (window % config.batch == 0) batches.emplace_back();
    const std::size_t chosen = window * room / windows;
    append(batches.back(), {validation.data() + chosen * config.context, config.context});
  }
  return batches;
}

}  // namespace gpt
