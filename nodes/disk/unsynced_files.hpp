#pragma once
// For tests: the files of a machine that may lose its power. A process that is killed leaves what it wrote to
// the operating system, which writes it to the disk later; one with these files leaves what the disk of a
// machine could have had at that moment.
//
// What is written is held in memory until it is synced. Of each write some sectors get to the file at once,
// which ones is left to chance, as a kernel writes back when and in which order it likes. Names change at
// once, and a journal beside the directory has what would undo those that were not synced. The next start
// undoes some of them, the last first: file systems keep the order of names, and promise nothing else.

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
  /// Of all that lies below `directory`, which need not be there, and beside which the journal lies.
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
  /// Noted before it is done, so it may not have been.
  struct Undo {
    Change change = Change::made;
    std::string name;
    std::string before;  ///< the name it had; of a renamed file
    std::string kept;    ///< where what had the name lies now, if anything did
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

/// Those of this machine, for a node that keeps its data there; unsynced ones when DAG_LOSES_UNSYNCED=SEED
/// says so, for tests.
std::unique_ptr<Files> files_for(const std::string& data_directory);

}  // namespace dag
