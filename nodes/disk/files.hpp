#pragma once
// The files that outlive a node: its log, its identity, binaries of jobs, saves of job actors. All changes
// go through here, so that a test can take the power away at any moment (unsynced_files.hpp). Reads do
// not.
//
// Written bytes are on the disk when sync() has returned. A file that was made, renamed or removed has its
// new name on the disk when sync_directory() has returned for the directory of the name.

#include <cstddef>
#include <span>
#include <string>

#include "libdag/base/owned_file.hpp"

namespace dag {

/// From any thread. A failed operation returns false, or no file, and errno says why.
class Files {
 public:
  Files() = default;
  virtual ~Files() = default;
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  /// Opens an empty file for writing; a file of that name is emptied.
  virtual OwnedFile make(const std::string& name);
  virtual bool write(const OwnedFile& file, std::span<const std::byte> bytes, std::size_t offset);
  virtual bool sync(const OwnedFile& file);

  virtual bool rename(const std::string& from, const std::string& to);
  virtual bool remove(const std::string& name);
  /// The directory may be there already.
  virtual bool make_directory(const std::string& name);
  virtual bool sync_directory(const std::string& name);

  /// Makes missing parents too. All are on the disk on return: a lost directory name loses its files.
  bool make_directories(const std::string& name);
};

/// The files of this machine, unchanged.
Files& files_of_host();

}  // namespace dag
