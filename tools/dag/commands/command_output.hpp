#pragma once
// The output of a command: one of its streams, in memory or in a file that stays, while it is written, and
// for later readers.

#include <cstdint>
#include <cstdio>
#include <dag/dag.hpp>
#include <map>
#include <string>

namespace dag::tool {

/// Copies the file from there on, in one piece between outputs of other commands; returns the end. Where a
/// progress line is on the same terminal, the output takes its place, and ends its own line.
off_t copy_from(int file, off_t begin, std::FILE* to);

class CommandOutput {
 public:
  /// Without a path: in memory. A first attempt begins the file anew, and later ones add to it. Throws
  /// std::runtime_error when it cannot be opened.
  CommandOutput(const std::string& path, std::uint32_t attempt);
  ~CommandOutput();
  CommandOutput(const CommandOutput&) = delete;
  CommandOutput& operator=(const CommandOutput&) = delete;

  int file() const { return file_; }
  void copy_to(std::FILE* to) const { copy_from(file_, begin_, to); }
  /// The last lines of this attempt, each indented; empty when it wrote nothing.
  std::string tail() const;
  /// Logs the output since the last call as lines of the task's log; `all`: also an unfinished line. At most
  /// a MiB per attempt: a log is for people, the rest is in the file.
  void log_news(Context& context, bool all);

 private:
  void log_line(Context& context, std::string_view line);

  const std::string path_;
  int file_ = -1;
  off_t begin_ = 0, read_ = 0;
  std::string unfinished_;  // Start of an unfinished line.
  std::size_t logged_bytes_ = 0;
};

/// Prints the files with commands' output as they grow.
class FilePrinter {
 public:
  /// Prints the part of the file that was not printed yet. False: there is no such file on this machine.
  bool print(const std::string& path, std::FILE* to);
  /// Skips the present content of the file.
  void skip(const std::string& path);

 private:
  std::map<std::string, off_t> printed_;
};

/// `DIR/ID` as the start of names of files: no separator, nothing hidden, and no two of one job alike.
std::string file_label(const std::string& id, std::uint32_t number);

}  // namespace dag::tool
