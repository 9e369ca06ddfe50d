#include "manifest.hpp"

#include <xxhash.h>

#include <charconv>
#include <memory>
#include <string_view>

namespace gpt {
namespace {

constexpr std::string_view format_line = "format dag-train-checkpoint 1";

std::string hex(std::uint64_t value) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; value >>= 4) text[i] = digits[value & 15U];
  return text;
}

/// Walks the lines of a manifest; every error names the line.
class Lines {
 public:
  explicit Lines(std::string_view text) : left_(text) {}

  bool done() const { return left_.empty(); }
  std::size_t number() const { return number_; }

  std::string_view next() {
    const std::size_t end = left_.find('\n');
    ++number_;
    if (end == std::string_view::npos) fail("the file ends in the middle of a line: it is truncated");
    const std::string_view line = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    return line;
  }

  /// The rest of the next line, which must start with `word`.
  std::string_view next_after(std::string_view word) {
    if (done()) fail("'" + std::string(word) + "' is missing: the file is truncated");
    return after(next(), word);
  }

  std::string_view after(std::string_view line, std::string_view word) const {
    if (!line.starts_with(word) || line.size() <= word.size() || line[word.size()] != ' ')
      fail("expected '" + std::string(word) + "'");
    return line.substr(word.size() + 1);
  }

  std::uint64_t number_in(std::string_view text, int base) const {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size())
      fail("'" + std::string(text) + "' is no number");
    return value;
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw CheckpointError("MANIFEST, line " + std::to_string(number_) + ": " + why);
  }

 private:
  std::string_view left_;
  std::size_t number_ = 0;
};

ChunkEntry parse_chunk(const Lines& lines, std::string_view text, std::size_t index) {
  const std::size_t first = text.find(' ');
  const std::size_t second = first == std::string_view::npos ? first : text.find(' ', first + 1);
  if (second == std::string_view::npos) lines.fail("a chunk needs index, size and hash");
  if (lines.number_in(text.substr(0, first), 10) != index) lines.fail("chunks are not in order");
  const ChunkEntry entry{lines.number_in(text.substr(first + 1, second - first - 1), 10),
                         lines.number_in(text.substr(second + 1), 16)};
  if (entry.size_bytes > chunk_bytes_max) lines.fail("a chunk of more than 4 GiB");
  return entry;
}

}  // namespace

std::uint64_t chunk_hash(std::span<const std::uint8_t> chunk) {
  return XXH3_64bits(chunk.data(), chunk.size());
}

std::string manifest_lines(const Manifest& manifest) {
  std::string text = std::string(format_line) + "\n";
  text += "job " + manifest.job + "\n";
  text += "step " + std::to_string(manifest.step) + "\n";
  text += "previous " + (manifest.previous ? std::to_string(*manifest.previous) : "none") + "\n";
  for (const auto& [key, value] : manifest.notes) text += "note " + key + " " + value + "\n";
  text += "chunks " + std::to_string(manifest.chunks.size()) + "\n";
  for (std::size_t i = 0; i < manifest.chunks.size(); ++i)
    text += "chunk " + std::to_string(i) + " " + std::to_string(manifest.chunks[i].size_bytes) + " " +
            hex(manifest.chunks[i].hash) + "\n";
  return text;
}

std::string all_line(const std::string& lines, std::span<const std::vector<std::uint8_t>> chunks) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  XXH3_128bits_reset(state.get());
  XXH3_128bits_update(state.get(), lines.data(), lines.size());
  for (const auto& chunk : chunks) XXH3_128bits_update(state.get(), chunk.data(), chunk.size());
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return "all " + hex(hash.high64) + hex(hash.low64) + "\n";
}

ParsedManifest parse_manifest(const std::string& text) {
  Lines lines(text);
  ParsedManifest parsed;
  Manifest& manifest = parsed.manifest;
  if (lines.done()) lines.fail("the file is empty");
  if (const std::string_view line = lines.next(); line != format_line)
    lines.fail("'" + std::string(line.substr(0, 60)) + "' is not '" + std::string(format_line) + "'");
  manifest.job = lines.next_after("job");
  manifest.step = lines.number_in(lines.next_after("step"), 10);
  const std::string_view previous = lines.next_after("previous");
  if (previous != "none") manifest.previous = lines.number_in(previous, 10);
  std::string_view line;
  for (line = lines.done() ? "" : lines.next(); line.starts_with("note ");
       line = lines.done() ? "" : lines.next()) {
    const std::string_view note = lines.after(line, "note");
    const std::size_t space = note.find(' ');
    if (space == std::string_view::npos) lines.fail("a note needs a key and a value");
    manifest.notes.emplace(note.substr(0, space), note.substr(space + 1));
  }
  const std::uint64_t count = lines.number_in(lines.after(line, "chunks"), 10);
  if (count > chunks_max) lines.fail("more than " + std::to_string(chunks_max) + " chunks");
  for (std::size_t i = 0; i < count; ++i)
    manifest.chunks.push_back(parse_chunk(lines, lines.next_after("chunk"), i));
  const std::string_view all = lines.next_after("all");
  if (!lines.done()) lines.fail("there is more behind the last line");
  parsed.all_line = "all " + std::string(all) + "\n";
  parsed.lines = text.substr(0, text.size() - parsed.all_line.size());
  return parsed;
}

}  // namespace gpt
