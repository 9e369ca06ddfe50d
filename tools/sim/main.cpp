// dag-sim: whole clusters under virtual time, one seed each. Options: `dag-sim COMMAND --help`.
//
// dag-sim chaos --seeds 1-2000: runs them; how to run one that fails again is printed.
// dag-sim chaos --seed 41 --trace: one seed, and all that happened.
// dag-sim chaos --seed 41 --shrink: the smallest part of it that fails in the same way, as "41-late<6".
// dag-sim mutants: plants bugs, one after the other, and says which seed finds each.
// dag-sim scale --pattern stencil --nodes 64: how busy so many nodes of 16 lanes are kept.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libdag/client/checked_output.hpp"
#ifdef DAG_SIM_ACTORS
#include "tools/sim/actors/actors_chaos.hpp"
#endif
#include "tools/sim/chaos.hpp"
#include "tools/sim/log_world.hpp"
#include "tools/sim/mutants.hpp"
#include "tools/sim/number.hpp"
#include "tools/sim/scale.hpp"
#include "tools/sim/sometimes.hpp"

namespace dag::sim {
namespace {

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

/// In the order in which they are read.
using Json = nlohmann::ordered_json;

// ---- chaos

struct ChaosCommand {
  std::string world = "jobs";
  std::string seeds = "1-200", seeds_in, seed;
  ChaosSize size;
  bool trace = false, shrink = false, sometimes = false, json = false;
};

std::vector<std::string> worlds() {
  std::vector<std::string> names{"jobs", "cells", "log"};
#ifdef DAG_SIM_ACTORS
  names.push_back("actors");
#endif
  return names;
}

const PartNames& parts_of(const std::string& world) {
#ifdef DAG_SIM_ACTORS
  if (world == "actors") return parts_of_actors();
#endif
  return world == "log" ? parts_of_log() : parts_of_jobs();
}

ChaosResult run_case(const ChaosCommand& command, const Case& about) {
#ifdef DAG_SIM_ACTORS
  if (command.world == "actors")
    return actors_chaos(about.seed, command.trace, PlantedAround::nothing, about);
#endif
  if (command.world == "log") return log_chaos(about.seed, consensus::Planted::nothing, command.trace, about);
  ChaosOptions options;
  options.cells = command.world == "cells";
  options.trace = command.trace;
  options.about = about;
  options.size = command.size;
  return chaos(about.seed, options);
}

/// The case at the beginning of each line; `#` begins a remark.
std::vector<Case> cases_in(const std::string& path, const PartNames& parts) {
  std::vector<Case> cases;
  std::ifstream file(path);
  std::uint32_t line_number = 0;
  for (std::string line; std::getline(file, line);) {
    ++line_number;
    if (line.empty() || line[0] == '#') continue;
    const auto one = parse_case(std::string_view(line).substr(0, line.find(' ')), parts);
    if (!one)
      throw CLI::ValidationError("--seeds-in", path + ":" + std::to_string(line_number) +
                                                   " does not begin with a seed of this world");
    cases.push_back(*one);
  }
  if (cases.empty()) throw CLI::ValidationError("--seeds-in", path + " has no seed in it");
  return cases;
}

/// The cases that were asked for, one by one: a range may be of millions.
class Cases {
 public:
  explicit Cases(const ChaosCommand& command) {
    const PartNames& parts = parts_of(command.world);
    if (!command.seed.empty()) {
      const auto one = parse_case(command.seed, parts);
      if (!one)
        throw CLI::ValidationError("--seed", "wants a number, or what --shrink has said of this world");
      listed_ = {*one};
    } else if (!command.seeds_in.empty()) {
      listed_ = cases_in(command.seeds_in, parts);
    } else {
      read_range(command.seeds);
    }
    if (!listed_.empty()) last_ = listed_.size() - 1;
  }

  std::uint64_t size() const { return last_ - first_ + 1; }
  Case operator[](std::uint64_t i) const { return listed_.empty() ? Case{first_ + i, {}, 0} : listed_[i]; }

