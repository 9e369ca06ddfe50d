// `dag view PATH...`: the records in the journals of nodes, also when the nodes are gone.

#include <iostream>

#include "libdag/client/exit_status.hpp"
#include "libdag/client/explain.hpp"
#include "libdag/story/journal_view.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/job_selector.hpp"
#include "tools/dag/options.hpp"
#include "tools/dag/views/lines.hpp"

namespace dag::tool {
namespace {

struct ViewOptions {
  std::vector<std::string> paths;
  std::string job, task;
  bool failed = false, json = false;
};

int view(const ViewOptions& options) {
  detail::LineFilter filter{std::nullopt, detail::selector_of(options.task, options.failed)};
  if (!options.job.empty()) filter.job = job_of(options.job, {}, options.paths);
  detail::JournalView journals(options.paths);
  if (print_lines(journals, filter, options.json) > 0 || (!filter.job && options.task.empty()))
    return exit_ok;
  std::cerr << "dag: the journals have no such records; leave out --job and --task to see all records\n";
  return exit_unknown;
}

}  // namespace

void add_view(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("view", "print the records in the journals of nodes; needs no cluster");
  const auto options = std::make_shared<ViewOptions>();
  command
      ->add_option("path", options->paths,
                   "data or state directories of nodes, a directory with several of them, or journal files")
      ->required();
  command->add_option("--job", options->job, "only this job, written as for `dag show`");
  command->add_option("--task", options->task,
                      "only these tasks: a name, a number, or a range: 3-9, train/3-9");
  command->add_flag("--failed", options->failed, "only tasks that failed or crashed their process");
  command->add_flag("--json", options->json, "a JSON object per line");
  command->callback([=, &chosen] { chosen = [=] { return view(*options); }; });
}

}  // namespace dag::tool
