#include "nodes/record_rings.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace dag {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t rings_max = 4096;

/// At the beginning of the file: what a journal's file says there, and how many rings follow.
struct FirstPage {
  std::uint32_t process = 0, incarnation = 0;
  std::int64_t clock_began_unix_ns = 0;
  std::uint64_t rings = 0;
};

void* map(int file, std::size_t size_bytes) {
  return mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

}  // namespace

Result<RecordRings> RecordRings::make(Files& files, const std::string& name, const JournalHead& head,
                                      std::size_t count) {
  const std::size_t size_bytes = page_bytes + count * ring_bytes(count);
  OwnedFile file = files.make(name);
  if (file) file = OwnedFile(::open(name.c_str(), O_RDWR | O_CLOEXEC));  // To be mapped, it must be readable.
  int problem = file ? posix_fallocate(file.number(), 0, static_cast<off_t>(size_bytes)) : errno;
  void* memory = problem == 0 ? map(file.number(), size_bytes) : MAP_FAILED;
  if (problem == 0 && memory == MAP_FAILED) problem = errno;
  if (problem != 0) {
    if (file) files.remove(name);
    return Error{ErrorCode::disk_full, name + " cannot be made: " + std::strerror(problem)};
  }
  auto* bytes = static_cast<std::byte*>(memory);
  RecordRings rings(std::move(file), head, count, {bytes + page_bytes, count * ring_bytes(count)});
  for (std::size_t i = 0; i < count; ++i) make_record_ring(rings.ring(i));
  new (bytes)
      FirstPage{head.process.process.value, head.process.incarnation.value, head.clock_began_unix_ns, count};
  return rings;
}

Result<RecordRings> RecordRings::open(OwnedFile file) {
  const Error none{ErrorCode::log_damaged, "it holds no rings of records"};
  struct stat about {};
  if (!file || fstat(file.number(), &about) != 0) return none;
  const auto size_bytes = static_cast<std::size_t>(about.st_size);
  if (size_bytes < page_bytes + ring_bytes(1) || size_bytes > page_bytes + rings_max * ring_bytes(rings_max))
    return none;
  void* memory = map(file.number(), size_bytes);
  if (memory == MAP_FAILED) return none;
  auto* bytes = static_cast<std::byte*>(memory);
  FirstPage page;
  std::memcpy(&page, bytes, sizeof page);
  if (page.rings == 0 || page.rings > rings_max ||
      page.rings * ring_bytes(page.rings) + page_bytes != size_bytes) {
    munmap(memory, size_bytes);
    return none;
  }
  return RecordRings(std::move(file),
                     {{ProcessId{page.process}, Incarnation{page.incarnation}}, page.clock_began_unix_ns},
                     page.rings, {bytes + page_bytes, size_bytes - page_bytes});
}

RecordRings::RecordRings(RecordRings&& other) noexcept
    : file_(std::move(other.file_)),
      head_(other.head_),
      count_(other.count_),
      memory_(std::exchange(other.memory_, {})) {}

RecordRings::~RecordRings() {
  if (!memory_.empty()) munmap(memory_.data() - page_bytes, memory_.size() + page_bytes);
}

}  // namespace dag