 private:
  void read_range(const std::string& range) {
    const std::size_t dash = range.find('-');
    const std::string_view text = range;
    const bool right = dash != range.npos && parse(text.substr(0, dash), first_) &&
                       parse(text.substr(dash + 1), last_) && first_ <= last_;
    if (!right) throw CLI::ValidationError("--seeds", "wants a range, as 1-2000");
  }

  std::vector<Case> listed_;
  std::uint64_t first_ = 0, last_ = 0;
};

/// As it was said on the command line; nothing where a seed is as large as it has drawn.
std::string said_of(const ChaosSize& size) {
  std::string text;
  if (size.nodes > 0) text += " --nodes " + std::to_string(size.nodes);
  if (size.tasks_min > 0) text += " --tasks-min " + std::to_string(size.tasks_min);
  return text;
}

int shrink(const ChaosCommand& command, const Case& about) {
  const auto run = [&](const Case& one) { return run_case(command, one); };
  if (run(about).violation.empty()) {
    std::cout << "nothing is wrong with " << to_string(about) << '\n';
    return 0;
  }
  const Case smallest = shrink(about, parts_of(command.world), run);
  std::cout << to_string(smallest) << said_of(command.size) << "\n  " << run(smallest).violation << '\n';
  return exit_failed;
}

/// The results of all cases together.
struct Sum {
  std::uint64_t cases = 0, failed = 0, events = 0;
  double seconds = 0;
  std::uint64_t hash = 0xCBF29CE484222325ULL;  ///< FNV-1a of their traces' hashes
  std::map<std::string, std::uint64_t> seen;
  ChaosResult first_failed;

  void add(const ChaosResult& result) {
    ++cases;
    events += result.events;
    hash = (hash ^ result.trace_hash) * 0x100000001B3ULL;
    for (const auto& [what, count] : result.seen) seen[what] += count;
    if (!result.violation.empty() && failed++ == 0) first_failed = result;
  }
};

std::string hexadecimal(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(number));
  return text;
}

void print_json(const Sum& sum) {
  Json report{{"seeds", sum.cases},
              {"failed", sum.failed},
              {"events", sum.events},
              {"seconds", sum.seconds},
              {"trace_hash", hexadecimal(sum.hash)}};
  if (sum.failed > 0) {
    report["first_failed"] = sum.first_failed.seed;
    report["violation"] = sum.first_failed.violation;
  }
  report["seen"] = sum.seen;
  std::cout << report.dump() << '\n';
}

void print(const Sum& sum) {
  std::printf("%llu seeds, %llu failed, %llu events, %.1f s (%.0f seeds/s), trace hash %s\n",
              static_cast<unsigned long long>(sum.cases), static_cast<unsigned long long>(sum.failed),
              static_cast<unsigned long long>(sum.events), sum.seconds,
              static_cast<double>(sum.cases) / sum.seconds, hexadecimal(sum.hash).c_str());
}

/// Since it was made; long work says every ten seconds how far it is.
class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }
  bool time_to_say() {
    if (seconds() < next_s_) return false;
    next_s_ = seconds() + 10;
    return true;
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  double next_s_ = 10;
};

int run(const ChaosCommand& command) {
  if (command.size != ChaosSize{} && command.world != "jobs" && command.world != "cells")
    throw CLI::ValidationError("--nodes, --tasks-min", "are for the worlds jobs and cells");
  const Cases cases(command);
  if (command.shrink) return shrink(command, cases[0]);
  if (command.sometimes && cases.size() < sometimes_seeds)
    throw CLI::ValidationError("--sometimes", "wants at least 10000 seeds");

  Stopwatch watch;
  Sum sum;
  for (std::uint64_t i = 0; i < cases.size(); ++i) {
    const Case about = cases[i];
    ChaosResult result = run_case(command, about);
    result.seed = about.seed;
    sum.add(result);
    if (watch.time_to_say()) {
      std::cerr << "dag-sim: " << sum.cases << " of " << cases.size() << " seeds, " << sum.failed
                << " failed, after " << static_cast<std::uint64_t>(watch.seconds()) << " s\n";
    }
    if (result.violation.empty()) continue;
    const std::string name = to_string(about);
    std::cerr << "seed " << name << ": " << result.violation << "\n  again: dag-sim chaos --world "
              << command.world << said_of(command.size) << " --seed '" << name << "' --trace\n";
  }
  sum.seconds = watch.seconds();
  const auto missed = command.sometimes ? never_seen(command.world, sum.seen) : std::vector<std::string>{};
  for (const std::string& what : missed) std::cerr << "dag-sim: in none of these seeds: " << what << '\n';
  if (command.json) {
    print_json(sum);
  } else {
    print(sum);
  }
  return sum.failed == 0 && missed.empty() ? 0 : exit_failed;
}

