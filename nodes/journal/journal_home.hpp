#pragma once
// The journal's directory for a node without a data directory: beside the logs of its worker processes. It
// stays when the node has ended, and goes when the next node begins, which gives out the same handles anew.

#include <string>

#include "libdag/base/owned_file.hpp"
#include "libdag/base/result.hpp"
#include "nodes/disk/files.hpp"
#include "nodes/journal/journal.hpp"

namespace dag {

class JournalHome {
 public:
  /// Smaller than with a data directory: the directory may lie in memory.
  static constexpr std::size_t all_bytes = std::size_t{32} << 20;

  /// Emptied, and locked against other nodes while this exists. Error (configuration_invalid): it belongs to
  /// another node, or to a data directory.
  static Result<JournalHome> open(const std::string& state_directory, Files& files = files_of_host());

  const std::string& directory() const { return directory_; }

 private:
  JournalHome(std::string directory, OwnedFile lock)
      : directory_(std::move(directory)), lock_(std::move(lock)) {}

  std::string directory_;
  OwnedFile lock_;
};

}  // namespace dag
