#include "tools/dag/lines.hpp"

#include <ctime>
#include <iostream>

#include "tools/dag/options.hpp"
#include "tools/dag/print.hpp"

namespace dag::tool {

std::string time_text(std::int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char date[32], text[48];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text, sizeof text, "%s.%06dZ", date, static_cast<int>(unix_ns % 1'000'000'000 / 1000));
  return text;
}

namespace {

std::string task_text(const detail::JournalLine& line) {
  if (!line.task) return {};
  const std::string id = to_string(*line.task);
  return line.name.empty() ? id : line.name + "[" + id + "]";
}

bool is_wanted(const detail::JournalLine& line, const LineFilter& filter) {
  if (filter.job && line.job != *filter.job) return false;
  if (filter.failed && !line.failed) return false;
  if (filter.task.empty()) return true;
  return line.task && (line.name == filter.task || to_string(*line.task) == filter.task);
}

void print(const detail::JournalLine& line, bool json) {
  if (json) {
    nlohmann::json fields{{"time", time_text(line.unix_ns)},
                          {"unix_ns", line.unix_ns},
                          {"node", to_string(line.node.process)},
                          {"place", line.place},
                          {"job", to_string(line.job)},
                          {"kind", line.kind},
                          {"text", line.what}};
    if (line.task) fields["task"] = to_string(*line.task);
    if (!line.name.empty()) fields["name"] = line.name;
    std::cout << line_of(fields);
    return;
  }
  const std::string task = task_text(line);
  std::cout << time_text(line.unix_ns) << "  " << line.place << "  " << to_string(line.job)
            << (task.empty() ? "" : "  " + shown(task)) << "  " << shown(line.what) << '\n';
}

}  // namespace

std::uint64_t print_lines(detail::JournalView& journals, const LineFilter& filter, bool json) {
  std::uint64_t found = 0;
  while (const auto entry = journals.next()) {
    const detail::JournalLine line = line_of(*entry);
    if (!is_wanted(line, filter)) continue;
    ++found;
    print(line, json);
    if (!std::cout) break;  // Who reads it has seen enough.
  }
  std::cout.flush();
  for (const std::string& notice : journals.notices()) std::cerr << "dag: " << notice << '\n';
  return found;
}

}  // namespace dag::tool
