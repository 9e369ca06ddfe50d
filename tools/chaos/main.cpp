// dag-chaos: real node processes that are killed and paused while jobs run, and an oracle outside.
//
//   dag-chaos kill      [--cycles N] [--seed N] [--json]   kill -9 of one node, two, or all; started again
//   dag-chaos pause     [--cycles N] [--seed N] [--json]   SIGSTOP of a node for 1 ms to 30 s; with
//                       [--of processes]                   of a job's process, half of them for good
//   dag-chaos powerfail [--cycles N] [--seed N] [--json]   all nodes at once lose what they have not synced
//   dag-chaos busy      [--cycles N] [--seed N] [--json]   four busy loops beside them, and nothing else
//   dag-chaos partition [--cycles N] [--seed N] [--json]   the network between nodes is cut, in 61 ways
//   dag-chaos train     [--steps N] [--every S] [--json]   the node that leads a training, again and again
//
// Half of the cycles of kill and pause aim at the node that leads a job. Expected: 0 results lost, 0 settled
// twice, 0 stale, 0 stuck. The seed decides the faults, not how threads meet them.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>

#include "libdag/client/checked_output.hpp"
#include "libdag/client/json.hpp"
#include "tools/chaos/node_faults.hpp"
#include "tools/chaos/partitions.hpp"
#include "tools/chaos/training.hpp"

