// `dag mem`: which outputs the processes of jobs hold, of tasks of which names, and how large they are.

#include <algorithm>
#include <iostream>

#include "libdag/client/all_nodes.hpp"
#include "libdag/client/exit_status.hpp"
#include "libdag/client/held.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/job_selector.hpp"
#include "tools/dag/views/print.hpp"
#include "tools/dag/views/progress.hpp"

namespace dag::tool {
namespace {

std::string held_text(const detail::JobHeld& job) {
  std::string text = to_string(job.job) + " (" + shown(job.name) + ") holds " + std::to_string(job.outputs) +
                     (job.outputs == 1 ? " output, " : " outputs, ") + bytes_text(job.bytes) + "\n";
  if (job.outputs == 0 && job.silent.empty()) return text;
  std::vector<std::vector<std::string>> rows;
  for (const detail::ProcessHeld& process : job.processes) {
    for (const HeldOutputs& held : process.held)
      rows.push_back({to_string(process.life.process), held.name.empty() ? "(others)" : shown(held.name),
                      std::to_string(held.outputs), bytes_text(held.bytes)});
  }
  text += table({"PROCESS", "TASKS", "OUTPUTS", "BYTES"}, rows);
  for (const Life life : job.silent)
    text += to_string(life.process) + " has not answered: its outputs are missing here\n";
  return text;
}

int mem(const Options& options, const std::string& which) {
  std::vector<detail::JobHeld> all;
  if (!which.empty()) {
    const JobId job = job_of(which, options);
    const auto cluster = connect_for(options, job);
    const JobInfo info = info_of(*cluster, job);
    if (has_ended(info.phase)) {
      std::cerr << "dag: " << to_string(job)
                << " has ended. Its outputs are freed when no client needs them\n";
    }
    all.push_back(detail::held_by(*cluster, info));
  } else {
    const std::string address = address_of(options);
    const auto cluster = connect(options);
    for (const JobInfo& job : detail::AllNodes(address).look().jobs) {
      if (has_ended(job.phase)) continue;
      try {
        if (job.phase == JobPhase::no_quorum) throw Failure({ErrorCode::no_quorum, "no node leads it"});
        all.push_back(detail::held_by(*cluster, job));
      } catch (const Failure& failure) {
        std::cerr << "dag: without " << to_string(job.job) << ": " << shown(failure.error().what) << '\n';
      }
    }
  }
  if (options.json) {
    auto jobs = nlohmann::json::array();
    for (const detail::JobHeld& job : all) jobs.push_back(to_json(job));
    std::cout << json_line({{"jobs", std::move(jobs)}});
  } else if (all.empty()) {
    std::cerr << "no job runs\n";
  } else {
    for (std::size_t i = 0; i < all.size(); ++i) std::cout << (i == 0 ? "" : "\n") << held_text(all[i]);
  }
  return exit_ok;
}

}  // namespace

void add_mem(CLI::App& app, Chosen& chosen) {
  auto* command =
      app.add_subcommand("mem", "show the outputs that the processes of jobs hold, and their sizes");
  const auto options = add_options(*command);
  const auto job = std::make_shared<std::string>();
  command->add_option("job", *job, "such as job7 or last (default: all running jobs)");
  command->footer(
      "An output with copies in two processes counts in both; bytes that two tasks of a process share count\n"
      "once. The working memory of kernels is not counted.");
  command->callback([=, &chosen] { chosen = [=] { return mem(*options, *job); }; });
}

}  // namespace dag::tool
