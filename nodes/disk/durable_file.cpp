#include "nodes/disk/durable_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace dag {

Error cannot(const std::string& what, const std::string& name) {
  const ErrorCode code =
      errno == ENOSPC || errno == EDQUOT ? ErrorCode::disk_full : ErrorCode::configuration_invalid;
  return {code, "cannot " + what + " " + name + ": " + std::strerror(errno), "--data names the directory"};
}

Status write_whole(Files& files, const std::string& name, std::span<const std::byte> bytes) {
  const std::string beside = name + ".new";
  OwnedFile file = files.make(beside);
  if (!file) return cannot("write", beside);
  // Some file systems report a full disk only when it is closed.
  const bool good = files.write(file, bytes, 0) && files.sync(file) && close(file.take()) == 0;
  if (!good || !files.rename(beside, name)) {
    const Error why = cannot(good ? "rename" : "write", beside);
    files.remove(beside);
    return why;
  }
  const std::string directory = std::filesystem::path(name).parent_path().string();
  return files.sync_directory(directory) ? Status(Done{}) : cannot("sync", directory);
}

std::string hex(std::uint64_t value) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
  return digits;
}

}  // namespace dag
