#include "nodes/durable_file.hpp"

#include <fcntl.h>
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

Status write_whole(const std::string& name, std::span<const std::byte> bytes) {
  const std::string beside = name + ".new";
  const int file = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return cannot("write", beside);
  bool good = true;
  while (good && !bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    good = written > 0 || errno == EINTR;
    if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  good = good && fsync(file) == 0;
  Error why = cannot("write", beside);
  if (close(file) != 0 && good) {
    why = cannot("write", beside);  // Some file systems report a full disk only here.
    good = false;
  }
  if (good && rename(beside.c_str(), name.c_str()) != 0) {
    why = cannot("rename", beside);
    good = false;
  }
  if (!good) {
    unlink(beside.c_str());
    return why;
  }
  const int directory =
      ::open(std::filesystem::path(name).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    fsync(directory);
    close(directory);
  }
  return Done{};
}

std::string hex(std::uint64_t value) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
  return digits;
}

}  // namespace dag
