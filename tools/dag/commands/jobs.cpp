// `dag ls`, `show`, `cancel`, `retry`, `wait`: the jobs of a cluster. A job's id names the node that it was
// submitted to; that node knows the leader of its record now, and so do others when it is gone.

#include <iostream>
#include <map>

#include "libdag/client/all_nodes.hpp"
#include "libdag/client/exit_status.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/durations.hpp"
#include "tools/dag/job_selector.hpp"
#include "tools/dag/options.hpp"
#include "tools/dag/views/print.hpp"

namespace dag::tool {
namespace {

void print(const Options& options, const JobInfo& job) {
  std::cout << (options.json ? json_line(to_json(job)) : job_text(job));
}

int list(const Options& options, const JobFilter& which) {
  const detail::Seen seen = detail::AllNodes(address_of(options)).look(0, which);
  // The jobs of the other nodes are listed anyway.
  for (const std::string& what : seen.missing) std::cerr << "dag ls: without the jobs of " << what << '\n';
  if (options.json) {
    auto all = nlohmann::json::array();
    for (const JobInfo& job : seen.jobs) all.push_back(to_json(job));
    std::cout << json_line({{"jobs", std::move(all)}, {"beyond", seen.jobs_beyond}});
  } else if (seen.jobs.empty()) {
    std::cerr << (which == JobFilter{} ? "no jobs\n" : "no such jobs\n");
  } else {
    std::cout << jobs_text(seen.jobs);
    if (seen.jobs_beyond > 0) std::cerr << "and " << seen.jobs_beyond << " more: raise --limit\n";
  }
  return exit_ok;
}

/// The values of `--phase`.
std::map<std::string, JobPhase> phases() {
  std::map<std::string, JobPhase> all;
  for (const JobPhase phase : {JobPhase::starting, JobPhase::running, JobPhase::finished, JobPhase::failed,
                               JobPhase::cancelled, JobPhase::no_quorum, JobPhase::recovering})
    all.emplace(name(phase), phase);
  return all;
}

int show(const Options& options, JobId job) {
  print(options, info_of(*connect_for(options, job), job));
  return exit_ok;
}

int cancel(const Options& options, JobId job) {
  const auto cluster = connect_for(options, job);
  if (const JobInfo info = info_of(*cluster, job); has_ended(info.phase)) {
    std::cerr << to_string(job) << " has ended already: " << name(info.phase) << '\n';
    if (options.json) std::cout << json_line({{"job", to_string(job)}, {"phase", name(info.phase)}});
    return exit_ok;
  }
  cluster->cancel(job);
  std::cerr << "cancelling " << to_string(job)
            << ": running tasks are notified, tasks that wait are dropped\n";
  if (options.json) std::cout << json_line({{"job", to_string(job)}});
  return exit_ok;
}

int retry(const Options& options, JobId job, bool failed) {
  const std::string name = to_string(job);
  const JobId again = connect_for(options, job)->retry(job, failed);
  if (options.json) {
    std::cout << json_line({{"job", to_string(again)}, {"retries", name}});
  } else {
    std::cout << to_string(again) << '\n';
  }
  return exit_ok;
}

int wait(const Options& options, JobId job, std::optional<double> limit) {
  std::optional<Duration> within;
  if (limit) within = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(*limit));
  const auto cluster = connect_for(options, job);
  if (options.verbose) std::cerr << "dag: waiting for " << to_string(job) << std::endl;
  const JobInfo ended = cluster->wait(job, within);
  print(options, ended);
  return ended.phase == JobPhase::finished ? exit_ok : exit_work_failed;
}

/// A command about one job.
CLI::App* add_about_job(CLI::App& app, Chosen& chosen, const char* name, const char* about,
                        int (*act)(const Options&, JobId)) {
  auto* command = app.add_subcommand(name, about);
  const auto options = add_options(*command);
  const auto job = add_job(*command);
  command->callback([=, &chosen] { chosen = [=] { return act(*options, job_of(*job, *options)); }; });
  return command;
}

}  // namespace

void add_jobs(CLI::App& app, Chosen& chosen) {
  auto* ls = app.add_subcommand("ls", "list the jobs of a cluster");
  const auto options_of_ls = add_options(*ls);
  const auto which = std::make_shared<JobFilter>();
  ls->add_flag("--failed", which->failed, "only jobs that failed or have a failed task");
  ls->add_option("--name", which->name, "only jobs whose name contains this");
  const auto phase = std::make_shared<std::string>();
  ls->add_option("--phase", *phase, "only jobs in this phase: running, finished, ...")
      ->check(CLI::IsMember(phases()));
  ls->add_option("--limit", which->first,
                 "list at most this many: jobs that have not ended, then the newest");
  ls->callback([=, &chosen] {
    if (!phase->empty()) which->phase = phases().at(*phase);
    chosen = [=] { return list(*options_of_ls, *which); };
  });

  add_about_job(app, chosen, "show", "show a job: its tasks, its processes, why it failed", show);
  add_about_job(app, chosen, "cancel", "cancel a job", cancel);

  auto* retries = app.add_subcommand("retry", "submit an ended job again");
  const auto options_of_retry = add_options(*retries);
  const auto retried = add_job(*retries);
  const auto failed = std::make_shared<bool>(false);
  retries->add_flag("--failed", *failed,
                    "run only tasks that failed, were cancelled or skipped, or never ran");
  retries->footer(
      "The job is submitted as it was: the same tasks, binary, arguments, directory, environment and limits. "
      "It gets a new\nnumber, which is printed. Jobs of `dag submit`, `dag exec` and `dag flow` can be "
      "retried "
      "as long as their results\nare kept: an hour, or what results_kept_for of dagd says.\n"
      "\n"
      "--failed: tasks that finished do not run again. They count as finished in the new job, and their "
      "results are its results.\nThese run:\n"
      "  - tasks that failed, were cancelled, or never ran; tolerated failures, too\n"
      "  - their successors, including finished ones: a summary of any outcome is made again\n"
      "  - a finished task whose output is gone, if a task that runs reads it. Inputs of unfinished tasks "
      "are\n"
      "    kept as long as results; some are lost with the node that leads the job\n"
      "  - a task that spawned others, and all of these, unless they all finished\n"
      "  - all calls of a job actor from its creation, and tasks that have its handle, unless they all "
      "finished\n"
      "  - all members of a group that restart together, unless they all finished\n"
      "Exit status: 0 the cluster has the new job, 1 the old job is not kept any more, 2 the old job has "
      "not\n"
      "ended, or its program submitted it itself, or --failed has nothing to run.");
  retries->callback([=, &chosen] {
    chosen = [=] { return retry(*options_of_retry, job_of(*retried, *options_of_retry), *failed); };
  });

  auto* waits = app.add_subcommand("wait", "wait until a job has ended");
  const auto options = add_options(*waits);
  const auto job = add_job(*waits);
  const auto limit = std::make_shared<std::optional<double>>();
  takes_duration(waits->add_option("--timeout", *limit, "how long to wait, such as 30s or 5m"));
  waits->footer(
      "Exit status: 0 the job finished, 1 it failed or was cancelled, 7 timeout, 8 the cluster was lost.");
  waits->callback([=, &chosen] { chosen = [=] { return wait(*options, job_of(*job, *options), *limit); }; });
}

}  // namespace dag::tool
