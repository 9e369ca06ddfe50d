#include "tools/dag/views/lines.hpp"

#include <iostream>

#include "tools/dag/options.hpp"
#include "tools/dag/views/print.hpp"

namespace dag::tool {

namespace {

std::string line_task_text(const detail::JournalLine& line) {
  if (!line.task) return {};
  const std::string id = to_string(*line.task);
  return line.name.empty() ? id : line.name + "[" + id + "]";
}

void print(const detail::JournalLine& line, bool json) {
  if (json) {
    std::cout << json_line(to_json(line));
    return;
  }
  const std::string task = line_task_text(line);
  std::cout << detail::utc_text(line.unix_ns) << "  " << line.place
            << (line.job == JobId{} ? "" : "  " + to_string(line.job))
            << (task.empty() ? "" : "  " + shown(task)) << "  " << shown(line.what) << '\n';
}

}  // namespace

std::uint64_t print_lines(detail::JournalView& journals, const detail::LineFilter& filter, bool json) {
  std::uint64_t found = 0;
  detail::LineSearch search(journals, filter);
  while (const auto line = search.next()) {
    ++found;
    print(*line, json);
    if (!std::cout) break;  // The reader has closed the pipe.
  }
  std::cout.flush();
  for (const std::string& notice : journals.notices()) std::cerr << "dag: " << notice << '\n';
  return found;
}

}  // namespace dag::tool
