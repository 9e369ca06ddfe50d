// `dag history`: the jobs that a cluster has run, or the events of one job or of the nodes, from the journals
// of nodes, also when the nodes are gone. Saves the journals of a job, to be taken elsewhere.

#include <filesystem>
#include <iostream>

#include "libdag/client/checked_output.hpp"
#include "libdag/client/exit_status.hpp"
#include "libdag/client/explain.hpp"
#include "libdag/story/history.hpp"
#include "tools/dag/chosen_journals.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/job_selector.hpp"
#include "tools/dag/views/lines.hpp"
#include "tools/dag/views/print.hpp"
#include "tools/dag/views/work_line.hpp"

namespace dag::tool {
namespace {

namespace fs = std::filesystem;

struct HistoryOptions {
  SharedOptions cluster;
  std::string job, task, directory;
  bool failed = false, nodes = false;
  std::shared_ptr<std::vector<std::string>> from;
};

int list(const HistoryOptions& options) {
  const ChosenJournals journals(*options.cluster, std::nullopt, *options.from);
  detail::JournalView view(journals.paths());
  const std::vector<detail::PastJob> jobs = read_history(view);
  for (const std::string& notice : view.notices()) std::cerr << "dag: " << notice << '\n';
  if (options.cluster->json) {
    auto all = nlohmann::json::array();
    for (const detail::PastJob& job : jobs) all.push_back(to_json(job));
    std::cout << json_line({{"jobs", std::move(all)}});
  } else if (jobs.empty()) {
    std::cerr << "no jobs\n";
  } else {
    std::cout << history_text(jobs);
  }
  return exit_ok;
}

int one(const HistoryOptions& options) {
  const JobId job = options.nodes ? detail::of_nodes : job_of(options.job, *options.cluster, *options.from);
  const detail::LineFilter filter{job, detail::selector_of(options.task, options.failed)};
  const ChosenJournals journals(*options.cluster, job, *options.from, {.which = filter.tasks});
  if (!options.nodes && !options.cluster->json && filter.tasks == TaskSelector{}) {
    detail::JournalView summed(journals.paths());
    for (const detail::PastJob& past : read_history(summed)) {
      if (past.job == job) std::cout << summary_text(past);
    }
  }
  detail::JournalView view(journals.paths());
  if (print_lines(view, filter, options.cluster->json) > 0) return exit_ok;
  std::cerr << "dag: the journals have no such records\n";
  return exit_unknown;
}

/// Saves all that nodes have of a job, as journal files.
int save(const HistoryOptions& options) {
  const JobId job = job_of(options.job, *options.cluster, {});
  const fs::path to = options.directory;
  std::error_code problem;
  if (fs::exists(to, problem) && !(fs::is_directory(to, problem) && fs::is_empty(to, problem))) {
    throw Failure({ErrorCode::usage, shown(options.directory) + " exists and is not an empty directory",
                   "name a new directory"});
  }
  WorkLine line;
  const ChosenJournals journals(*options.cluster, job, {}, {.on_progress = line.on_progress()});
  line.clear();
  fs::create_directories(to, problem);
  if (!problem) fs::copy(journals.paths().front(), to, fs::copy_options::recursive, problem);
  if (problem) throw Failure(not_written(shown(options.directory), problem.value()));
  std::cerr
      << "dag: the journals of " << to_string(job) << " are in " << shown(options.directory)
      << ". Read them with `dag view`, or with --from of explain, graph, history, logs, report and trace\n";
  return exit_ok;
}

}  // namespace

void add_history(CLI::App& app, Chosen& chosen) {
  auto* command =
      app.add_subcommand("history", "list the jobs that a cluster has run, or the events of one job");
  const auto options = std::make_shared<HistoryOptions>();
  options->cluster = add_options(*command);
  command->add_option("job", options->job, "print the events of this job, such as job7");
  command->add_option("--task", options->task,
                      "only these tasks: a name, a number, or a range: 3-9, train/3-9");
  command->add_flag("--failed", options->failed, "only tasks that failed or crashed their process");
  command->add_flag("--nodes", options->nodes,
                    "print the events of nodes instead: joined, suspected, gone, as each node saw it");
  command->add_option(
      "--save", options->directory,
      "save the journals of the job to this directory, for `dag view` and --from on any machine");
  options->from = add_from(*command);
  command->callback([=, &chosen] {
    if (options->job.empty() && (options->failed || !options->task.empty()))
      throw CLI::ValidationError("--task and --failed need a job");
    if (options->nodes && (!options->job.empty() || !options->directory.empty()))
      throw CLI::ValidationError("--nodes takes neither a job nor --save");
    const bool saves = !options->directory.empty();
    if (saves && options->job.empty()) throw CLI::ValidationError("--save needs a job");
    if (saves && (options->failed || !options->task.empty() || !options->from->empty()))
      throw CLI::ValidationError("--save saves the whole job: leave out --task, --failed and --from");
    chosen = [=] {
      return saves                                     ? save(*options)
             : options->job.empty() && !options->nodes ? list(*options)
                                                       : one(*options);
    };
  });
}

}  // namespace dag::tool
