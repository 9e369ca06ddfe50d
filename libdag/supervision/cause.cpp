#include "libdag/supervision/cause.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "libdag/base/check.hpp"

namespace dag {

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    if (end > start) lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

}  // namespace

Error because(Error outer, const Error& cause) {
  std::vector<std::string> lines = lines_of(outer.cause);
  std::string headline = std::string(name(cause.code)) + ": " + cause.what;
  std::replace(headline.begin(), headline.end(), '\n', ' ');  // A cause is always one line.
  lines.push_back(std::move(headline));
  for (auto& line : lines_of(cause.cause)) lines.push_back(std::move(line));
  if (lines.size() > cause_lines_max) {
    const auto middle = lines.begin() + cause_lines_max - 2;
    lines.erase(middle, lines.end() - 1);
    lines.insert(lines.end() - 1, "...");
  }
  outer.cause.clear();
  for (const auto& line : lines) outer.cause += (outer.cause.empty() ? "" : "\n") + line;
  if (outer.hint.empty()) outer.hint = cause.hint;
  return outer;
}

Error escalation(const std::string& what, const Intensity& intensity, const Error& cause) {
  const auto seconds = std::chrono::duration<double>(intensity.period).count();
  std::string period = std::to_string(seconds);
  period.erase(period.find_last_not_of('0') + 1);
  if (period.back() == '.') period.pop_back();
  // The code stays that of the cause: programs act on the root, not on the level that passed it
  // on.
  return because(Error{cause.code, what + " went down more than " + std::to_string(intensity.restarts) +
                                       " times in " + period + " s"},
                 cause);
}

}  // namespace dag
