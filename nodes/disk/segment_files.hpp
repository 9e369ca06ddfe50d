#pragma once
// The files of a node's log: DIRECTORY/segment-N, each of one size, made of zeros before its first record is
// written and used again when nobody needs its records. libdag/log defines the content; this class brings it
// onto the disk.
//
// A sync that fails ends the process: the kernel may have dropped what it could not write, and a second sync
// would say that all is well (Rebello et al., "Can applications recover from fsync failures?", ATC 2020). A
// full disk does not.

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libdag/base/owned_file.hpp"
#include "libdag/base/result.hpp"
#include "libdag/log/log_machine.hpp"
#include "nodes/disk/files.hpp"

namespace dag {

/// By one thread at a time.
class SegmentFiles {
 public:
  /// A record, and the segment that it lies in.
  using Visit = std::function<void(const log::Record& record, std::uint64_t segment)>;

  /// Reads and visits the records there, in order. log_damaged: records are lost (those visited before are
  /// good); configuration_invalid: the directory cannot be used.
  static Result<std::unique_ptr<SegmentFiles>> open(const std::filesystem::path& directory,
                                                    const log::LogOptions& options, const Visit& visit,
                                                    Files& files = files_of_host());

  /// The parameters of this log's LogMachine.
  const log::SegmentHead& identity() const { return identity_; }
  const log::Position& end() const { return end_; }

  /// On the disk on return. disk_full: there is no room for the next segment, and nothing has changed.
  Status write(const log::Batch& batch);
  /// Makes the file that the next segment will need, so that write() need not. As write().
  Status prepare();
  /// Nobody needs the records of segments below this one.
  void release_before(std::uint64_t segment);

  std::size_t segments() const { return segments_.size(); }

 private:
  SegmentFiles(Files& files, std::filesystem::path directory, const log::LogOptions& options);
  Status read(const Visit& visit);
  Status begin(std::uint64_t segment);
  Status wipe_behind(const log::Position& end);
  Status sync_what_was_read();
  std::filesystem::path path_of(std::uint64_t segment) const;
  Status write_all(const OwnedFile& file, std::span<const std::byte> bytes, std::size_t offset,
                   const std::string& name);
  void sync_or_die(const OwnedFile& file, const std::string& name);
  Status rename(const std::filesystem::path& from, const std::filesystem::path& to);

  Files& files_;
  const std::filesystem::path directory_;
  const log::LogOptions options_;
  log::SegmentHead identity_;
  log::Position end_;
  std::map<std::uint64_t, std::filesystem::path> segments_;
  /// Files of the right size, with records that nobody needs.
  std::vector<std::filesystem::path> spares_;
  std::uint64_t spares_made_ = 0;
  /// The segment that is written to.
  std::uint64_t open_segment_ = 0;
  OwnedFile file_;
};

}  // namespace dag
