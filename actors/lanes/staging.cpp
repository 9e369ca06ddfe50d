#include "actors/lanes/staging.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include "dag/error.hpp"

namespace dag {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view directory_prefix = "dag-stage-";

[[noreturn]] void fail(const std::string& what, int error, std::string hint = {}) {
  throw Failure({ErrorCode::task_failed, what + ": " + std::strerror(error), std::move(hint)});
}

/// `dag-stage-PID-XXXXXX` of processes that are not there any more.
void remove_those_of_the_dead(const fs::path& in) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(in, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(directory_prefix)) continue;
    const auto pid = static_cast<pid_t>(std::strtol(name.c_str() + directory_prefix.size(), nullptr, 10));
    if (pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH) fs::remove_all(entry.path(), ignored);
  }
}

fs::path own_directory() {
  const fs::path in = fs::temp_directory_path();
  static const bool cleared = (remove_those_of_the_dead(in), true);
  static_cast<void>(cleared);
  std::string name = (in / (std::string(directory_prefix) + std::to_string(getpid()) + "-XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr)
    fail("no directory for staged files can be made in " + in.string(), errno, "TMPDIR names another place");
  return name;
}

/// Closes it, and does not hide that this failed.
class WrittenFile {
 public:
  WrittenFile(const fs::path& path, int flags)
      : path_(path), file_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (file_ < 0) fail("cannot write " + path.string(), errno);
  }
  ~WrittenFile() {
    if (file_ >= 0) close(file_);
  }
  WrittenFile(const WrittenFile&) = delete;
  WrittenFile& operator=(const WrittenFile&) = delete;

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("cannot write " + path_.string(), errno);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  void sync() {
    if (fsync(file_) != 0) fail("cannot write " + path_.string(), errno);
  }

 private:
  const fs::path path_;
  const int file_;
};

Blob bytes_of(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  std::ifstream in(file, std::ios::binary);
  if (error || !in) fail("cannot read back " + file.string(), error ? error.value() : errno);
  return Blob::make(static_cast<std::size_t>(size), [&](std::byte* data) {
    in.read(reinterpret_cast<char*>(data), static_cast<std::streamsize>(size));
    if (static_cast<std::uintmax_t>(in.gcount()) != size) fail("cannot read back " + file.string(), EIO);
  });
}

}  // namespace

Staging::~Staging() {
  std::error_code ignored;
  if (!directory_.empty()) fs::remove_all(directory_, ignored);
}

std::string Staging::stage(std::string_view path) {
  const fs::path absolute = path.empty() ? fs::path() : fs::absolute(fs::path(path)).lexically_normal();
  if (!absolute.has_filename()) {
    throw Failure({ErrorCode::usage, "'" + std::string(path) + "' was staged, and names no file"});
  }
  for (const File& file : files_) {
    if (file.path == absolute.string())
      throw Failure({ErrorCode::usage, absolute.string() + " was staged twice by one task"});
  }
  if (directory_.empty()) directory_ = own_directory();
  // With its own name, by which programs may know what is in it.
  const fs::path folder = directory_ / std::to_string(files_.size());
  fs::create_directory(folder);
  files_.push_back({absolute.string(), folder / absolute.filename()});
  return files_.back().written_at.string();
}

std::vector<detail::StagedFile> Staging::read() const {
  std::vector<detail::StagedFile> found;
  for (const File& file : files_) {
    if (!fs::exists(file.written_at)) {
      throw Failure({ErrorCode::task_failed, file.path + " was staged, and not written",
                     "write to the path that Context::stage gave"});
    }
    found.push_back({file.path, bytes_of(file.written_at)});
  }
  return found;
}

void publish_file(const std::string& path, const Blob& bytes, const std::string& of, const std::string& by) {
  const fs::path place(path), folder = place.parent_path();
  const std::string beside = "." + place.filename().string() + "." + of + ".";
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    if (entry.path().filename().string().starts_with(beside)) fs::remove(entry.path(), ignored);
  }
  if (error) fail("cannot publish " + path, error.value(), "its directory must be there, on every node");
  const fs::path part = folder / (beside + by + ".part");
  {
    WrittenFile file(part, O_WRONLY | O_CREAT | O_TRUNC);
    file.write(bytes.bytes());
    file.sync();
  }
  fs::rename(part, place, error);
  if (error) fail("cannot publish " + path, error.value());
  WrittenFile(folder, O_RDONLY | O_DIRECTORY).sync();
}

}  // namespace dag
