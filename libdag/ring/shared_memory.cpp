#include "libdag/ring/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "libdag/base/owned_file.hpp"

namespace dag::ring {
namespace {

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Error no_ring(const std::string& what) {
  return {ErrorCode::ring_unavailable, what + ": " + std::strerror(errno)};
}
Error refused(const std::string& what) { return {ErrorCode::ring_unavailable, what}; }

std::size_t whole_bytes(const Preamble& preamble) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (SharedMemory::content_offset + preamble.content_bytes + page - 1) / page * page;
}

}  // namespace

Result<SharedMemory> SharedMemory::create(const Preamble& preamble) {
  DAG_CHECK(preamble.content_bytes <= std::uint64_t{1} << 31);
  const std::size_t bytes = whole_bytes(preamble);
  OwnedFile file(memfd_create("dag", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.number() < 0) return no_ring("no shared memory");
  // Allocated now: memory that is not there is an error here, and not a signal on the hot path.
  if (const int error = posix_fallocate(file.number(), 0, static_cast<off_t>(bytes)); error != 0) {
    errno = error;
    return no_ring("no " + std::to_string(bytes) + " bytes of shared memory");
  }
  if (fcntl(file.number(), F_ADD_SEALS, seals) != 0) return no_ring("shared memory cannot be sealed");
  Result<SharedMemory> memory = map_sealed(file.number(), bytes, Access::read_write);
  if (!memory) return memory;
  new (memory->mapped_) Preamble(preamble);
  memory->file_ = file.take();
  return memory;
}

Result<SharedMemory> SharedMemory::open(std::int32_t process, std::int32_t file, const Preamble& expected,
                                        Access access) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(file);
  // The numbers are the peer's word. O_PATH opens nothing yet, so a device or a pipe is not touched. The held
  // file is then opened by our own number for it, and cannot be replaced in between.
  const OwnedFile named(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (named.number() < 0) return no_ring("cannot open " + path);
  struct stat status {};
  if (fstat(named.number(), &status) != 0) return no_ring("cannot look at " + path);
  if (!S_ISREG(status.st_mode)) return refused(path + " is no memory");
  const std::string own = "/proc/self/fd/" + std::to_string(named.number());
  const OwnedFile opened(::open(own.c_str(), (access == Access::read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC));
  if (opened.number() < 0) return no_ring("cannot open " + path);
  return map(opened.number(), expected, access);
}

Result<SharedMemory> SharedMemory::map(int file, const Preamble& expected, Access access) {
  struct stat status {};
  if (fstat(file, &status) != 0) return no_ring("cannot look at the memory");
  const int found = fcntl(file, F_GET_SEALS);
  if (found < 0 || (found & seals) != seals)
    return refused("the memory is not sealed: its owner could truncate it");
  const std::size_t bytes = whole_bytes(expected);
  if (status.st_size < 0 || static_cast<std::size_t>(status.st_size) != bytes) {
    return refused("the memory has " + std::to_string(status.st_size) + " bytes in the place of " +
                   std::to_string(bytes));
  }
  Result<SharedMemory> memory = map_sealed(file, bytes, access);
  if (!memory) return memory;
  Preamble preamble;
  std::memcpy(&preamble, memory->mapped_, sizeof preamble);
  if (!(preamble == expected)) return refused("the memory is not the one that was offered");
  return memory;
}

Result<SharedMemory> SharedMemory::map_sealed(int file, std::size_t bytes, Access access) {
  // Writable memory is populated: the first pass through a ring would otherwise take a fault every 4 KiB.
  // Read-only memory may be large (64 MiB would take 10 ms here), and its reader faults in 16 pages at once.
  const bool reads = access == Access::read_only;
  void* const mapped = mmap(nullptr, bytes, reads ? PROT_READ : PROT_READ | PROT_WRITE,
                            reads ? MAP_SHARED : MAP_SHARED | MAP_POPULATE, file, 0);
  if (mapped == MAP_FAILED) return no_ring("cannot map shared memory");
  return SharedMemory(static_cast<std::byte*>(mapped), bytes, -1);
}

SharedMemory::~SharedMemory() {
  if (mapped_ != nullptr) munmap(mapped_, bytes_);
  if (file_ >= 0) close(file_);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : mapped_(std::exchange(other.mapped_, nullptr)),
      bytes_(other.bytes_),
      file_(std::exchange(other.file_, -1)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(bytes_, other.bytes_);
  std::swap(file_, other.file_);
  return *this;
}

}  // namespace dag::ring
