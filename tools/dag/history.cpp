// `dag history`: the jobs that a cluster has run, or what happened to one of them; out of the journals of its
// nodes, also when they are gone.

#include <iostream>

#include "libdag/client/exit_status.hpp"
#include "libdag/client/explain.hpp"
#include "libdag/client/history.hpp"
#include "tools/dag/chosen_journals.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/job_selector.hpp"
#include "tools/dag/lines.hpp"
#include "tools/dag/print.hpp"

namespace dag::tool {
namespace {

struct HistoryOptions {
  SharedOptions cluster;
  std::string job, task;
  bool failed = false;
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
  const JobId job = job_of(options.job, *options.cluster, *options.from);
  const detail::LineFilter filter{job, detail::selector_of(options.task, options.failed)};
  const ChosenJournals journals(*options.cluster, job, *options.from, {.which = filter.tasks});
  detail::JournalView view(journals.paths());
  if (print_lines(view, filter, options.cluster->json) > 0) return exit_ok;
  std::cerr << "dag: the journals say nothing of that\n";
  return exit_unknown;
}

}  // namespace

void add_history(CLI::App& app, Chosen& chosen) {
  auto* command =
      app.add_subcommand("history", "the jobs that a cluster has run, or what happened to one of them");
  const auto options = std::make_shared<HistoryOptions>();
  options->cluster = add_options(*command);
  command->add_option("job", options->job, "all that happened to this one, such as job7");
  command->add_option("--task", options->task,
                      "of these tasks alone: a name, a number, or numbers: 3-9, train/3-9");
  command->add_flag("--failed", options->failed, "only tasks that failed or took their process down");
  options->from = add_from(*command);
  command->callback([=, &chosen] {
    if (options->job.empty() && (options->failed || !options->task.empty()))
      throw CLI::ValidationError("--task and --failed are of one job: name it");
    chosen = [=] { return options->job.empty() ? list(*options) : one(*options); };
  });
}

}  // namespace dag::tool
