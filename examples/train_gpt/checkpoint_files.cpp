#include "checkpoint_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <system_error>

#include "manifest.hpp"

namespace gpt {
namespace {

namespace fs = std::filesystem;

/// Fails with the system's reason; `errno` is read first.
[[noreturn]] void fail(const std::string& doing, const fs::path& path) {
  const int why = errno;
  throw CheckpointError(doing + " '" + path.string() + "': " + std::strerror(why));
}

/// An open file or directory.
class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags)
      : path_(path), number_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (number_ < 0) fail("opening", path_);
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void write_all(std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(number_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("writing", path_);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  /// Also the directory's, without which a rename may be lost.
  void sync() {
    if (::fsync(number_) != 0) fail("bringing to disk", path_);
  }
  /// Some file systems report a full disk only here.
  void close() {
    const int number = number_;
    number_ = -1;
    if (::close(number) != 0) fail("closing", path_);
  }
  std::uint64_t size_bytes() const {
    struct stat status = {};
    if (::fstat(number_, &status) != 0) fail("reading", path_);
    if (!S_ISREG(status.st_mode)) throw CheckpointError("'" + path_.string() + "' is not a regular file");
    return static_cast<std::uint64_t>(status.st_size);
  }
  /// Exactly `count` bytes; throws if the file has fewer.
  void read_all(std::uint8_t* to, std::size_t count) {
    while (count > 0) {
      const ssize_t got = ::read(number_, to, count);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("reading", path_);
      if (got == 0) throw CheckpointError("'" + path_.string() + "' is truncated");
      to += got;
      count -= static_cast<std::size_t>(got);
    }
  }

 private:
  fs::path path_;
  int number_;
};

void write_durably(const fs::path& path, std::span<const std::uint8_t> bytes) {
  Descriptor file(path, O_CREAT | O_TRUNC | O_WRONLY | O_NOFOLLOW);
  file.write_all(bytes);
  file.sync();
  file.close();
}

void sync_directory(const fs::path& path) { Descriptor(path, O_RDONLY | O_DIRECTORY).sync(); }

fs::path chunk_path(const fs::path& step_directory, std::size_t index) {
  return step_directory / ("c" + std::to_string(index));
}

std::optional<std::uint64_t> step_of(const fs::path& path) {
  const std::string name = path.filename().string();
  constexpr std::string_view prefix = "step-";
  if (!name.starts_with(prefix)) return std::nullopt;
  std::uint64_t step = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + prefix.size(), end, step);
  if (error != std::errc{} || stop != end || checkpoint_path("", step) != path.filename())
    return std::nullopt;
  return step;
}

/// Every step-<n> directory, with or without MANIFEST, ascending.
std::vector<std::uint64_t> all_steps(const fs::path& directory) {
  std::vector<std::uint64_t> steps;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    if (const auto step = step_of(entry->path())) steps.push_back(*step);
  std::sort(steps.begin(), steps.end());
  return steps;
}

/// MANIFEST goes first: a checkpoint that is half deleted must not look damaged. Only names of ours are
/// deleted, so a directory of somebody else's that is called step-<n>, too, keeps its files.
void remove_checkpoint(const fs::path& step_directory) {
  std::error_code ignored;  // The next save finds and removes files that stay behind.
  fs::remove(step_directory / "MANIFEST", ignored);
  fs::remove(step_directory / "MANIFEST.tmp", ignored);
  for (std::size_t i = 0; i < chunks_max && fs::remove(chunk_path(step_directory, i), ignored); ++i) continue;
  fs::remove(step_directory, ignored);
}

bool is_word(const std::string& text) {
  return !text.empty() && text.find_first_of(" \n\r") == std::string::npos;
}
bool is_line(const std::string& text) { return text.find_first_of("\n\r") == std::string::npos; }

void check(const Checkpoint& checkpoint) {
  bool fits = !checkpoint.job.empty() && is_line(checkpoint.job) && checkpoint.chunks.size() <= chunks_max;
  for (const auto& [key, value] : checkpoint.notes) fits = fits && is_word(key) && is_line(value);
  for (const auto& chunk : checkpoint.chunks) fits = fits && chunk.size() <= chunk_bytes_max;
  if (!fits)
    throw CheckpointError("a checkpoint's job name, notes or chunks are not what its format can hold");
}

std::optional<std::uint64_t> newest_below(const std::vector<std::uint64_t>& steps, std::uint64_t step) {
  const auto above = std::lower_bound(steps.begin(), steps.end(), step);
  if (above == steps.begin()) return std::nullopt;
  return *(above - 1);
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void write_files(const fs::path& step_directory, const Checkpoint& checkpoint, const Manifest& manifest) {
  if (::mkdir(step_directory.c_str(), 0755) != 0) fail("creating", step_directory);
  for (std::size_t i = 0; i < checkpoint.chunks.size(); ++i)
    write_durably(chunk_path(step_directory, i), checkpoint.chunks[i]);
  const std::string lines = manifest_lines(manifest);
  const std::string text = lines + all_line(lines, checkpoint.chunks);
  const fs::path temporary = step_directory / "MANIFEST.tmp";
  write_durably(temporary, bytes_of(text));
  if (::rename(temporary.c_str(), (step_directory / "MANIFEST").c_str()) != 0) fail("renaming", temporary);
  sync_directory(step_directory);
  sync_directory(step_directory.parent_path());
}

bool is_there_already(const fs::path& step_directory, const Checkpoint& checkpoint) {
  try {
    return read_checkpoint(step_directory) == checkpoint;
  } catch (const CheckpointError&) {
    return false;
  }
}

[[noreturn]] void report_failure(const fs::path& directory, std::uint64_t step, const std::string& why) {
  const std::vector<std::uint64_t> left = checkpoint_steps(directory);
  throw CheckpointError("cannot save the checkpoint of step " + std::to_string(step) + ": " + why + ". " +
                        (left.empty()
                             ? std::string("There is no earlier checkpoint.")
                             : "The checkpoint of step " + std::to_string(left.back()) + " is intact.") +
                        " Make room or choose another directory.");
}

}  // namespace

fs::path checkpoint_path(const fs::path& directory, std::uint64_t step) {
  return directory / ("step-" + std::to_string(step));
}

std::vector<std::uint64_t> checkpoint_steps(const fs::path& directory) {
  std::vector<std::uint64_t> steps = all_steps(directory);
  std::erase_if(steps, [&](std::uint64_t step) {
    std::error_code error;
    return !fs::exists(checkpoint_path(directory, step) / "MANIFEST", error);
  });
  return steps;
}

fs::path write_checkpoint(const fs::path& directory, const Checkpoint& checkpoint) {
  check(checkpoint);
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    throw CheckpointError("cannot create the checkpoint directory '" + directory.string() +
                          "': " + error.message());
  const fs::path step_directory = checkpoint_path(directory, checkpoint.step);
  const std::vector<std::uint64_t> before = checkpoint_steps(directory);
  const std::optional<std::uint64_t> previous = newest_below(before, checkpoint.step);
  if (!is_there_already(step_directory, checkpoint)) {
    Manifest manifest{checkpoint.job, checkpoint.step, previous, checkpoint.notes, {}};
    for (const auto& chunk : checkpoint.chunks) manifest.chunks.push_back({chunk.size(), chunk_hash(chunk)});
    remove_checkpoint(step_directory);
    try {
      write_files(step_directory, checkpoint, manifest);
    } catch (const CheckpointError& failure) {
      remove_checkpoint(step_directory);
      report_failure(directory, checkpoint.step, failure.what());
    }
  }
  // Several may be written at once, in any order: what is newer is not ours to delete.
  const std::vector<std::uint64_t> finished = checkpoint_steps(directory);
  if (finished.size() > 2)
    for (const std::uint64_t step : all_steps(directory))
      if (step < finished[finished.size() - 2]) remove_checkpoint(checkpoint_path(directory, step));
  return step_directory;
}

Checkpoint read_checkpoint(const fs::path& step_directory) {
  Descriptor manifest_file(step_directory / "MANIFEST", O_RDONLY);
  const std::uint64_t manifest_bytes = manifest_file.size_bytes();
  if (manifest_bytes > manifest_bytes_max) throw CheckpointError("MANIFEST has more than 1 MiB");
  std::vector<std::uint8_t> text(manifest_bytes);
  manifest_file.read_all(text.data(), text.size());
  const ParsedManifest parsed = parse_manifest({text.begin(), text.end()});

  Checkpoint checkpoint{parsed.manifest.job, parsed.manifest.step, parsed.manifest.notes, {}};
  for (std::size_t i = 0; i < parsed.manifest.chunks.size(); ++i) {
    const ChunkEntry& entry = parsed.manifest.chunks[i];
    const fs::path path = chunk_path(step_directory, i);
    Descriptor file(path, O_RDONLY);
    const std::uint64_t size_bytes = file.size_bytes();
    if (size_bytes != entry.size_bytes)
      throw CheckpointError(
          "'" + path.string() + "' is " + (size_bytes < entry.size_bytes ? "truncated: " : "too long: ") +
          std::to_string(size_bytes) + " bytes instead of " + std::to_string(entry.size_bytes));
    std::vector<std::uint8_t> chunk(size_bytes);
    file.read_all(chunk.data(), chunk.size());
    if (chunk_hash(chunk) != entry.hash)
      throw CheckpointError("'" + path.string() + "' is damaged: its checksum does not fit");
    checkpoint.chunks.push_back(std::move(chunk));
  }
  if (all_line(parsed.lines, checkpoint.chunks) != parsed.all_line)
    throw CheckpointError("MANIFEST is damaged: the checksum over all does not fit");
  if (step_of(step_directory) != checkpoint.step)
    throw CheckpointError("MANIFEST says step " + std::to_string(checkpoint.step) + ", its directory is '" +
                          step_directory.filename().string() + "'");
  return checkpoint;
}

Newest read_newest_checkpoint(const fs::path& directory, const std::string& job) {
  const std::string where = "'" + directory.string() + "'";
  std::error_code error;
  if (!fs::is_directory(directory, error))
    throw CheckpointError("there is no checkpoint directory " + where + ": " +
                          (error ? error.message() : "it does not exist or is no directory"));
  std::vector<std::uint64_t> steps = all_steps(directory);
  Newest newest;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const fs::path path = checkpoint_path(directory, *step);
    if (!fs::exists(path / "MANIFEST", error)) {
      newest.skipped.push_back("step " + std::to_string(*step) + " was never finished (no MANIFEST)");
      continue;
    }
    try {
      newest.checkpoint = read_checkpoint(path);
    } catch (const CheckpointError& damage) {
      newest.skipped.push_back("step " + std::to_string(*step) + " is unusable: " + damage.what());
      continue;
    }
    if (newest.checkpoint.job != job)
      throw CheckpointError("the checkpoint in " + where + " belongs to job '" + newest.checkpoint.job +
                            "', not to '" + job + "'");
    return newest;
  }
  std::string why;
  for (const std::string& reason : newest.skipped) why += "\n  " + reason;
  throw CheckpointError("there is no usable checkpoint in " + where +
                        (why.empty() ? ": it has no step-<n> directories" : ":" + why));
}

}  // namespace gpt
