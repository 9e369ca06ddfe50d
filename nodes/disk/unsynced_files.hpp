#pragma once
// For tests: the files of a machine that may lose its power. A killed process leaves its writes to the
// operating system, which writes them to the disk later. A process with these files leaves only what the disk
// of a machine could have had at that moment.
//
// Written bytes are held in memory until they are synced. Of each write some sectors get to the file at once,
// chosen at random, as a kernel writes back when and in which order it likes. Names change at once, and a
// journal beside the directory has the undo steps of name changes that were not synced. The next start undoes
// some of them, the last first: file systems keep the order of names, and promise nothing else.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "libdag/base/random.hpp"
#include "nodes/disk/files.hpp"

namespace dag {

class UnsyncedFiles : public Files {
 public:
  /// For all files below `directory`, which need not exist yet; the journal lies beside it.
  UnsyncedFiles(std::string directory, std::uint64_t seed);

  OwnedFile make(const std::string& name) override;
  bool write(const OwnedFile& file, std::span<const std::byte> bytes, std::size_t offset) override;
  bool sync(const OwnedFile& file) override;
  bool rename(const std::string& from, const std::string& to) override;
  bool remove(const std::string& name) override;
  bool make_directory(const std::string& name) override;
  bool sync_directory(const std::string& name) override;

 private:
  enum class Change : std::uint8_t { made, renamed, removed };
  /// Noted before the change is made, so the change may not have happened.
  struct Undo {
    Change change = Change::made;
    std::string name;
    std::string before;  ///< the former name, of a renamed file
    std::string kept;    ///< where the file that had the name lies now, if there was one
  };
  struct Piece {
    std::size_t offset = 0;
    std::vector<std::byte> bytes;
  };
  /// By sector.
  using Held = std::map<std::size_t, std::vector<Piece>>;

  void undo_some();
  void note(Undo undo);
  void save_journal() const;
  std::string keep(const std::string& name);
  bool let_go(const OwnedFile& file, Held& held);

  const std::string journal_;  ///< a directory
  std::mutex mutex_;
  Random random_;
  std::vector<Undo> names_;
  std::uint64_t kept_ = 0;
  std::map<std::uint64_t, Held> held_;  ///< by inode
};

/// The files of this machine, for a node that keeps its data there; unsynced ones when
/// DAG_LOSES_UNSYNCED=SEED says so, for tests.
std::unique_ptr<Files> files_for(const std::string& data_directory);

}  // namespace dag
