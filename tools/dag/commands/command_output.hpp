#pragma once
// What a command prints: one of its streams, in memory or in a file that stays, while it is written, and for
// those who read it afterwards.

#include <cstdint>
#include <cstdio>
#include <dag/dag.hpp>
#include <map>
#include <string>

namespace dag::tool {

/// All that lies in the file from there on, in one piece between those of other commands; where it ends.
/// Where a progress line is on the same terminal, the output takes the line's place, and ends its own line.
off_t copy_from(int file, off_t begin, std::FILE* to);

class CommandOutput {
 public:
  /// Without a path: in memory. A file is begun anew by a first attempt, and later ones add to it. Throws
  /// std::runtime_error when there can be none.
  CommandOutput(const std::string& path, std::uint32_t attempt);
  ~CommandOutput();
  CommandOutput(const CommandOutput&) = delete;
  CommandOutput& operator=(const CommandOutput&) = delete;

  int file() const { return file_; }
  void copy_to(std::FILE* to) const { copy_from(file_, begin_, to); }
  /// The last lines of this attempt, each indented; empty when it wrote nothing.
  std::string tail() const;
  /// What was written since then as lines of the task's log; `all`: also a line that has not ended. Of one
  /// attempt a MiB: a log is for people, the rest is in the file.
  void log_news(Context& context, bool all);

 private:
  void log_line(Context& context, std::string_view line);

  const std::string path_;
  int file_ = -1;
  off_t begin_ = 0, read_ = 0;
  std::string unfinished_;  // Of a line.
  std::size_t logged_bytes_ = 0;
};

/// Prints what commands leave in files, as it comes.
class FilePrinter {
 public:
  /// What the file has beside what was printed before. False: there is no such file on this machine.
  bool print(const std::string& path, std::FILE* to);
  /// What it has by now is not printed.
  void skip(const std::string& path);

 private:
  std::map<std::string, off_t> printed_;
};

/// `DIR/ID` as the start of names of files: no separator, nothing hidden, and no two of one job alike.
std::string file_label(const std::string& id, std::uint32_t number);

}  // namespace dag::tool
