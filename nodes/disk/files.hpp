#pragma once
// The files that outlive a node: its log, who it is, binaries of jobs, saves of job actors. All that changes
// one goes through here, so that a test can take the power away at any moment (unsynced_files.hpp). They are
// read as any file is.
//
// What was written is on the disk when sync() has returned. What was made, renamed or removed is there under
// its name, or is not, when sync_directory() has returned for the directory that the name lies in.

#include <cstddef>
#include <span>
#include <string>

#include "libdag/base/owned_file.hpp"

namespace dag {

/// From any thread. What cannot be done returns false, or no file, and errno says why.
class Files {
 public:
  Files() = default;
  virtual ~Files() = default;
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  /// Empty, to be written; one that has the name is emptied.
  virtual OwnedFile make(const std::string& name);
  virtual bool write(const OwnedFile& file, std::span<const std::byte> bytes, std::size_t offset);
  virtual bool sync(const OwnedFile& file);

  virtual bool rename(const std::string& from, const std::string& to);
  virtual bool remove(const std::string& name);
  /// It may be there already.
  virtual bool make_directory(const std::string& name);
  virtual bool sync_directory(const std::string& name);

  /// With those above it, and on the disk when it returns: what lies in a directory is lost with its name.
  bool make_directories(const std::string& name);
};

/// Those of this machine as they are.
Files& files_of_host();

}  // namespace dag