// ---- mutants

struct MutantsCommand {
  std::string world;  ///< empty: all
  std::uint64_t seeds_max = 20'000;
  bool json = false;
};

int run(const MutantsCommand& command) {
  std::vector<Mutant> all = mutants();
#ifdef DAG_SIM_ACTORS
  for (const Mutant& mutant : actors_mutants()) all.push_back(mutant);
#endif
  if (!command.world.empty())
    std::erase_if(all, [&](const Mutant& mutant) { return mutant.world != command.world; });
  if (!has_planted_bugs && std::any_of(all.begin(), all.end(), [](const auto& one) { return !one.run; })) {
    std::cerr << "dag-sim: this build has no bugs planted in its machines\n"
                 "dag-sim: cmake --preset mutants && cmake --build --preset mutants --target dag-sim\n";
    return exit_usage;
  }
  std::size_t missed = 0;
  const char* before = "[";
  for (const Mutant& mutant : all) {
    const auto found = find(mutant, command.seeds_max);
    missed += found ? 0 : 1;
    const std::uint64_t seed = found ? found->seed : 0;
    const std::string what = found ? found->violation.substr(0, found->violation.find('\n')) : "NOT FOUND";
    if (command.json) {
      const Json line{{"mutant", mutant.name}, {"world", mutant.world}, {"seed", seed}, {"violation", what}};
      std::cout << before << line.dump() << std::flush;
      before = ",\n ";
    } else {
      std::printf("%-5s  %-24s  seed %6llu  %s\n", mutant.world.c_str(), mutant.name.c_str(),
                  static_cast<unsigned long long>(seed), what.c_str());
      std::fflush(stdout);
    }
  }
  if (command.json) std::cout << "]\n";
  if (missed == 0) return 0;
  std::cerr << "dag-sim: " << missed << " of " << all.size() << " are not found in " << command.seeds_max
            << " seeds\n";
  return exit_failed;
}

// ---- scale

struct ScaleCommand {
  ScaleOptions options;
  bool json = false;
};

void print(const ScaleResult& result, double seconds) {
  const auto number = [](std::uint64_t count) { return static_cast<unsigned long long>(count); };
  std::printf(
      "%llu tasks with %llu edges, of which %llu are cut, in %.6f s of virtual time; lanes busy: %.4f\n"
      "control: %llu bytes, of which the busiest process carries %.5f; %llu messages, %.5f; its thread for "
      "them "
      "is busy %.4f\nthe graph, sent before: %llu bytes\n",
      number(result.tasks), number(result.edges), number(result.edges_cut), seconds, result.efficiency,
      number(result.bytes), result.bytes_share, number(result.messages), result.messages_share,
      result.control_busy, number(result.graph_bytes));
}

int run(const ScaleCommand& command) {
  try {
    const ScaleResult result = scale(command.options);
    const double seconds = std::chrono::duration<double>(result.took).count();
    if (!command.json) return print(result, seconds), 0;
    std::cout << Json{{"tasks", result.tasks},
                      {"edges", result.edges},
                      {"edges_cut", result.edges_cut},
                      {"seconds", seconds},
                      {"efficiency", result.efficiency},
                      {"bytes", result.bytes},
                      {"bytes_share", result.bytes_share},
                      {"messages", result.messages},
                      {"messages_share", result.messages_share},
                      {"control_busy", result.control_busy},
                      {"graph_bytes", result.graph_bytes}}
                     .dump()
              << '\n';
  } catch (const Violation& violation) {
    std::cerr << "dag-sim: " << violation.what() << '\n';
    return exit_failed;
  }
  return 0;
}

