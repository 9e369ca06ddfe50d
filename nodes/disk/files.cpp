#include "nodes/disk/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace dag {

OwnedFile Files::make(const std::string& name) {
  return OwnedFile(::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
}

bool Files::write(const OwnedFile& file, std::span<const std::byte> bytes, std::size_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(file.number(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::size_t>(written);
  }
  return true;
}

bool Files::sync(const OwnedFile& file) { return fdatasync(file.number()) == 0; }

bool Files::rename(const std::string& from, const std::string& to) {
  return std::rename(from.c_str(), to.c_str()) == 0;
}

bool Files::remove(const std::string& name) { return unlink(name.c_str()) == 0; }

bool Files::make_directory(const std::string& name) {
  std::error_code none;
  return mkdir(name.c_str(), 0777) == 0 || (errno == EEXIST && std::filesystem::is_directory(name, none));
}

bool Files::sync_directory(const std::string& name) {
  const OwnedFile directory(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return directory && fsync(directory.number()) == 0;
}

bool Files::make_directories(const std::string& name) {
  std::error_code none;
  if (std::filesystem::is_directory(name, none)) return true;
  std::string above = std::filesystem::path(name).parent_path().string();
  if (above.empty()) above = ".";
  return make_directories(above) && make_directory(name) && sync_directory(above);
}

Files& files_of_host() {
  static Files files;
  return files;
}

}  // namespace dag
