// dag-chaos: real node processes that are killed and paused while jobs run, and an oracle outside.
//
//   dag-chaos kill      [--cycles N] [--seed N] [--json]   kill -9 of one node, two, or all; started again
//   dag-chaos pause     [--cycles N] [--seed N] [--json]   SIGSTOP of a node for 1 ms to 30 s
//   dag-chaos powerfail [--cycles N] [--seed N] [--json]   all nodes at once lose what they have not synced
//   dag-chaos partition [--cycles N] [--seed N] [--json]   the network between nodes is cut, in 61 ways
//
// Half of the cycles of the first two aim at the node that leads a job. Whoever keeps the invariants gives: 0
// results lost, 0 settled twice, 0 stale, 0 stuck. The seed decides what is done, not how threads meet it.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "tools/chaos/node_faults.hpp"
#include "tools/chaos/partitions.hpp"

namespace dag::chaos {
namespace {

void print(const nlohmann::json& report) {
  std::cout << report["cycles"] << " cycles, ";
  if (report.contains("aimed_at_leader")) std::cout << report["aimed_at_leader"] << " aimed at a leader, ";
  if (report.contains("leaders_cut_off")) std::cout << report["leaders_cut_off"] << " leaders cut off, ";
  std::cout << report["jobs"] << " jobs, " << report["results"] << " results checked, "
            << report["outcomes_unknown"] << " outcomes of at_most_once unknown\n";
  for (const auto& [name, spread] : report.items()) {
    if (!spread.is_object() || !spread.contains("p50")) continue;
    std::cout << name << ": p50 " << spread["p50"] << ", p99 " << spread["p99"] << ", max " << spread["max"]
              << " (" << spread["count"] << ")\n";
  }
  for (const auto& cut : report.value("nothing_settled_in_second_half_of", nlohmann::json::array()))
    std::cout << "nothing was settled in the second half of " << cut.get<std::string>() << '\n';
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

/// `fault`: nothing: of the network.
int run(const Options& options, std::optional<Fault> fault) {
  std::string directory = options.directory;
  if (directory.empty()) {
    std::string name = (std::filesystem::temp_directory_path() / "dag-chaos-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("cannot make a directory for temporary files");
    directory = name;
  }
  std::filesystem::create_directories(directory);
  const auto programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  nlohmann::json report;
  if (fault) {
    NodeFaults faults(options, *fault, std::filesystem::absolute(directory), programs);
    report = go_through(faults, options);
  } else {
    try {
      Partitions partitions(options, std::filesystem::absolute(directory), programs);
      report = go_through(partitions, options);
    } catch (const NoNetwork&) {
      if (options.directory.empty()) std::filesystem::remove_all(directory);
      throw;
    }
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

/// As automake and CTest know it.
constexpr int status_skipped = 77;

int main(int argc, char** argv) {
  CLI::App app(
      "kills and pauses real nodes while jobs run, takes their power or cuts their network, and checks what "
      "the jobs' clients were told");
  dag::chaos::Options options;
  std::optional<dag::chaos::Fault> fault;
  app.require_subcommand(1);
  const auto add = [&](const char* name, const char* about, std::optional<dag::chaos::Fault> what,
                       std::uint32_t cycles, std::uint32_t tasks) {
    auto* command = app.add_subcommand(name, about);
    command->add_option("--cycles", options.cycles, "how often (default: " + std::to_string(cycles) + ")");
    command->add_option("--seed", options.seed, "of what is done when")->capture_default_str();
    command->add_option("--tasks", options.tasks, "of each job (default: " + std::to_string(tasks) + ")")
        ->check(CLI::Range(20u, 100'000u));
    command->add_option("--directory", options.directory,
                        "for logs and ledgers, which stay (default: one that goes)");
    command->add_flag("--json", options.json, "the report as JSON");
    command->callback([&fault, &options, what, cycles, tasks] {
      fault = what;
      if (options.cycles == 0) options.cycles = cycles;
      if (options.tasks == 0) options.tasks = tasks;
    });
  };
  using dag::chaos::Fault;
  add("kill", "kill -9 of one node, of two, or of all five; they are started again", Fault::kill, 30, 400);
  add("pause", "stops a node for 1 ms to 30 s, then lets it go on", Fault::pause, 30, 400);
  add("powerfail", "all five lose their power at once: what they have not synced, or a part of it, is lost",
      Fault::powerfail, 30, 400);
  add("partition",
      "cuts the network between them, in each of 61 ways; as root, or it ends with status 77 (skipped)",
      std::nullopt, 61, 1500);
  CLI11_PARSE(app, argc, argv);
  try {
    return dag::chaos::run(options, fault);
  } catch (const dag::chaos::NoNetwork& missing) {
    std::cerr << "dag-chaos: skipped: " << missing.what() << '\n';
    return status_skipped;
  } catch (const std::exception& problem) {
    std::cerr << "dag-chaos: " << problem.what() << '\n';
    return 2;
  }
}
