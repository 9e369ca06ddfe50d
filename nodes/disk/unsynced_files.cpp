#include "nodes/disk/unsynced_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>

namespace dag {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t sector_bytes = 512;
/// Held sectors of one file; a kernel does not hold more for long either.
constexpr std::size_t held_sectors_max = 4096;

std::uint64_t inode_of(const OwnedFile& file) {
  struct stat about = {};
  return fstat(file.number(), &about) == 0 ? about.st_ino : 0;
}

}  // namespace

UnsyncedFiles::UnsyncedFiles(std::string directory, std::uint64_t seed)
    : journal_(std::move(directory) + ".unsynced"), random_(seed) {
  undo_some();
  fs::remove_all(journal_);
  fs::create_directories(journal_);
}

// ---- Names

void UnsyncedFiles::undo_some() {
  std::ifstream journal(journal_ + "/names");
  std::vector<Undo> names;
  unsigned change = 0;
  for (Undo undo;
       journal >> change >> std::quoted(undo.name) >> std::quoted(undo.before) >> std::quoted(undo.kept);) {
    undo.change = static_cast<Change>(change);
    names.push_back(undo);
  }
  for (std::size_t synced = random_.below(names.size() + 1); names.size() > synced; names.pop_back()) {
    const Undo& undo = names.back();
    std::error_code none;
    const bool kept = !undo.kept.empty() && fs::exists(undo.kept, none);
    switch (undo.change) {
      case Change::made:
        fs::remove_all(undo.name);
        break;
      case Change::renamed:
        if (fs::exists(undo.before) || !fs::exists(undo.name)) break;
        fs::rename(undo.name, undo.before);
        if (kept) fs::rename(undo.kept, undo.name);
        break;
      case Change::removed:
        if (kept && !fs::exists(undo.name)) fs::rename(undo.kept, undo.name);
        break;
    }
  }
}

void UnsyncedFiles::note(Undo undo) {
  names_.push_back(std::move(undo));
  save_journal();
}

void UnsyncedFiles::save_journal() const {
  const std::string beside = journal_ + "/names.new";
  {
    std::ofstream journal(beside, std::ios::trunc);
    for (const Undo& undo : names_) {
      journal << static_cast<unsigned>(undo.change) << ' ' << std::quoted(undo.name) << ' '
              << std::quoted(undo.before) << ' ' << std::quoted(undo.kept) << '\n';
    }
  }
  fs::rename(beside, journal_ + "/names");
}

/// Under another name, before it loses its own. Empty: there is no such file.
std::string UnsyncedFiles::keep(const std::string& name) {
  std::error_code none;
  const std::string kept = journal_ + "/" + std::to_string(kept_++);
  fs::create_hard_link(name, kept, none);
  return none ? std::string() : kept;
}

bool UnsyncedFiles::rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  if (fs::is_directory(from)) {
    // The files in a renamed directory have other names from now on.
    std::erase_if(names_, [&](const Undo& undo) { return undo.name.starts_with(from + "/"); });
  }
  note({Change::renamed, to, from, keep(to)});
  return Files::rename(from, to);
}

bool UnsyncedFiles::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  note({Change::removed, name, {}, keep(name)});
  return Files::remove(name);
}

bool UnsyncedFiles::make_directory(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (!fs::exists(name)) note({Change::made, name, {}, {}});
  return Files::make_directory(name);
}

bool UnsyncedFiles::sync_directory(const std::string& name) {
  if (!Files::sync_directory(name)) return false;
  const std::lock_guard lock(mutex_);
  std::erase_if(names_, [&](const Undo& undo) {
    if (fs::path(undo.name).parent_path() != fs::path(name)) return false;
    std::error_code none;
    if (!undo.kept.empty()) fs::remove(undo.kept, none);
    return true;
  });
  save_journal();
  return true;
}

// ---- Bytes

OwnedFile UnsyncedFiles::make(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (!fs::exists(name)) note({Change::made, name, {}, {}});
  OwnedFile file = Files::make(name);
  if (file) held_.erase(inode_of(file));  // Drops held bytes of an earlier file with this inode number.
  return file;
}

bool UnsyncedFiles::write(const OwnedFile& file, std::span<const std::byte> bytes, std::size_t offset) {
  const std::lock_guard lock(mutex_);
  Held& held = held_[inode_of(file)];
  std::vector<std::size_t> sectors;
  while (!bytes.empty()) {
    const std::size_t sector = offset / sector_bytes;
    const auto piece = bytes.first(std::min(bytes.size(), (sector + 1) * sector_bytes - offset));
    held[sector].push_back({offset, {piece.begin(), piece.end()}});
    sectors.push_back(sector);
    bytes = bytes.subspan(piece.size());
    offset += piece.size();
  }
  const bool many = held.size() > held_sectors_max;
  const double chance = many ? 1 : random_.chance(0.5) ? 0 : random_.unit();
  std::shuffle(sectors.begin(), sectors.end(), random_);
  Held now;
  for (const std::size_t sector : sectors) {
    if (random_.chance(chance)) now.insert(held.extract(sector));
  }
  return let_go(file, many ? held : now);
}

/// Into the file.
bool UnsyncedFiles::let_go(const OwnedFile& file, Held& held) {
  for (const auto& [sector, pieces] : held) {
    for (const Piece& piece : pieces) {
      if (!Files::write(file, piece.bytes, piece.offset)) return false;
    }
  }
  held.clear();
  return true;
}

bool UnsyncedFiles::sync(const OwnedFile& file) {
  // A sync takes its time, in which the power may fail.
  if (!Files::sync(file)) return false;
  const std::lock_guard lock(mutex_);
  return let_go(file, held_[inode_of(file)]);
}

std::unique_ptr<Files> files_for(const std::string& data_directory) {
  const char* seed = std::getenv("DAG_LOSES_UNSYNCED");
  if (seed == nullptr || data_directory.empty()) return std::make_unique<Files>();
  return std::make_unique<UnsyncedFiles>(data_directory, std::strtoull(seed, nullptr, 10));
}

}  // namespace dag
