#include "nodes/disk/checkpoint_files.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <sstream>

#include "nodes/disk/durable_file.hpp"

namespace dag {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view format_line = "format dag-checkpoint 1";
constexpr std::uintmax_t manifest_bytes_max = 16 << 20;

fs::path chunk_path(const fs::path& save_directory, std::size_t index) {
  return save_directory / ("c" + std::to_string(index));
}

std::string chunk_hash(const Blob& state) {
  return hex(XXH3_64bits(state.bytes().data(), state.bytes().size()));
}

/// Names come from users: they may be anything but the end of a line.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return text;
}

std::string lines_of(const Checkpoint& checkpoint) {
  std::ostringstream lines;
  lines << format_line << "\njob " << one_line(checkpoint.job) << "\ngroup " << checkpoint.group << "\nsave "
        << checkpoint.number << "\nprevious " << checkpoint.previous << "\nchunks "
        << checkpoint.chunks.size() << '\n';
  for (const Checkpoint::Chunk& chunk : checkpoint.chunks) {
    lines << "chunk " << chunk.state.size_bytes() << ' ' << chunk_hash(chunk.state) << ' '
          << to_string(chunk.name.task) << ' ' << to_string(chunk.name.attempt) << ' '
          << one_line(chunk.actor) << '\n';
    for (const OutputName& input : chunk.inputs)
      lines << "input " << to_string(input.task) << ' ' << to_string(input.attempt) << '\n';
  }
  return lines.str();
}

std::string all_line(const std::string& lines, const std::vector<Checkpoint::Chunk>& chunks) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> hash(XXH3_createState(), &XXH3_freeState);
  XXH3_128bits_reset(hash.get());
  XXH3_128bits_update(hash.get(), lines.data(), lines.size());
  for (const Checkpoint::Chunk& chunk : chunks) {
    XXH3_128bits_update(hash.get(), chunk.state.bytes().data(), chunk.state.bytes().size());
  }
  const XXH128_hash_t all = XXH3_128bits_digest(hash.get());
  return "all " + hex(all.high64) + hex(all.low64) + "\n";
}

/// MANIFEST goes first: a save that is half deleted must not look damaged.
void remove_save(const fs::path& save_directory) {
  std::error_code ignored;  // Files that stay behind are no checkpoint, and go with the job.
  fs::remove(save_directory / "MANIFEST", ignored);
  fs::remove_all(save_directory, ignored);
}

std::optional<std::uint32_t> number_of(const fs::path& save_directory) {
  const std::string name = save_directory.filename().string();
  std::uint32_t number = 0;
  const char* end = name.data() + name.size();
  if (!name.starts_with("save-")) return std::nullopt;
  const auto [stop, problem] = std::from_chars(name.data() + 5, end, number);
  if (problem != std::errc{} || stop != end) return std::nullopt;
  return number;
}

Error damaged(const fs::path& file, const std::string& what) {
  return {ErrorCode::checkpoint_damaged, file.string() + " " + what};
}

/// Exactly so many bytes, which the file must have.
Result<Blob> read_exactly(const fs::path& path, std::uintmax_t size_bytes) {
  std::error_code failed;
  const std::uintmax_t there = fs::file_size(path, failed);
  if (failed) return damaged(path, "cannot be read: " + failed.message());
  if (there != size_bytes) {
    return damaged(path, (there < size_bytes ? "is truncated: " : "is too long: ") + std::to_string(there) +
                             " bytes instead of " + std::to_string(size_bytes));
  }
  std::string bytes(size_bytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file) return damaged(path, "cannot be read");
  return Blob(std::as_bytes(std::span(bytes)));
}

/// The rest of the next line, which must begin with the word.
bool line_after(std::istream& text, std::string_view word, std::string& rest) {
  std::string line;
  if (!std::getline(text, line) || !line.starts_with(word) || line.size() <= word.size()) return false;
  rest = line.substr(word.size() + 1);
  return line[word.size()] == ' ';
}
template <class Number>
bool number_after(std::istream& text, std::string_view word, Number& number) {
  std::string rest;
  if (!line_after(text, word, rest)) return false;
  const auto [stop, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return problem == std::errc{} && stop == rest.data() + rest.size();
}

bool name_from(std::istream& words, OutputName& name) {
  std::string task, attempt;
  if (!(words >> task >> attempt)) return false;
  const auto task_id = parse_task_id(task);
  const auto attempt_id = parse_attempt_id(attempt);
  if (!task_id || !attempt_id) return false;
  name = {*task_id, *attempt_id};
  return true;
}

}  // namespace