// ---- The command line

/// The chosen command runs while the line is read; `status` is its result.
class CommandLine {
 public:
  CommandLine() {
    app_.require_subcommand(1);
    describe_chaos();
    describe_mutants();
    describe_scale();
  }

  int run(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
      return status_;
    } catch (const CLI::ParseError& problem) {
      return app_.exit(problem) == 0 ? 0 : exit_usage;
    }
  }

 private:
  void describe_chaos() {
    CLI::App* command = app_.add_subcommand("chaos", "run seeds and check the invariants");
    command->add_option("--world", chaos_.world, "the simulated world")
        ->check(CLI::IsMember(worlds()))
        ->capture_default_str();
    auto* seeds = command->add_option("--seeds", chaos_.seeds, "FIRST-LAST")->capture_default_str();
    auto* list = command
                     ->add_option("--seeds-in", chaos_.seeds_in,
                                  "run the seeds at the beginnings of this file's lines")
                     ->check(CLI::ExistingFile)
                     ->excludes(seeds);
    auto* seed = command
                     ->add_option("--seed", chaos_.seed,
                                  "run one seed, or a part of it as --shrink prints it: 41-late<6")
                     ->excludes(seeds)
                     ->excludes(list);
    command->add_option("--nodes", chaos_.size.nodes, "number of nodes in each seed of jobs and cells")
        ->check(CLI::Range(chaos_nodes_min, 32u));
    command
        ->add_option("--tasks-min", chaos_.size.tasks_min,
                     "least number of tasks in each seed of jobs and cells")
        ->check(CLI::Range(1u, 1000u));
    command->add_flag("--trace", chaos_.trace, "print each event");
    command
        ->add_flag("--shrink", chaos_.shrink,
                   "print the smallest part of the seed that fails in the same way")
        ->needs(seed);
    command->add_flag("--sometimes", chaos_.sometimes,
                      "fail, too, if a fault hits nobody or a guard refuses nothing in 10000 seeds or more");
    does(command, chaos_);
  }

  void describe_mutants() {
    CLI::App* command = app_.add_subcommand(
        "mutants",
        "plant bugs, one after the other, and print the seed that finds each; only in builds for that");
    command->add_option("--world", mutants_.world, "only the bugs of this world")
        ->check(CLI::IsMember(worlds()));
    command->add_option("--seeds-max", mutants_.seeds_max, "most seeds for each bug")->capture_default_str();
    does(command, mutants_);
  }

  void describe_scale() {
    CLI::App* command = app_.add_subcommand(
        "scale", "measure how busy the lanes of a large cluster are, at the pace of a measured one");
    ScaleOptions& options = scale_.options;
    command->add_option("--pattern", options.pattern, "pattern of the graph")
        ->check(CLI::IsMember({"stencil", "chains", "random"}))
        ->capture_default_str();
    command->add_option("--nodes", options.nodes, "of 16 lanes each")
        ->check(CLI::Range(2u, 256u))
        ->capture_default_str();
    command->add_option("--steps", options.steps, "of the graph")
        ->check(CLI::Range(1u, 1000u))
        ->capture_default_str();
    does(command, scale_);
  }

  template <class Command>
  void does(CLI::App* command, Command& what) {
    command->add_flag("--json", what.json, "the result as JSON");
    command->callback([this, &what] { status_ = sim::run(what); });
  }

  CLI::App app_{
      "simulates clusters: from seeds, to check what must never happen, or at a pace, to see how they scale"};
  ChaosCommand chaos_;
  MutantsCommand mutants_;
  ScaleCommand scale_;
  int status_ = 0;
};

}  // namespace
}  // namespace dag::sim

int main(int argc, char** argv) {
  dag::heed_closed_pipes();
  return dag::checked_output("dag-sim", dag::sim::CommandLine().run(argc, argv));
}
