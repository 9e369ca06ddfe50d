#include "tools/dag/chosen_journals.hpp"

#include <csignal>
#include <iostream>

namespace dag::tool {

ChosenJournals::ChosenJournals(const Options& options, std::optional<JobId> job,
                               const std::vector<std::string>& paths, detail::GatherLimits limits)
    : paths_(paths) {
  if (!paths_.empty()) return;
  // A reader that closes our stdout must not end us before the gathered files are tidied up.
  std::signal(SIGPIPE, SIG_IGN);
  gathered_ = std::make_unique<detail::GatheredJournals>(address_of(options), job, std::move(limits));
  for (const std::string& notice : gathered_->notices()) std::cerr << "dag: " << shown(notice) << '\n';
  paths_ = gathered_->paths();
}

std::shared_ptr<std::vector<std::string>> add_from(CLI::App& command) {
  auto paths = std::make_shared<std::vector<std::string>>();
  command.add_option(
      "--from", *paths,
      "read these journals instead of those of a cluster: data or state directories of nodes, a directory "
      "with several of them, or journal files");
  return paths;
}

}  // namespace dag::tool
