#pragma once
// A save of a save group on the disk: a directory save-N with a chunk file for the state of each of its job
// actors, and a MANIFEST that makes them valid. A checkpoint of a running task is a save with one chunk. This
// file has the format and the order of writes; checkpoint_store.hpp decides when to write, and for how long
// to keep.
//
// Why a crash at any moment costs at most the save being written: the chunks are on the disk before MANIFEST
// gets its name, the rename is atomic, and nothing older is deleted before the directory is on the disk, too.
// A directory without MANIFEST was never finished, and is no checkpoint.
//
// MANIFEST is text:
//   format dag-checkpoint 1
//   job job1 train_gpt
//   group 0                              (by its first job actor)
//   save 12
//   previous 11                          (0: none)
//   chunks 2
//   chunk 1310784 <XXH3-64> 41 #1.1.2 stage 0    (file c0: bytes, hash; the task and attempt that saved; the
//   chunk ...                                     job actor's name)
//   input 40 #1.1.1                      (what a task's state was computed from; follows its chunk)
//   all <XXH3-128>                       (over the lines above, then all chunks' bytes; always the last line)

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "dag/blob.hpp"
#include "libdag/base/result.hpp"
#include "libdag/job/attempt.hpp"
#include "nodes/disk/files.hpp"

namespace dag {

struct Checkpoint {
  struct Chunk {
    std::string actor;               ///< the job actor's name; for a task: the task's name
    OutputName name;                 ///< the task and attempt that saved
    std::vector<OutputName> inputs;  ///< for a task: the inputs of the saved state
    Blob state;
  };
  std::string job;             ///< its number and its name, one line
  std::uint32_t group = 0;     ///< the first job actor of the save group; 0 for a task
  std::uint32_t number = 0;    ///< of the group's save, from 1
  std::uint32_t previous = 0;  ///< the save that was on the disk before this one; 0: none
  std::vector<Chunk> chunks;
};

/// Writes GROUP_DIRECTORY/save-N, which is on the disk on return; makes the directory. Then all saves older
/// than the two newest are deleted. On failure (disk_full, configuration_invalid) nothing is left of this
/// save, and the others are untouched. One thread at a time.
Status write_checkpoint(const std::filesystem::path& group_directory, const Checkpoint& checkpoint,
                        Files& files = files_of_host());

/// The content of a save directory, verified whole: sizes, every hash, the hash over all. checkpoint_damaged
/// names the file and the fault.
Result<Checkpoint> read_checkpoint(const std::filesystem::path& save_directory);

/// Checkpoint::job of a save, not verified; empty when it cannot be read.
std::string job_of_save(const std::filesystem::path& save_directory);

/// The numbers of the saves that have a MANIFEST, ascending; not verified.
std::vector<std::uint32_t> saves_in(const std::filesystem::path& group_directory);
std::filesystem::path save_path(const std::filesystem::path& group_directory, std::uint32_t number);

}  // namespace dag
