#include "nodes/workers/process_end.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <vector>

#include "nodes/workers/worker_seat.hpp"

namespace dag {

HowEnded end_of(int status, const RunningPage& page) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == status_of_lease_lost) {
    return {ProcessEnd::stopped_by_us, "ended because it could not renew its lease"};
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == status_of_cut_off)
    return {ProcessEnd::stopped_by_us, "ended because the other processes of its job took it for dead"};
  if (WIFEXITED(status) && WEXITSTATUS(status) == status_of_stuck)
    return {ProcessEnd::stopped_by_us,
            "ended because a kernel did not return, and the next attempt of its task must not run beside it"};
  if (WIFEXITED(status)) {
    return {ProcessEnd::faulted,
            "ended with status " + std::to_string(WEXITSTATUS(status)) + " in the middle of its job"};
  }
  const int signal = WTERMSIG(status);
  const char* description = sigdescr_np(signal);
  std::string text =
      "signal " + std::to_string(signal) + " (" + (description == nullptr ? "?" : description) + ")";
  // The sender is not always known. Kernels do not raise these signals, so running attempts are blameless.
  const bool ends =
      signal == SIGKILL || signal == SIGTERM || signal == SIGHUP || signal == SIGINT || signal == SIGQUIT;
  const bool from_outside = page.was_sent_from_outside(signal).value_or(ends);
  return {from_outside ? ProcessEnd::killed : ProcessEnd::faulted, std::move(text)};
}

/// The end of what a process wrote, as a part of the sentence on how it ended; empty when it wrote nothing.
std::string last_words(const std::string& log) {
  constexpr std::streamoff bytes_max = 600;
  constexpr std::size_t lines_max = 5;
  std::ifstream file(log, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff size = file.tellg(), from = std::max<std::streamoff>(0, size - bytes_max);
  file.seekg(from);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  if (from > 0 && lines.size() > 1) lines.erase(lines.begin());  // The first line begins in the middle.
  if (lines.size() > lines_max)
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(lines_max));
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "; the last it wrote: " : " | ") + line;
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 32) c = ' ';
  }
  return text;
}

}  // namespace dag
