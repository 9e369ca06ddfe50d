#include "nodes/disk/segment_files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "libdag/log/recovery.hpp"
#include "nodes/disk/durable_file.hpp"
#include "nodes/machine/draw_number.hpp"

namespace dag {
namespace {

constexpr std::string_view segment_prefix = "segment-", spare_prefix = "spare-";
/// More are given back to the file system.
constexpr std::size_t spares_max = 2;

/// The number behind the prefix.
std::optional<std::uint64_t> number_of(const std::string& name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  std::uint64_t number = 0;
  const char *first = name.data() + prefix.size(), *last = name.data() + name.size();
  const auto [end, error] = std::from_chars(first, last, number);
  return error == std::errc{} && end == last ? std::optional(number) : std::nullopt;
}

[[noreturn]] void die_of_sync(const std::string& name) {
  std::fprintf(stderr, "dag: %s cannot be synced: %s; what was written may be lost, and this process ends\n",
               name.c_str(), std::strerror(errno));
  std::abort();
}

/// The bytes of a file, as long as this is there.
class Mapped {
 public:
  Mapped(int file, std::size_t size_bytes)
      : size_bytes_(size_bytes), at_(mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE, file, 0)) {}
  ~Mapped() {
    if (good()) munmap(at_, size_bytes_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  bool good() const { return at_ != MAP_FAILED; }
  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(at_), size_bytes_}; }

 private:
  std::size_t size_bytes_;
  void* at_;
};

}  // namespace

SegmentFiles::SegmentFiles(Files& files, std::filesystem::path directory, const log::LogOptions& options)
    : files_(files), directory_(std::move(directory)), options_(options) {
  identity_.node = draw_number();
  identity_.disk = draw_number();
}

Result<std::unique_ptr<SegmentFiles>> SegmentFiles::open(const std::filesystem::path& directory,
                                                         const log::LogOptions& options, const Visit& visit,
                                                         Files& changes) {
  if (!changes.make_directories(directory.string())) return cannot("use", directory.string());
  std::unique_ptr<SegmentFiles> files(new SegmentFiles(changes, directory, options));
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(directory, problem)) {
    const std::string name = entry.path().filename().string();
    if (const auto number = number_of(name, segment_prefix)) files->segments_[*number] = entry.path();
    if (const auto number = number_of(name, spare_prefix)) {
      files->spares_made_ = std::max(files->spares_made_, *number);
      std::error_code gone;
      if (entry.file_size(gone) == options.segment_bytes) {
        files->spares_.push_back(entry.path());
      } else {
        changes.remove(entry.path().string());  // A file that was being made.
      }
    }
  }
  if (const Status read = files->read(visit); !read) return read.error();
  return files;
}

