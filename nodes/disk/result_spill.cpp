#include "nodes/disk/result_spill.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "libdag/base/owned_file.hpp"

namespace dag {
namespace {

struct MappedResult : Blob::Owner {
  void* memory;
  std::size_t size_bytes;
  MappedResult(void* at, std::size_t size) : memory(at), size_bytes(size) {}
  ~MappedResult() override { munmap(memory, size_bytes); }
};

/// Some file systems know no file without a name.
OwnedFile nameless_file(const std::string& directory) {
  OwnedFile file(open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file) return file;
  std::string path = directory + "/result-XXXXXX";
  file.reset(mkostemp(path.data(), O_CLOEXEC));
  if (file) unlink(path.c_str());
  return file;
}

bool write_whole(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

bool has_room(const std::string& directory, std::uint64_t bytes, std::uint64_t kept_free_bytes) {
  struct statvfs disk {};
  if (statvfs(directory.c_str(), &disk) != 0) return false;
  return std::uint64_t{disk.f_bavail} * disk.f_frsize >= bytes + kept_free_bytes;
}

}  // namespace

Result<Blob> on_disk(const std::string& directory, const Blob& bytes, std::uint64_t kept_free_bytes) {
  const std::size_t size = bytes.size_bytes();
  if (size <= Blob::inline_bytes_max) return bytes;  // Inline bytes take no memory of their own.
  const auto full = [&](const std::string& why) {
    return Error{
        ErrorCode::disk_full,
        "a result of " + std::to_string(size) + " bytes cannot be written to " + directory + ": " + why,
        "make room there"};
  };
  if (!has_room(directory, size, kept_free_bytes)) return full("too little room would be left");
  const OwnedFile file = nameless_file(directory);
  if (!file || !write_whole(file.number(), bytes.bytes())) return full(std::strerror(errno));
  void* const memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number(), 0);
  if (memory == MAP_FAILED) return full(std::strerror(errno));
  return Blob::adopt(static_cast<std::byte*>(memory), size, std::make_unique<MappedResult>(memory, size));
}

ResultSpill::ResultSpill(std::string directory, Done done)
    : directory_(std::move(directory)), done_(std::move(done)) {
  thread_ = std::thread([this] { run(); });
}

ResultSpill::~ResultSpill() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void ResultSpill::write(client::TaskSettled settled) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(settled));
  changed_.notify_all();
}

void ResultSpill::run() {
  pthread_setname_np(pthread_self(), "dag-spill");
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return over_ || !waiting_.empty(); });
    if (over_) return;
    for (client::TaskSettled& settled : std::exchange(waiting_, {})) {
      lock.unlock();
      Result<Blob> output = on_disk(directory_, settled.output, kept_free_bytes);
      const Status written = output ? Status(dag::Done{}) : Status(output.error());
      settled.output = output ? *std::move(output) : Blob();
      done_(std::move(settled), written);
      lock.lock();
      if (over_) return;
    }
  }
}

}  // namespace dag
