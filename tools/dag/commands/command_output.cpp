#include "tools/dag/commands/command_output.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "tools/dag/views/terminal.hpp"

namespace dag::tool {
namespace {

/// Lines and bytes of stderr in the message about a failure.
constexpr std::size_t tail_lines = 10, tail_bytes = 2000;
/// Limits in the log, for a line, and for all lines of an attempt.
constexpr std::size_t line_bytes_max = 8192, logged_bytes_max = 1 << 20;
constexpr std::size_t label_bytes_max = 150;

int open_output(const std::string& path, std::uint32_t attempt) {
  if (path.empty()) return memfd_create("dag-output", MFD_CLOEXEC);
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  return open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (attempt == 1 ? O_TRUNC : 0), 0666);
}

off_t size_of(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 ? status.st_size : 0;
}

}  // namespace

off_t copy_from(int file, off_t begin, std::FILE* to) {
  const bool over_a_bar = bars_on_stderr() && isatty(fileno(to)) == 1;
  flockfile(to);
  char buffer[65536];
  char last = '\n';
  bool begun = false;
  for (ssize_t got = 0; (got = pread(file, buffer, sizeof buffer, begin)) > 0; begin += got) {
    if (over_a_bar && !std::exchange(begun, true)) fputs_unlocked("\r\x1b[K", to);
    if (fwrite_unlocked(buffer, 1, static_cast<std::size_t>(got), to) < static_cast<std::size_t>(got)) break;
    last = buffer[got - 1];
  }
  if (over_a_bar && last != '\n') putc_unlocked('\n', to);
  fflush_unlocked(to);
  funlockfile(to);
  return begin;
}

CommandOutput::CommandOutput(const std::string& path, std::uint32_t attempt)
    : path_(path), file_(open_output(path, attempt)), begin_(size_of(file_)), read_(begin_) {
  if (file_ >= 0) return;
  const std::string why = strerror(errno);
  throw std::runtime_error("no file for a command's output" + (path.empty() ? "" : ", " + path) + ": " + why);
}

CommandOutput::~CommandOutput() { close(file_); }

std::string CommandOutput::tail() const {
  const off_t size = size_of(file_);
  std::string text(
      std::min<std::size_t>(static_cast<std::size_t>(std::max<off_t>(size - begin_, 0)), tail_bytes), '\0');
  const ssize_t got = pread(file_, text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t from = text.size();
  for (std::size_t lines = 0; lines < tail_lines && from != std::string::npos && from > 0; ++lines) {
    from = text.rfind('\n', from - 1);
  }
  if (from != std::string::npos && from > 0) text.erase(0, from + 1);
  std::string indented;
  for (const char c : "\n" + text) indented += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return text.empty() ? "" : indented;
}

void CommandOutput::log_news(Context& context, bool all) {
  char buffer[65536];
  for (ssize_t got = 0;
       logged_bytes_ <= logged_bytes_max && (got = pread(file_, buffer, sizeof buffer, read_)) > 0;
       read_ += got) {
    for (const char* at = buffer; at != buffer + got; ++at) {
      if (*at != '\n') unfinished_ += *at;
      if (*at == '\n' || unfinished_.size() >= line_bytes_max)
        log_line(context, std::exchange(unfinished_, {}));
    }
  }
  if (all && !unfinished_.empty()) log_line(context, std::exchange(unfinished_, {}));
}

void CommandOutput::log_line(Context& context, std::string_view line) {
  if (logged_bytes_ > logged_bytes_max) return;
  logged_bytes_ += line.size() + 1;
  context.log(logged_bytes_ <= logged_bytes_max ? line : "... and more: see " + path_);
}

bool FilePrinter::print(const std::string& path, std::FILE* to) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  off_t& printed = printed_[path];
  printed = copy_from(file, printed, to);
  close(file);
  return true;
}

void FilePrinter::skip(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) printed_[path] = status.st_size;
}

std::string file_label(const std::string& id, std::uint32_t number) {
  std::string label = id.substr(0, label_bytes_max);
  for (char& c : label) {
    if (c == '/' || static_cast<unsigned char>(c) < 0x20) c = '_';
  }
  if (label.starts_with('.')) label.front() = '_';
  return label == id && !id.empty() ? label : label + "-" + std::to_string(number);
}

}  // namespace dag::tool
