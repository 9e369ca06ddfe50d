#include "libdag/story/logs.hpp"

#include <algorithm>
#include <utility>

namespace dag::detail {

LogLine gap_line(std::int64_t unix_ns, std::string place, std::string text) {
  LogLine line;
  line.unix_ns = unix_ns;
  line.place = std::move(place);
  line.text = std::move(text);
  line.gap = true;
  return line;
}

bool LogFilter::takes(const LogLine& line) const {
  if (tasks.takes_all() || line.gap) return true;
  return line.task && tasks.takes(*line.task, line.name);
}

std::string prefix_of(const LogLine& line) {
  if (!line.task) return line.place;
  const std::string node = line.place.substr(0, line.place.find('/'));
  const std::string number = to_string(*line.task);
  return (line.name.empty() ? number : line.name + " (" + number + ")") + "@" + node + "#" +
         std::to_string(line.number);
}

std::vector<LogLine> lines_in(const JournalEntry& entry) {
  const JournalEvent& record = entry.record;
  LogLine line;
  line.unix_ns = entry.unix_ns;
  line.place = to_string(record.place);
  std::string text;
  std::vector<LogLine> lines;
  if (const auto* said = std::get_if<event::Said>(&record.what)) {
    line.task = record.task;
    line.name = said->name;
    line.number = said->number > 0 ? said->number : record.attempt.number;
    text = said->line;
  } else if (const auto* printed = std::get_if<event::Printed>(&record.what)) {
    text = printed->text;
    if (printed->left_out > 0) {
      lines.push_back(
          gap_line(entry.unix_ns, line.place,
                   std::to_string(printed->left_out) + " bytes were dropped: the process printed too fast"));
    }
  } else {
    return lines;
  }
  if (text.ends_with('\n')) text.pop_back();
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    line.text = text.substr(from, end - from);
    lines.push_back(line);
    from = end + 1;
  }
  return lines;
}

}  // namespace dag::detail
