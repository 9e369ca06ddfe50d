// `dag-bench`: measures libdag and its peers on this machine, side by side. Data goes to stdout, progress to
// stderr.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "libdag/client/checked_output.hpp"
#include "libdag/client/json.hpp"
#include "tools/bench/commands.hpp"

namespace {

using dag::bench::Section;
using dag::bench::Settings;

struct Command {
  const char* name;
  const char* explained;
  Section (*run)(Settings&);
};
constexpr Command commands[] = {
    {"overhead", "the cost of an empty task (G1)", &dag::bench::overhead},
    {"metg", "Task Bench's ten graphs: the minimum effective task granularity", &dag::bench::metg_in_one},
    {"distributed", "two processes on one host, with rings and without (G2, G3, G4, G6)",
     &dag::bench::distributed},
    {"growth", "the cost of a task among 10 thousand and among 10 million (G11)", &dag::bench::growth},
    {"memory", "the memory of a waiting task (G8)", &dag::bench::memory},
    {"latency", "from ready to running: same lane, another lane, asleep, another process (G9, G10)",
     &dag::bench::latency},
    {"submit", "submission from a client process to a cluster (G7)", &dag::bench::submit},
    {"submits", "small jobs from a client process, one after the other", &dag::bench::submits},
    {"coarse", "tasks of 300 µs in two processes (G5)", &dag::bench::coarse},
    {"steal", "work that begins in one of two processes (G14)", &dag::bench::steal},
    {"blob", "a large output for a task in another process, as on another host (G12, G13)",
     &dag::bench::blob},
    {"isolated", "worker processes instead of lanes (G16)", &dag::bench::isolated},
    {"placement", "placement of a task among 256 nodes (G18)", &dag::bench::placement},
    {"durability", "records of a node's log that are on the disk", &dag::bench::durability},
    {"replicated", "the cost of three replicas of a job's record", &dag::bench::replicated},
    {"journal", "the cost of the journal", &dag::bench::journal},
    {"watched", "the cost of twenty watchers of a job", &dag::bench::watched},
    {"checkpoints", "the cost of checkpoints of a long task", &dag::bench::checkpoints},
    {"scale", "up to 256 nodes of 16 lanes, in virtual time (G17)", &dag::bench::scale},
    {"idle", "the CPU time of idle nodes (G15)", &dag::bench::idle},
};

/// --peers a,b: names that nobody has are refused, or a typing error would look like a missing package.
std::string check_peer(const std::string& name) {
  std::string known;
  for (const auto& runner : dag::bench::all_runners()) {
    if (runner.name == name) return {};
    known += (known.empty() ? "" : ", ") + std::string(runner.name);
  }
  return "there is no peer '" + name + "'; there are " + known;
}

}  // namespace

int main(int argc, char** argv) {
  dag::heed_closed_pipes();
  CLI::App app("Measures libdag and its peers side by side.", "dag-bench");
  app.require_subcommand(1);
  app.fallthrough();
  Settings settings;
  bool json = false;
  dag::bench::Report report;
  report.machine = dag::bench::this_machine();
  settings.threads = report.machine.cores;
  app.add_flag("--json", json, "print the report as JSON");
  app.add_flag("--quick", settings.quick, "small and short: a test of the benchmark, not of speed");
  auto* repeat = app.add_option("--repeat", settings.repetitions,
                                "repetitions of each measurement (default 5; --quick: 1)")
                     ->check(CLI::Range(1, 1000));
  app.add_option("--threads", settings.threads, "lanes, threads, workers of each runner")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--peers", settings.peers,
                 "compare with these peers only, such as floor,tbb (default: all peers that are built)")
      ->delimiter(',')
      ->check(CLI::Validator(&check_peer, "NAME"));
  app.footer(
      "libdag runs in a process of its own like every peer; the runners take turns, repetition by "
      "repetition.\n"
      "A peer that is not built is skipped, and the report names the Debian package that it needs.");
  std::vector<const Command*> wanted;
  for (const Command& command : commands) {
    app.add_subcommand(command.name, command.explained)->callback([&wanted, &command] {
      wanted = {&command};
    });
  }
  app.add_subcommand("all", "all benchmarks, and which goals are met")->callback([&wanted] {
    for (const Command& command : commands) wanted.push_back(&command);
  });
  try {
    app.parse(argc, argv);
    if (settings.quick && repeat->empty()) settings.repetitions = 1;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? dag::checked_output("dag-bench", 0) : 2;
  }
  for (const Command* command : wanted) {
    try {
      report.sections.push_back(command->run(settings));
    } catch (const std::exception& error) {
      std::cerr << "dag-bench: " << command->name << ": " << error.what() << std::endl;
      report.failed.push_back({command->name, error.what()});
    }
  }
  if (report.sections.empty()) return 1;
  report.threads = settings.threads;
  report.repetitions = settings.repetitions;
  report.quick = settings.quick;
  report.skipped = settings.skipped();
  if (json) {
    std::cout << dag::detail::json_text(to_json(report));
  } else {
    print(std::cout, report);
  }
  return dag::checked_output("dag-bench", report.failed.empty() ? 0 : 1);
}
