// dag-chaos: real node processes that are killed and paused while jobs run, and an oracle outside.
//
//   dag-chaos kill      [--cycles N] [--seed N] [--json]   kill -9 of one node, two, or all; started again
//   dag-chaos pause     [--cycles N] [--seed N] [--json]   SIGSTOP of a node for 1 ms to 30 s
//   dag-chaos powerfail [--cycles N] [--seed N] [--json]   all nodes at once lose what they have not synced
//
// Half of the cycles of the first two aim at the node that leads a job. Whoever keeps the invariants gives: 0
// results lost, 0 settled twice, 0 stale, 0 stuck. The seed decides what is done, not how threads meet it.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "tools/chaos/node_faults.hpp"

namespace dag::chaos {
namespace {

void print(const nlohmann::json& report) {
  std::cout << report["cycles"] << " cycles (" << report["aimed_at_leader"] << " aimed at a leader), "
            << report["jobs"] << " jobs, " << report["results"] << " results checked, "
            << report["outcomes_unknown"] << " outcomes of at_most_once unknown\n";
  for (const char* name :
       {"detected_ms", "next_outcome_ms", "next_outcome_without_leader_ms", "next_outcome_with_power_ms"}) {
    if (!report.contains(name)) continue;
    std::cout << name << ": p50 " << report[name]["p50"] << ", p99 " << report[name]["p99"] << ", max "
              << report[name]["max"] << " (" << report[name]["count"] << ")\n";
  }
  for (const auto& wrong : report["violations"])
    std::cout << "VIOLATION " << wrong.get<std::string>() << '\n';
  if (report["violations"].empty())
    std::cout << "no violation; failures per cycle are below " << report["failure_rate_below"]
              << " with 95 %\n";
}

/// `Chaos` has cycles, jobs, and a report.
template <class Chaos>
nlohmann::json go_through(Chaos& chaos, const Options& options) {
  Jobs& jobs = chaos.jobs();
  for (std::uint32_t cycle = 0; cycle < options.cycles && !jobs.broken(); ++cycle) {
    chaos.cycle();
    if (isatty(STDERR_FILENO))
      std::cerr << "\r" << cycle + 1 << " of " << options.cycles << " cycles " << std::flush;
  }
  jobs.finish();
  if (isatty(STDERR_FILENO)) std::cerr << '\n';
  return chaos.report();
}

int run(const Options& options, Fault fault) {
  std::string directory = options.directory;
  if (directory.empty()) {
    std::string name = (std::filesystem::temp_directory_path() / "dag-chaos-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("cannot make a directory for temporary files");
    directory = name;
  }
  const auto programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  nlohmann::json report;
  {
    NodeFaults faults(options, fault, std::filesystem::absolute(directory), programs);
    report = go_through(faults, options);
  }
  const bool failed = !report["violations"].empty();
  if (failed || !options.directory.empty()) {
    report["directory"] = directory;
    std::cerr << "dag-chaos: logs and ledgers lie in " << directory << '\n';
  } else {
    std::filesystem::remove_all(directory);
  }
  if (options.json) {
    std::cout << report.dump() << '\n';
  } else {
    print(report);
  }
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace dag::chaos

int main(int argc, char** argv) {
  CLI::App app(
      "kills and pauses real nodes while jobs run, or takes their power, and checks what the jobs' clients "
      "were told");
  dag::chaos::Options options;
  options.cycles = 30;
  options.tasks = 400;
  dag::chaos::Fault fault{};
  app.require_subcommand(1);
  const auto add = [&](const char* name, const char* about, dag::chaos::Fault what) {
    auto* command = app.add_subcommand(name, about);
    command->add_option("--cycles", options.cycles, "how often")->capture_default_str();
    command->add_option("--seed", options.seed, "of what is done when")->capture_default_str();
    command->add_option("--tasks", options.tasks, "of each job")
        ->capture_default_str()
        ->check(CLI::Range(20u, 100'000u));
    command->add_option("--directory", options.directory,
                        "for logs and ledgers, which stay (default: one that goes)");
    command->add_flag("--json", options.json, "the report as JSON");
    command->callback([&fault, what] { fault = what; });
  };
  add("kill", "kill -9 of one node, of two, or of all five; they are started again", dag::chaos::Fault::kill);
  add("pause", "stops a node for 1 ms to 30 s, then lets it go on", dag::chaos::Fault::pause);
  add("powerfail", "all five lose their power at once: what they have not synced, or a part of it, is lost",
      dag::chaos::Fault::powerfail);
  CLI11_PARSE(app, argc, argv);
  try {
    return dag::chaos::run(options, fault);
  } catch (const std::exception& problem) {
    std::cerr << "dag-chaos: " << problem.what() << '\n';
    return 2;
  }
}
