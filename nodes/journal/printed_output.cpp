#include "nodes/journal/printed_output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace dag {

PrintedOutput::PrintedOutput(const std::string& file) : file_(open(file.c_str(), O_RDWR | O_CLOEXEC)) {}

std::vector<event::Printed> PrintedOutput::take(bool last) {
  std::vector<event::Printed> pieces;
  struct stat about {};
  if (!file_ || fstat(file_.number(), &about) != 0) return pieces;
  const auto size = static_cast<std::uint64_t>(about.st_size);
  if (size > read_ && size - read_ > behind_bytes_max) pass_over(size - behind_bytes_max);
  std::size_t taken = 0;
  while (read_ < size && taken < take_bytes_max) {
    std::string text(std::min<std::uint64_t>(size - read_, piece_bytes_max), '\0');
    const ssize_t got = pread(file_.number(), text.data(), text.size(), static_cast<off_t>(read_));
    if (got <= 0) break;
    text.resize(static_cast<std::size_t>(got));
    const std::size_t end = text.rfind('\n');
    if (end != std::string::npos) {
      text.resize(end + 1);
    } else if (!last && text.size() < piece_bytes_max) {
      break;
    }
    read_ += text.size();
    taken += text.size();
    pieces.push_back({std::move(text), std::exchange(left_out_, 0)});
  }
  give_back();
  return pieces;
}

/// Skips the bytes before `to`, and the rest of a line that began there.
void PrintedOutput::pass_over(std::uint64_t to) {
  std::string text(piece_bytes_max, '\0');
  const ssize_t got = pread(file_.number(), text.data(), text.size(), static_cast<off_t>(to - 1));
  if (got > 0) {
    const std::size_t end = text.substr(0, static_cast<std::size_t>(got)).find('\n');
    if (end != std::string::npos) to += end;
  }
  left_out_ += to - read_;
  read_ = to;
}

void PrintedOutput::give_back() {
  if (read_ < given_back_ + 2 * kept_bytes) return;
  const std::uint64_t up_to = (read_ - kept_bytes) / 4096 * 4096;
  // Where the filesystem cannot, the file grows.
  fallocate(file_.number(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(given_back_),
            static_cast<off_t>(up_to - given_back_));
  given_back_ = up_to;
}

}  // namespace dag
