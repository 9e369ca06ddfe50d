#include "nodes/journal/event_rings.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace dag {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t rings_max = 4096;

/// The beginning of the file: the fields of a journal's head, and the number of rings.
struct FirstPage {
  std::uint32_t process = 0, incarnation = 0;
  std::int64_t clock_began_unix_ns = 0;
  std::uint64_t rings = 0;
};

void* map(int file, std::size_t size_bytes) {
  void* const memory = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  // A short job touches a few pages: reading ahead would fill all of them with zeroes, which takes 6 ms.
  if (memory != MAP_FAILED) madvise(memory, size_bytes, MADV_RANDOM);
  return memory;
}

/// A ring in the file, for readers that do not map it. The process that writes there has it mapped, and both
/// see the same pages.
class RingInFile final : public EventRingBytes {
 public:
  RingInFile(int file, std::size_t begin, std::size_t size) : file_(file), begin_(begin), size_(size) {}
  std::size_t size() const override { return size_; }
  bool copy(std::size_t at, std::span<std::byte> into) const override {
    if (at + into.size() > size_) return false;
    while (!into.empty()) {
      const ssize_t got = pread(file_, into.data(), into.size(), static_cast<off_t>(begin_ + at));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      into = into.subspan(static_cast<std::size_t>(got));
      at += static_cast<std::size_t>(got);
    }
    return true;
  }
  /// Read until it is the same twice, as a read may be in two halves.
  std::optional<std::uint64_t> count(std::size_t at) const override {
    constexpr int tries_max = 1000;
    std::uint64_t last = 0;
    for (int i = 0; i < tries_max; ++i) {
      std::uint64_t now = 0;
      if (!copy(at, std::as_writable_bytes(std::span(&now, 1)))) return std::nullopt;
      if (i > 0 && now == last) break;
      last = now;
    }
    return last;
  }
  /// A file that was cut stays cut: its reader is broken.
  bool set_count(std::size_t at, std::uint64_t count) override {
    return this->count(at) &&
           pwrite(file_, &count, sizeof count, static_cast<off_t>(begin_ + at)) == sizeof count;
  }

 private:
  const int file_;
  const std::size_t begin_, size_;
};

}  // namespace

EventRingReader EventRings::reader(std::size_t which) const {
  const std::size_t bytes = ring_bytes(count_);
  return EventRingReader(std::make_unique<RingInFile>(file_.number(), page_bytes + which * bytes, bytes));
}

Result<EventRings> EventRings::make(Files& files, const std::string& name, const JournalHead& head,
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
  EventRings rings(std::move(file), head, count, {bytes + page_bytes, count * ring_bytes(count)});
  for (std::size_t i = 0; i < count; ++i) make_event_ring(rings.ring(i));
  new (bytes)
      FirstPage{head.process.process.value, head.process.incarnation.value, head.clock_began_unix_ns, count};
  return rings;
}

Result<EventRings> EventRings::open(OwnedFile file) {
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
  return EventRings(std::move(file),
                    {{ProcessId{page.process}, Incarnation{page.incarnation}}, page.clock_began_unix_ns},
                    page.rings, {bytes + page_bytes, size_bytes - page_bytes});
}

EventRings::EventRings(EventRings&& other) noexcept
    : file_(std::move(other.file_)),
      head_(other.head_),
      count_(other.count_),
      memory_(std::exchange(other.memory_, {})) {}

EventRings::~EventRings() {
  if (!memory_.empty()) munmap(memory_.data() - page_bytes, memory_.size() + page_bytes);
}

}  // namespace dag
