// `dag submit JOB`: starts the job's program, told where the cluster is. It is its own client; without
// --watch it prints its job's id and ends as soon as the cluster has the job.

#include <iostream>

#include "libdag/client/exit_status.hpp"
#include "tools/dag/cluster/process.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/commands/said.hpp"
#include "tools/dag/options.hpp"
#include "tools/dag/words.hpp"

namespace dag::tool {
namespace {

struct HowSubmitted {
  bool watch = false;
  bool dry_run = false;
};

/// The address of the cluster that a dry run asks. Empty: none is known, and none was named.
std::string address_to_ask(const Options& options) {
  try {
    return address_of(options);
  } catch (const Failure& failure) {
    if (failure.error().code != ErrorCode::peer_unreachable) throw;
    std::cerr << "dag: no cluster is known: the needs of tasks are not checked\n";
    return "";
  }
}

int submit(const Options& options, HowSubmitted how, const std::vector<std::string>& words) {
  // Both variables mean something when they are not empty, and what they are tells the form of the answer.
  const std::string form = options.json ? "json" : "text";
  std::map<std::string, std::string> environment{{"DAG_DRY_RUN", how.dry_run ? form : ""},
                                                 {"DAG_DETACH", how.watch || how.dry_run ? "" : form},
                                                 {"DAG_ADDRESS", ""}};
  environment["DAG_ADDRESS"] = how.dry_run ? address_to_ask(options) : address_of(options);
  block_signals();
  Said submitted;
  ProgramCall call{words, environment};
  submitted.hand_to(call, "DAG_SUBMITTED");
  const pid_t child = start(call);
  const Waited waited = wait_for_child();
  if (waited.signal == 0) return status_of_job(submitted, waited.end.status, words.front());
  end_all({child}, std::chrono::milliseconds(5000));
  if (how.watch) std::cerr << "\nDetached. A job that the cluster has accepted keeps running: dag ls\n";
  return exit_interrupted;
}

}  // namespace

void add_submit(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("submit", "run a job in a cluster");
  const auto options = add_options(*command);
  const auto how = std::make_shared<HowSubmitted>();
  const auto words = std::make_shared<std::vector<std::string>>();
  auto* watch = command->add_flag("--watch", how->watch,
                                  "wait for the end of the job, and print what its program prints");
  command
      ->add_flag("--dry-run", how->dry_run,
                 "check the graph, ask the cluster if one is known, and print a summary; start nothing")
      ->excludes(watch);
  takes_words_as_they_are(
      command->add_option("job", *words, "the job's binary, and its arguments after --")->required());
  command->positionals_at_end();
  command->footer(
      "Exit status: 0 the cluster has the job, 2 the program submitted nothing, 4 its graph cannot run; with "
      "--watch that of the job's program.");
  command->callback([=, &chosen] { chosen = [=] { return submit(*options, *how, job_words(*words)); }; });
}

}  // namespace dag::tool
