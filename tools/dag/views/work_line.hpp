#pragma once
// A line on stderr with the progress of long work, where a person is there to read it; it goes when the work
// is done.

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace dag::tool {

class WorkLine {
 public:
  /// Shows nothing where stderr is no terminal, or stdout is one that is written to meanwhile.
  explicit WorkLine(bool writes_to_stdout = false);
  ~WorkLine() { clear(); }
  WorkLine(const WorkLine&) = delete;
  WorkLine& operator=(const WorkLine&) = delete;

  /// For detail::JournalPaths and others; not to be called after this object's end.
  std::function<void(std::string_view doing, double part)> on_progress();
  void clear();

 private:
  void show(std::string_view doing, double part);

  const bool shows_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point shown_at_;
  bool is_shown_ = false;
};

/// "dag: reading the journals: 43 %".
std::string work_text(std::string_view doing, double part);

}  // namespace dag::tool