fs::path save_path(const fs::path& group_directory, std::uint32_t number) {
  return group_directory / ("save-" + std::to_string(number));
}

std::string job_of_save(const fs::path& save_directory) {
  std::ifstream manifest(save_directory / "MANIFEST");
  std::string format, job;
  const bool is_one =
      std::getline(manifest, format) && format == format_line && line_after(manifest, "job", job);
  return is_one ? job : std::string();
}

std::vector<std::uint32_t> saves_in(const fs::path& group_directory) {
  std::vector<std::uint32_t> numbers;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(group_directory, none)) {
    const auto number = number_of(entry.path());
    if (number && fs::exists(entry.path() / "MANIFEST", none)) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Status write_checkpoint(const fs::path& group_directory, const Checkpoint& checkpoint, Files& files) {
  const fs::path directory = save_path(group_directory, checkpoint.number);
  remove_save(directory);  // Leftovers of an earlier try, or of a save that was taken back and made again.
  std::error_code failed;
  Status written =
      files.make_directories(directory.string()) ? Status(Done{}) : cannot("make", directory.string());
  for (std::size_t i = 0; i < checkpoint.chunks.size() && written; ++i) {
    written = write_whole(files, chunk_path(directory, i).string(), checkpoint.chunks[i].state.bytes());
  }
  if (written) {
    const std::string lines = lines_of(checkpoint);
    const std::string text = lines + all_line(lines, checkpoint.chunks);
    written = write_whole(files, (directory / "MANIFEST").string(), std::as_bytes(std::span(text)));
  }
  if (!written) {
    remove_save(directory);
    return written;
  }
  const std::vector<std::uint32_t> finished = saves_in(group_directory);
  for (const auto& entry : fs::directory_iterator(group_directory, failed)) {
    const auto number = number_of(entry.path());
    if (number && finished.size() > 2 && *number < finished[finished.size() - 2]) remove_save(entry.path());
  }
  return Done{};
}

Result<Checkpoint> read_checkpoint(const fs::path& save_directory) {
  const fs::path manifest = save_directory / "MANIFEST";
  std::error_code failed;
  const std::uintmax_t size_bytes = fs::file_size(manifest, failed);
  if (failed) return damaged(save_directory, "was never finished: it has no MANIFEST");
  if (size_bytes > manifest_bytes_max) return damaged(manifest, "is too long");
  const Result<Blob> whole = read_exactly(manifest, size_bytes);
  if (!whole) return whole.error();
  const std::string text(reinterpret_cast<const char*>(whole->bytes().data()), whole->bytes().size());
  std::istringstream in(text);
  Checkpoint checkpoint;
  std::string format;
  std::size_t chunks = 0;
  const bool head = std::getline(in, format) && format == format_line &&
                    line_after(in, "job", checkpoint.job) && number_after(in, "group", checkpoint.group) &&
                    number_after(in, "save", checkpoint.number) &&
                    number_after(in, "previous", checkpoint.previous) && number_after(in, "chunks", chunks);
  if (!head) return damaged(manifest, "is truncated, or not one of this format");
  for (std::size_t i = 0; i < chunks; ++i) {
    std::string rest, hash;
    std::uintmax_t bytes = 0;
    Checkpoint::Chunk chunk;
    if (!line_after(in, "chunk", rest)) return damaged(manifest, "is truncated");
    std::istringstream words(rest);
    if (!(words >> bytes >> hash) || !name_from(words, chunk.name))
      return damaged(manifest, "has a bad line");
    words.get();
    std::getline(words, chunk.actor);
    Result<Blob> state = read_exactly(chunk_path(save_directory, i), bytes);
    if (!state) return state.error();
    chunk.state = std::move(state).value();
    if (chunk_hash(chunk.state) != hash) {
      return damaged(chunk_path(save_directory, i), "is damaged: its checksum does not fit");
    }
    while (in.peek() == 'i') {
      if (!line_after(in, "input", rest)) return damaged(manifest, "is truncated");
      std::istringstream input(rest);
      if (!name_from(input, chunk.inputs.emplace_back())) return damaged(manifest, "has a bad line");
    }
    checkpoint.chunks.push_back(std::move(chunk));
  }
  const std::size_t lines = static_cast<std::size_t>(std::max<std::streamoff>(in.tellg(), 0));
  if (text.substr(lines) != all_line(text.substr(0, lines), checkpoint.chunks)) {
    return damaged(manifest, "is damaged: the checksum over all does not fit");
  }
  if (number_of(save_directory) != checkpoint.number) return damaged(manifest, "is that of another save");
  return checkpoint;
}

}  // namespace dag
