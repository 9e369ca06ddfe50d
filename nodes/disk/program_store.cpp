#include "nodes/disk/program_store.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "dag/error.hpp"

namespace dag {
namespace {

/// Checks early: the Linux kernel would refuse the program only when a process starts.
Status check_program(std::span<const std::byte> bytes) {
  const auto no = [](const std::string& why) {
    return Error{ErrorCode::program_invalid, "the job's binary is not a program: " + why,
                 "a job is a binary that links libdag; scripts run with `dag exec`"};
  };
  if (bytes.size() < sizeof(Elf64_Ehdr)) return no("it has " + std::to_string(bytes.size()) + " bytes");
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return no("it is no ELF file");
  Elf64_Ehdr ours;
  std::ifstream self("/proc/self/exe", std::ios::binary);
  if (!self.read(reinterpret_cast<char*>(&ours), sizeof ours)) return Done{};
  if (header.e_machine != ours.e_machine) return no("it is for another kind of processor");
  return Done{};
}

}  // namespace

ProgramId identify(std::span<const std::byte> program) {
  const XXH128_hash_t hash = XXH3_128bits(program.data(), program.size());
  return {hash.high64, hash.low64, program.size()};
}

Blob program_of_this_process() {
  std::ifstream file("/proc/self/exe", std::ios::binary | std::ios::ate);
  const auto size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  file.seekg(0);
  bool whole = size > 0;
  Blob bytes;
  if (whole) {
    bytes = Blob::make_on_heap(static_cast<std::size_t>(size), [&](std::byte* to) {
      whole = static_cast<bool>(file.read(reinterpret_cast<char*>(to), size));
    });
  }
  if (!whole) throw Failure({ErrorCode::program_invalid, "this program's own file cannot be read"});
  return bytes;
}

ProgramStore::~ProgramStore() {
  for (const auto& [id, descriptor] : programs_) close(descriptor);
}

Status ProgramStore::put(ProgramId id, const Blob& bytes) {
  if (identify(bytes.bytes()) != id) {
    return Error{ErrorCode::program_invalid,
                 "the job's binary has another hash than was announced, at " +
                     std::to_string(bytes.size_bytes()) + " of " + std::to_string(id.size_bytes) + " bytes",
                 "was it rebuilt while it was submitted? Submit again"};
  }
  if (Status sound = check_program(bytes.bytes()); !sound) return sound;
  const std::lock_guard lock(mutex_);
  if (programs_.contains(id)) return Done{};
  if (bytes_ + bytes.size_bytes() > programs_bytes_max) {
    return Error{ErrorCode::disk_full,
                 "the binaries of the jobs of this node would take more than 4 GiB of memory",
                 "a binary is dropped ten minutes after the end of its last job: submit again then, or "
                 "cancel jobs that "
                 "nobody needs"};
  }
  const int file = memfd_create("dag-program", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  std::span<const std::byte> left = bytes.bytes();
  while (file >= 0 && !left.empty()) {
    const ssize_t written = write(file, left.data(), left.size());
    if (written <= 0 && errno != EINTR) break;
    if (written > 0) left = left.subspan(static_cast<std::size_t>(written));
  }
  const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
  if (file < 0 || !left.empty() || fcntl(file, F_ADD_SEALS, seals) != 0) {
    const std::string why = std::strerror(errno);
    if (file >= 0) close(file);
    return Error{ErrorCode::disk_full, "no memory for the job's binary: " + why};
  }
  programs_[id] = file;
  bytes_ += bytes.size_bytes();
  return Done{};
}

void ProgramStore::drop(ProgramId id) {
  const std::lock_guard lock(mutex_);
  const auto found = programs_.find(id);
  if (found == programs_.end()) return;
  close(found->second);
  programs_.erase(found);
  bytes_ -= id.size_bytes;
}

std::optional<int> ProgramStore::descriptor(ProgramId id) const {
  const std::lock_guard lock(mutex_);
  const auto found = programs_.find(id);
  return found == programs_.end() ? std::nullopt : std::optional(found->second);
}

Blob ProgramStore::bytes(ProgramId id) const {
  const auto file = descriptor(id);
  if (!file) return {};
  bool whole = true;
  Blob bytes = Blob::make_on_heap(id.size_bytes, [&](std::byte* to) {
    for (std::size_t at = 0; whole && at < id.size_bytes;) {
      const ssize_t got = pread(*file, to + at, id.size_bytes - at, static_cast<off_t>(at));
      whole = got > 0;
      if (got > 0) at += static_cast<std::size_t>(got);
    }
  });
  return whole ? bytes : Blob{};
}

std::set<ProgramId> ProgramStore::ids() const {
  const std::lock_guard lock(mutex_);
  std::set<ProgramId> kept;
  for (const auto& [id, file] : programs_) kept.insert(id);
  return kept;
}

}  // namespace dag