Status SegmentFiles::read(const Visit& visit) {
  log::Recovery recovery;
  for (auto at = segments_.begin(); at != segments_.end();) {
    const std::string name = at->second.string();
    const OwnedFile file(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat about = {};
    if (!file || fstat(file.number(), &about) != 0) return cannot("read", name);
    const auto size_bytes = static_cast<std::size_t>(about.st_size);
    const bool last = std::next(at) == segments_.end();
    const Mapped mapped(file.number(), std::max<std::size_t>(size_bytes, 1));
    if (!mapped.good()) return cannot("read", name);
    const auto head = size_bytes == 0 ? Result<log::SegmentHead>(Error{})
                                      : log::read_head(mapped.bytes().first(size_bytes));
    const auto bytes = mapped.bytes().first(size_bytes);
    if (last && (head ? head->number < at->first : log::has_no_head(bytes))) {
      // Its name came first, then its head together with the first batch: nothing of it counts yet.
      spares_.push_back(directory_ / (std::string(spare_prefix) + std::to_string(++spares_made_)));
      if (const Status renamed = rename(at->second, spares_.back()); !renamed) return renamed;
      at = segments_.erase(at);
      continue;
    }
    if (!head) {
      return Error{ErrorCode::log_damaged, name + ": " + head.error().what,
                   "the disk has lost what was written"};
    }
    if (head->number != at->first) {
      return Error{ErrorCode::log_damaged, name + " says that it is segment " + std::to_string(head->number),
                   "a file of another place or time lies there"};
    }
    identity_ = *head;
    const auto visit_here = [&](const log::Record& record) { visit(record, head->number); };
    if (const Status taken = recovery.take(*head, bytes, visit_here); !taken) return taken;
    ++at;
  }
  end_ = recovery.end();
  if (segments_.empty()) return Done{};
  return recovery.remains() ? wipe_behind(end_) : sync_what_was_read();
}

/// A killed process may not have synced, and readers of these records will act on them. Records of older
/// segments were on the disk before the last segment was begun.
Status SegmentFiles::sync_what_was_read() {
  const std::string name = segments_.rbegin()->second.string();
  const OwnedFile file(::open(name.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) return cannot("write", name);
  sync_or_die(file, name);
  if (!files_.sync_directory(directory_.string())) die_of_sync(directory_.string());
  return Done{};
}

/// A torn batch has left something there.
Status SegmentFiles::wipe_behind(const log::Position& end) {
  const std::string name = path_of(end.segment).string();
  const OwnedFile file(::open(name.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) return cannot("write", name);
  const std::vector<std::byte> zeros(options_.segment_bytes - end.offset);
  if (const Status written = write_all(file, zeros, end.offset, name); !written) return written;
  return sync_what_was_read();
}

std::filesystem::path SegmentFiles::path_of(std::uint64_t segment) const {
  return directory_ / (std::string(segment_prefix) + std::to_string(segment));
}

Status SegmentFiles::write_all(const OwnedFile& file, std::span<const std::byte> bytes, std::size_t offset,
                               const std::string& name) {
  return files_.write(file, bytes, offset) ? Status(Done{}) : cannot("write", name);
}

void SegmentFiles::sync_or_die(const OwnedFile& file, const std::string& name) {
  if (!files_.sync(file)) die_of_sync(name);
}

Status SegmentFiles::rename(const std::filesystem::path& from, const std::filesystem::path& to) {
  return files_.rename(from.string(), to.string()) ? Status(Done{}) : cannot("rename", from.string());
}

Status SegmentFiles::prepare() {
  if (!spares_.empty()) return Done{};
  const std::filesystem::path path =
      directory_ / (std::string(spare_prefix) + std::to_string(++spares_made_));
  const OwnedFile file = files_.make(path.string());
  if (!file) return cannot("make", path.string());
  // Zeros, not only room: then a sync of a record has no blocks to allocate and no length to note.
  static const std::vector<std::byte> zeros(std::size_t{1} << 20);
  for (std::size_t offset = 0; offset < options_.segment_bytes; offset += zeros.size()) {
    const auto piece = std::span(zeros).first(std::min(zeros.size(), options_.segment_bytes - offset));
    if (const Status written = write_all(file, piece, offset, path.string()); !written) {
      files_.remove(path.string());
      return written;
    }
  }
  sync_or_die(file, path.string());
  spares_.push_back(path);
  return Done{};
}

Status SegmentFiles::begin(std::uint64_t segment) {
  if (const Status ready = prepare(); !ready) return ready;
  const std::filesystem::path from = spares_.back(), to = path_of(segment);
  if (const Status renamed = rename(from, to); !renamed) return renamed;
  spares_.pop_back();
  segments_[segment] = to;
  if (!files_.sync_directory(directory_.string())) die_of_sync(directory_.string());
  return Done{};
}

Status SegmentFiles::write(const log::Batch& batch) {
  if (!segments_.contains(batch.segment)) {
    if (const Status begun = begin(batch.segment); !begun) return begun;
  }
  const std::string name = segments_.at(batch.segment).string();
  if (open_segment_ != batch.segment || !file_) {
    file_.reset(::open(name.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file_) return cannot("open", name);
    open_segment_ = batch.segment;
  }
  if (const Status written = write_all(file_, batch.bytes, batch.offset, name); !written) return written;
  sync_or_die(file_, name);
  return Done{};
}

void SegmentFiles::release_before(std::uint64_t segment) {
  // A segment that cannot go now is tried again, before those behind it: with a gap they would look lost.
  while (!segments_.empty() && segments_.begin()->first < segment) {
    const std::filesystem::path path = segments_.begin()->second;
    if (spares_.size() >= spares_max) {
      if (!files_.remove(path.string())) return;
    } else {
      const auto spare = directory_ / (std::string(spare_prefix) + std::to_string(++spares_made_));
      if (!rename(path, spare)) return;
      spares_.push_back(spare);
    }
    segments_.erase(segments_.begin());
  }
}

}  // namespace dag
