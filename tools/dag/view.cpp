// `dag view PATH...`: what the journals of nodes say, also when the nodes are gone.

#include <ctime>
#include <iostream>

#include "libdag/client/exit_status.hpp"
#include "libdag/client/journal_view.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/options.hpp"
#include "tools/dag/print.hpp"

namespace dag::tool {
namespace {

struct ViewOptions {
  std::vector<std::string> paths;
  std::string job, task;
  bool failed = false, json = false;
};

/// In UTC: journals of several machines lie side by side.
std::string time_text(std::int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char date[32], text[48];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text, sizeof text, "%s.%06dZ", date, static_cast<int>(unix_ns % 1'000'000'000 / 1000));
  return text;
}

std::string task_text(const detail::JournalLine& line) {
  if (!line.task) return {};
  const std::string id = to_string(*line.task);
  return line.name.empty() ? id : line.name + "[" + id + "]";
}

bool is_wanted(const detail::JournalLine& line, const ViewOptions& options, std::optional<JobId> job) {
  if (job && line.job != *job) return false;
  if (options.failed && !line.failed) return false;
  if (options.task.empty()) return true;
  return line.task && (line.name == options.task || to_string(*line.task) == options.task);
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

int view(const ViewOptions& options) {
  std::optional<JobId> job;
  if (!options.job.empty()) job = job_of(options.job);
  detail::JournalView journals(options.paths);
  std::uint64_t found = 0;
  while (const auto entry = journals.next()) {
    const detail::JournalLine line = line_of(*entry);
    if (!is_wanted(line, options, job)) continue;
    ++found;
    print(line, options.json);
    if (!std::cout) break;  // Who reads it has seen enough.
  }
  std::cout.flush();
  for (const std::string& notice : journals.notices()) std::cerr << "dag: " << notice << '\n';
  if (found > 0 || (!job && options.task.empty())) return exit_ok;
  std::cerr << "dag: the journals say nothing of that; without --job and --task all is shown\n";
  return exit_unknown;
}

}  // namespace

void add_view(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("view", "what happened, out of the journals of nodes; needs no cluster");
  const auto options = std::make_shared<ViewOptions>();
  command
      ->add_option("path", options->paths,
                   "data directories of nodes, a directory with some, or files of a journal")
      ->required();
  command->add_option("--job", options->job, "of this job alone, as `dag show` takes it");
  command->add_option("--task", options->task, "of the tasks with this name or number alone");
  command->add_flag("--failed", options->failed, "only tasks that failed or took their process down");
  command->add_flag("--json", options->json, "a JSON object per line");
  command->callback([=, &chosen] { chosen = [=] { return view(*options); }; });
}

}  // namespace dag::tool
