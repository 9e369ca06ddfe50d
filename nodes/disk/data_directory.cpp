#include "nodes/disk/data_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "libdag/base/owned_file.hpp"
#include "nodes/disk/durable_file.hpp"
#include "nodes/disk/incarnation.hpp"

namespace dag {
namespace {

namespace fs = std::filesystem;

/// The lock of a process that was killed is there until its last thread has gone, which a disk may hold up.
constexpr auto dying_for = std::chrono::seconds(2);

bool lock_in_time(int file) {
  const auto deadline = std::chrono::steady_clock::now() + dying_for;
  while (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

/// A file of the same length is written where it lies: that needs no room on most disks.
bool write_in_place(const std::string& name, const std::string& line) {
  std::error_code none;
  if (fs::file_size(name, none) != line.size()) return false;
  const OwnedFile file(::open(name.c_str(), O_WRONLY | O_CLOEXEC));
  return file && pwrite(file.number(), line.data(), line.size(), 0) == static_cast<ssize_t>(line.size()) &&
         fsync(file.number()) == 0;
}

}  // namespace

Result<DataDirectory> DataDirectory::open(const std::string& path, ProcessId id, Files& files,
                                          Incarnation at_least) {
  if (!files.make_directories(path + "/programs")) return cannot("make", path);
  // A process that was killed may have made names and not come to this.
  for (const fs::path& made : {fs::absolute(path).parent_path(), fs::path(path) / "programs"})
    files.sync_directory(made.string());
  const int lock = ::open((path + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return cannot("open", path + "/lock");
  DataDirectory directory(files, path, lock, {id, {}});  // From here on the lock is closed with it.
  if (!lock_in_time(lock)) {
    return Error{ErrorCode::configuration_invalid, "another node uses " + path,
                 "every node needs a directory of its own"};
  }
  const std::string name = path + "/node";
  std::ifstream file(name);
  std::uint32_t known_id = 0, incarnation = 0;
  const bool is_new = !file;
  if (file) {
    if (!(file >> known_id >> incarnation)) {
      return Error{
          ErrorCode::configuration_invalid, name + " does not identify the node",
          "it holds two numbers: the node's id and how often it was started; put them back or begin with an "
          "empty directory"};
    }
    if (ProcessId{known_id} != id) {
      return Error{ErrorCode::configuration_invalid,
                   path + " belongs to " + to_string(ProcessId{known_id}) + ", this is " + to_string(id),
                   "give the node its own id and directory"};
    }
  }
  const auto next =
      next_incarnation(is_new ? std::nullopt : std::optional(Incarnation{incarnation}), at_least);
  if (!next) return next.error();
  directory.life_.incarnation = *next;
  const std::string line =
      std::to_string(id.value) + " " + std::to_string(directory.life_.incarnation.value) + "\n";
  if (Status written = write_whole(files, name, std::as_bytes(std::span(line))); !written) {
    if (is_new || written.error().code != ErrorCode::disk_full) return written.error();
    directory.was_full_ = !write_in_place(name, line);
  }
  return directory;
}

DataDirectory::DataDirectory(DataDirectory&& other) noexcept
    : files_(other.files_),
      path_(std::move(other.path_)),
      lock_(std::exchange(other.lock_, -1)),
      life_(other.life_),
      was_full_(other.was_full_) {}

DataDirectory::~DataDirectory() {
  if (lock_ >= 0) close(lock_);
}

void DataDirectory::load(ProgramStore& store, const std::function<void(std::string_view line)>& log) const {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(path_ + "/programs", none)) {
    const std::string name = entry.path().filename().string();
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto bytes = std::as_bytes(std::span(text));
    const ProgramId id = identify(bytes);
    if (name != hex(id.hash_high) + hex(id.hash_low)) {
      log(entry.path().string() + " does not contain the program of its name: skipped");
    } else if (const Status put = store.put(id, Blob(bytes)); !put) {
      log(entry.path().string() + ": " + put.error().what);
    }
  }
}

std::string DataDirectory::program_name(ProgramId id) const {
  return path_ + "/programs/" + hex(id.hash_high) + hex(id.hash_low);
}

void DataDirectory::drop(ProgramId id) const { files_.remove(program_name(id)); }

Status DataDirectory::keep(ProgramId id, const Blob& bytes) const {
  const std::string name = program_name(id);
  std::error_code none;
  if (fs::exists(name, none)) return Done{};
  return write_whole(files_, name, bytes.bytes());
}

}  // namespace dag
