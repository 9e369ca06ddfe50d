#include "libdag/client/submit_request.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "libdag/base/counted.hpp"
#include "libdag/client/checked_output.hpp"
#include "libdag/graph/check.hpp"
#include "libdag/graph/rank.hpp"
#include "libdag/graph/text.hpp"

namespace dag::detail {
namespace {

constexpr int exit_infeasible = 4;  // tools/dag/COMMANDS.md lists exit statuses.
/// Longer paths are cut in what people read.
constexpr std::size_t path_shown_max = 8;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string seconds_text(Duration duration) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", std::chrono::duration<double>(duration).count());
  return text;
}

[[noreturn]] void end(int status) { std::_Exit(checked_output("dag", status)); }

}  // namespace

std::string summary(const Fragment& fragment, const std::string& title, bool as_json) {
  std::size_t stated = 0;
  for (std::uint32_t task = 0; task < fragment.size(); ++task) {
    stated += fragment.policy(task).takes.has_value() ? 1 : 0;
  }
  // Without stated durations the summary shows the longest chain of tasks.
  const std::vector<Duration> unit(fragment.size(), Duration{1});
  const Ranking ranking =
      stated > 0 ? rank(fragment, durations(fragment, Duration{0})) : rank(fragment, unit);
  const std::vector<std::uint32_t>& path = ranking.critical_path;
  const auto name_of = [&](std::uint32_t task) { return fragment.name(task); };
  if (as_json) {
    std::string json = "{\"name\":" + json_string(printable(title)) +
                       ",\"tasks\":" + std::to_string(fragment.size()) +
                       ",\"edges\":" + std::to_string(fragment.edges.size()) +
                       ",\"durations_stated\":" + std::to_string(stated) + ",\"critical_path\":[";
    for (std::size_t i = 0; i < path.size(); ++i)
      json += (i == 0 ? "" : ",") + json_string(printable(name_of(path[i])));
    return json + "],\"critical_path_seconds\":" + (stated > 0 ? seconds_text(ranking.length) : "null") +
           "}\n";
  }
  std::string text =
      title + ": " + counted(fragment.size(), "task") + ", " + counted(fragment.edges.size(), "edge");
  if (path.empty()) return text + "\n";
  text += stated > 0 ? "; critical path " + seconds_text(ranking.length) + " s" : "; longest path";
  text += " (" + counted(path.size(), "task") + "): ";
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i > 0) text += " > ";
    if (i + 1 == path_shown_max && path.size() > path_shown_max) {
      text += "... > ";
      i = path.size() - 1;
    }
    text += name_of(path[i]);
  }
  if (stated > 0 && stated < fragment.size()) {
    text += "\n" + counted(fragment.size() - stated, "task") + " of unstated duration counted as 0";
  }
  return text + "\n";
}

void say_submitted() {
  const std::string_view asked = variable("DAG_SUBMITTED");
  int file = -1;
  const auto [end, problem] = std::from_chars(asked.data(), asked.data() + asked.size(), file);
  if (asked.empty() || problem != std::errc{} || end != asked.data() + asked.size()) return;
  struct stat what {};
  if (fstat(file, &what) != 0 || !S_ISFIFO(what.st_mode)) return;
  // A full pipe and a launcher that is gone have been told, or need not be.
  if (write(file, "", 1) == 1) close(file);
  unsetenv("DAG_SUBMITTED");
}

void end_if_dry_run(const Fragment& fragment, const std::string& title,
                    const std::function<Status()>& possible) {
  const std::string_view asked = variable("DAG_DRY_RUN");
  if (asked.empty()) return;
  heed_closed_pipes();
  Status checked = check(fragment);
  if (checked) checked = possible();
  if (!checked) {
    std::cerr << "dag: " << checked.error().message() << '\n';
    end(exit_infeasible);
  }
  std::cout << summary(fragment, title, asked == "json");
  end(EXIT_SUCCESS);
}

void end_if_detached(JobId job) {
  const std::string_view asked = variable("DAG_DETACH");
  if (asked.empty() || variable("DAG_ADDRESS").empty()) return;
  heed_closed_pipes();
  if (asked == "json") {
    std::cout << "{\"job\":" << json_string(to_string(job)) << "}\n";
  } else {
    std::cout << to_string(job) << '\n';
  }
  end(EXIT_SUCCESS);
}

}  // namespace dag::detail
