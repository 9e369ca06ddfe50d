// A checkpoint on disk: DIR/step-<n>/ with chunk files c0 .. cn and a MANIFEST that makes them valid. This
// file is the format and the order of writes; the job decides the content of the chunks, when to save and
// where the copies go.
//
// Why a crash at any moment costs at most the checkpoint being written: the chunks are on disk (fsync) before
// MANIFEST gets its name, the rename is atomic, and nothing older is deleted before the directory entries are
// on disk, too. A directory without MANIFEST was never finished and is no checkpoint.
//
// MANIFEST is text, a word and its values per line:
//   format dag-train-checkpoint 1
//   job train_gpt
//   step 20
//   previous 10                          (or "none")
//   note model layers 4, width 128 ...   (any number; for people and for the job)
//   chunks 2
//   chunk 0 1310784 <XXH3-64>            (bytes, hash)
//   chunk 1 ...
//   all <XXH3-128>                       (over the lines above, then all chunks' bytes; always the last line)
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpt {

/// An error of a checkpoint, and the checkpoints that are still there.
struct CheckpointError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr std::size_t chunks_max = 4096;
inline constexpr std::uint64_t chunk_bytes_max = 1ULL << 32;
inline constexpr std::uint64_t manifest_bytes_max = 1ULL << 20;

struct Checkpoint {
  std::string job;                           ///< one line; a checkpoint of another job is refused
  std::uint64_t step = 0;                    ///< steps done
  std::map<std::string, std::string> notes;  ///< keys are single words, values single lines
  std::vector<std::vector<std::uint8_t>> chunks;

  bool operator==(const Checkpoint&) const = default;
};

/// Writes DIR/step-<n>, creating DIR, and returns its path once it is on disk. Then deletes all that are
/// older than the two newest, which may be this one itself when it comes late: several may be written at
/// once. If the very same checkpoint is there already (a repeated save), it stays.
///
/// Throws CheckpointError (disk full, no permission, ...); files of this checkpoint are removed again, the
/// others are untouched. After a failed fsync the data is never assumed to be on disk: a repeat writes new
/// files.
std::filesystem::path write_checkpoint(const std::filesystem::path& directory, const Checkpoint& checkpoint);

/// The checkpoint of one step directory, verified whole: sizes, every hash, the hash over all. Throws
/// CheckpointError that names the file and the fault.
Checkpoint read_checkpoint(const std::filesystem::path& step_directory);

struct Newest {
  Checkpoint checkpoint;
  std::vector<std::string> skipped;  ///< newer ones that were damaged or unfinished, and why: to be shown
};

/// The newest usable checkpoint of `job` in DIR. Throws CheckpointError if DIR does not exist, holds none,
/// holds only damaged ones (each with its reason), or if the newest readable one is another job's.
Newest read_newest_checkpoint(const std::filesystem::path& directory, const std::string& job);

/// The steps of which DIR has a directory with a MANIFEST, ascending; not verified.
std::vector<std::uint64_t> checkpoint_steps(const std::filesystem::path& directory);

/// DIR/step-<n>.
std::filesystem::path checkpoint_path(const std::filesystem::path& directory, std::uint64_t step);

}  // namespace gpt
