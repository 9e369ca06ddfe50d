#pragma once
// The data that a node keeps between its starts, when it is given a directory: its identity, its number of
// starts, the binaries of jobs, its log (nodes/disk), its journal, and saves of job actors (written by
// checkpoint_store.hpp). Without a directory a node is new at each start.

#include <string>

#include "libdag/base/ids.hpp"
#include "libdag/base/result.hpp"
#include "nodes/disk/files.hpp"
#include "nodes/disk/program_store.hpp"

namespace dag {

class DataDirectory {
 public:
  /// Makes it where it is missing. One process at a time: configuration_invalid when another one has it open,
  /// when it is another node's (`id`), or when it cannot be read; disk_full when it is new and cannot be
  /// made. `at_least`: as of next_incarnation.
  static Result<DataDirectory> open(const std::string& path, ProcessId id, Files& files = files_of_host(),
                                    Incarnation at_least = {});
  DataDirectory(DataDirectory&& other) noexcept;
  DataDirectory& operator=(DataDirectory&&) = delete;
  ~DataDirectory();

  /// The life of this start: its incarnation is higher than that of any start before, also on the disk.
  Life life() const { return life_; }
  /// The disk has no room to record this start; the next one may learn of it from other nodes.
  bool was_full() const { return was_full_; }
  /// Puts the kept programs into the store. A file whose content belies its name is skipped and logged.
  void load(ProgramStore& store, const std::function<void(std::string_view line)>& log) const;
  /// Keeps the program from now on.
  Status keep(ProgramId id, const Blob& bytes) const;
  /// Keeps the program no longer. A program that comes back after a power loss is dropped again.
  void drop(ProgramId id) const;
  /// Where the node's copies of jobs' records lie.
  std::string log() const { return path_ + "/log"; }
  /// Where the journal lies (journal.hpp).
  std::string journal() const { return path_ + "/journal"; }
  /// Where saves of job actors go (checkpoint_store.hpp).
  std::string checkpoints() const { return path_ + "/checkpoints"; }

 private:
  DataDirectory(Files& files, std::string path, int lock, Life life)
      : files_(files), path_(std::move(path)), lock_(lock), life_(life) {}

  std::string program_name(ProgramId id) const;

  Files& files_;
  std::string path_;
  int lock_;
  Life life_;
  bool was_full_ = false;
};

}  // namespace dag