namespace dag::chaos {
namespace {

void print_cycles(const nlohmann::json& report) {
  std::cout << report["cycles"] << " cycles, ";
  if (report.contains("aimed_at_leader")) std::cout << report["aimed_at_leader"] << " aimed at a leader, ";
  if (report.contains("leaders_cut_off")) std::cout << report["leaders_cut_off"] << " leaders cut off, ";
  std::cout << report["jobs"] << " jobs, " << report["results"] << " results checked, "
            << report["outcomes_unknown"] << " outcomes of at_most_once unknown\n";
}

void print(const nlohmann::json& report) {
  if (report["scenario"] == "train") {
    std::cout << report["steps"] << " steps, " << report["kills"] << " kills of the leading node\n";
  } else {
    print_cycles(report);
  }
  for (const auto& [name, spread] : report.items()) {
    if (!spread.is_object() || !spread.contains("p50")) continue;
    std::cout << name << ": p50 " << spread["p50"] << ", p99 " << spread["p99"] << ", max " << spread["max"]
              << " (" << spread["count"] << ")\n";
  }
  for (const auto& cut : report.value("nothing_settled_in_second_half_of", nlohmann::json::array()))
    std::cout << "nothing was settled in the second half of " << cut.get<std::string>() << '\n';
  for (const auto& wrong : report["violations"])
    std::cout << "VIOLATION " << wrong.get<std::string>() << '\n';
  if (!report["violations"].empty()) return;
  std::cout << "no violation";
  if (report.contains("failure_rate_below"))
    std::cout << "; failures per cycle are below " << report["failure_rate_below"] << " with 95 %";
  std::cout << '\n';
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

/// A scenario, given a directory for files and that of the programs; returns the report.
using Scenario = std::function<nlohmann::json(const std::filesystem::path&, const std::filesystem::path&)>;

int run(const Options& options, const Scenario& scenario) {
  std::string directory = options.directory;
  if (directory.empty()) {
    std::string name = (std::filesystem::temp_directory_path() / "dag-chaos-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("cannot make a directory for temporary files");
    directory = name;
  }
  std::filesystem::create_directories(directory);
  // Ledgers are added to: those of another run would be held against this one.
  if (!std::filesystem::is_empty(directory))
    throw std::runtime_error(directory + " is not empty; give one that is, or none");
  nlohmann::json report;
  try {
    report = scenario(std::filesystem::absolute(directory),
                      std::filesystem::read_symlink("/proc/self/exe").parent_path());
  } catch (const NoNetwork&) {
    if (options.directory.empty()) std::filesystem::remove_all(directory);
    throw;
  }
  const bool failed = !report["violations"].empty();
  if (failed || !options.directory.empty()) {
    report["directory"] = directory;
    std::cerr << "dag-chaos: logs and ledgers lie in " << directory << '\n';
  } else {
    std::filesystem::remove_all(directory);
  }
  if (options.json) {
    std::cout << dag::detail::json_line(report);
  } else {
    print(report);
  }
  return failed ? 1 : 0;
}

/// The subcommands. The chosen one puts its work into `scenario`.
void describe(CLI::App& app, Options& options, TrainingOptions& training, Scenario& scenario) {
  app.require_subcommand(1);
  const auto add_common = [&options](CLI::App* command) {
    command->add_option("--directory", options.directory,
                        "for logs and ledgers, which stay (default: one that goes)");
    command->add_flag("--json", options.json, "the report as JSON");
  };
  const auto add = [&](const char* name, const char* about, std::uint32_t cycles, std::uint32_t tasks,
                       const Scenario& what) {
    auto* command = app.add_subcommand(name, about);
    command->add_option("--cycles", options.cycles,
                        "number of cycles (default: " + std::to_string(cycles) + ")");
    command->add_option("--seed", options.seed, "seed of the choice of faults and times")
        ->capture_default_str();
    command
        ->add_option("--tasks", options.tasks, "tasks of each job (default: " + std::to_string(tasks) + ")")
        ->check(CLI::Range(20u, 100'000u));
    add_common(command);
    command->callback([&options, &scenario, what, cycles, tasks] {
      scenario = what;
      if (options.cycles == 0) options.cycles = cycles;
      if (options.tasks == 0) options.tasks = tasks;
    });
    return command;
  };
  const auto of_nodes = [&options](Fault fault) -> Scenario {
    return [&options, fault](const auto& directory, const auto& programs) {
      NodeFaults faults(options, fault, directory, programs);
      return go_through(faults, options);
    };
  };
  add("kill", "kill -9 one node, two, or all five, and start them again", 30, 400, of_nodes(Fault::kill));
  auto* pause = add(
      "pause",
      "stop a node for 1 ms to 30 s, then continue it; as root each node has its own network, so that nodes "
      "do not wait for each other as nodes of one machine do",
      30, 400, of_nodes(Fault::pause));
  pause
      ->add_option("--of", options.of,
                   "stop nodes, or processes of the job; half of the processes are stopped for good: each "
                   "must be given up "
                   "within 5 s, and all others must stay")
      ->check(CLI::IsMember({"nodes", "processes"}))
      ->capture_default_str();
  pause->add_option("--shortest", options.shortest_ms, "milliseconds")->capture_default_str();
  pause->add_option("--longest", options.longest_ms, "milliseconds")->capture_default_str();
  add("powerfail", "all five nodes lose power at once: unsynced data, or a part of it, is lost", 30, 400,
      of_nodes(Fault::powerfail));
  add("busy",
      "run four busy loops beside the nodes, ten seconds a cycle: no node may be taken for dead or sick, and "
      "no job may get another leader",
      60, 400, of_nodes(Fault::busy));
  add("partition",
      "cut the network between the nodes, in each of 61 ways; needs root, else exits with 77 (skipped)", 61,
      1500, [&options](const auto& directory, const auto& programs) {
        Partitions partitions(options, directory, programs);
        return go_through(partitions, options);
      });
  auto* train = app.add_subcommand(
      "train",
      "kill -9 the node that leads a training, again and again; the training must have the losses of an "
      "undisturbed one");
  train->add_option("--steps", training.steps, "steps of the training")->capture_default_str();
  train->add_option("--save-every", training.save_every, "steps between two saves; 0: the best interval")
      ->capture_default_str();
  train->add_option("--every", training.every, "seconds between two kills")->capture_default_str();
  add_common(train);
  train->callback([&training, &scenario] {
    scenario = [&training](const auto& directory, const auto& programs) {
      return disturb_training(training, directory, programs);
    };
  });
}

}  // namespace
}  // namespace dag::chaos

/// The status by which automake and CTest know a skipped test.
constexpr int status_skipped = 77;

int main(int argc, char** argv) {
  dag::heed_closed_pipes();
  CLI::App app(
      "kills and pauses real nodes while jobs run, takes their power or cuts their network, and checks what "
      "the jobs' clients were told");
  dag::chaos::Options options;
  dag::chaos::TrainingOptions training;
  dag::chaos::Scenario scenario;
  dag::chaos::describe(app, options, training, scenario);
  CLI11_PARSE(app, argc, argv);
  try {
    return dag::checked_output("dag-chaos", dag::chaos::run(options, scenario));
  } catch (const dag::chaos::NoNetwork& missing) {
    std::cerr << "dag-chaos: skipped: " << missing.what() << '\n';
    return status_skipped;
  } catch (const std::exception& problem) {
    std::cerr << "dag-chaos: " << problem.what() << '\n';
    return 2;
  }
}
