// dag-sim: whole clusters under virtual time, one seed each.
//
//   dag-sim chaos --seeds 1-2000 [--json]     run them; the first failure's command is printed
//   dag-sim chaos --seeds-in FILE             those that begin a line of it
//   dag-sim chaos --seed 41 [--trace]         one seed; with --trace all that happened, and the trace's hash
//   dag-sim chaos --seed 41 --shrink          the smallest part of it that fails in the same way, as
//   "41-late<6",
//                                             which --seed and --seeds-in know, too
//   dag-sim chaos --seeds 1-10000 --sometimes fails, too, when something was never seen that should be
//   dag-sim chaos --world cells ...           the same with replicas of the record, any of which may die
//   dag-sim chaos --world log ...             the same of the replicas of a log alone
//   dag-sim chaos --world actors ...          the real actors of whole nodes, clients and worker processes
//   dag-sim mutants [--seeds-max N] [--json]  plants bugs, one after the other, and says which seed finds
//   each dag-sim scale --pattern stencil --nodes 64 [--json]    how busy so many nodes of 16 lanes are kept

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

#include "libdag/graph/text.hpp"
#ifdef DAG_SIM_ACTORS
#include "tools/sim/actors/actors_chaos.hpp"
#endif
#include "tools/sim/chaos.hpp"
#include "tools/sim/log_world.hpp"
#include "tools/sim/mutants.hpp"
#include "tools/sim/number.hpp"
#include "tools/sim/scale.hpp"
#include "tools/sim/sometimes.hpp"

namespace {

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

int usage(const char* what) {
  std::fprintf(
      stderr,
      "dag-sim: %s\n"
      "usage: dag-sim chaos --seeds FIRST-LAST [--json]\n"
      "       dag-sim chaos --seeds-in FILE [--json]\n"
      "       dag-sim chaos --seed N [--trace] [--json]\n"
      "       dag-sim chaos --seed N --shrink\n"
      "       dag-sim chaos --seeds 1-10000 --sometimes [--json]\n"
      "       dag-sim chaos --world jobs|cells|log|actors ...   (jobs, unless said)\n"
      "       dag-sim mutants [--world NAME] [--seeds-max N] [--json]\n"
      "       dag-sim scale [--pattern stencil|chains|random] [--nodes 2-256] [--steps N] [--json]\n",
      what);
  return exit_usage;
}

const dag::sim::PartNames& parts_of(std::string_view world) {
#ifdef DAG_SIM_ACTORS
  if (world == "actors") return dag::sim::parts_of_actors();
#endif
  return world == "log" ? dag::sim::parts_of_log() : dag::sim::parts_of_jobs();
}

/// The case at the beginning of each line; `#` begins a remark. Empty when the file cannot be read.
std::vector<dag::sim::Case> cases_in(const std::string& path, std::string_view world) {
  std::vector<dag::sim::Case> cases;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (const auto one =
            dag::sim::parse_case(std::string_view(line).substr(0, line.find(' ')), parts_of(world))) {
      cases.push_back(*one);
    } else if (!line.empty() && line[0] != '#') {
      return {};
    }
  }
  return cases;
}

int scale(int argc, char** argv) {
  dag::sim::ScaleOptions options;
  bool json = false;
  for (int i = 2; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const std::string_view value = i + 1 < argc ? argv[i + 1] : "";
    std::uint64_t number = 0;
    if (flag == "--json") {
      json = true;
      continue;
    }
    ++i;
    if (flag == "--pattern") {
      if (value != "stencil" && value != "chains" && value != "random")
        return usage("--pattern is one of stencil, chains and random");
      options.pattern = value;
    } else if (flag == "--nodes") {
      if (!dag::sim::parse(value, number) || number < 2 || number > 256)
        return usage("--nodes wants 2 to 256");
      options.nodes = static_cast<std::uint32_t>(number);
    } else if (flag == "--steps") {
      if (!dag::sim::parse(value, number) || number < 1 || number > 1000)
        return usage("--steps wants 1 to 1000");
      options.steps = static_cast<std::uint32_t>(number);
    } else {
      return usage(("unknown flag " + std::string(flag)).c_str());
    }
  }
  try {
    const dag::sim::ScaleResult result = dag::sim::scale(options);
    const auto number = [](std::uint64_t count) { return static_cast<unsigned long long>(count); };
    std::printf(json
                    ? "{\"tasks\": %llu, \"edges\": %llu, \"edges_cut\": %llu, \"seconds\": %.6f, "
                      "\"efficiency\": %.4f, "
                      "\"bytes\": %llu, \"bytes_share\": %.5f, \"messages\": %llu, \"messages_share\": %.5f, "
                      "\"control_busy\": %.4f, \"graph_bytes\": %llu}\n"
                    : "%llu tasks with %llu edges, of which %llu are cut, in %.6f s of virtual time; lanes "
                      "busy: %.4f\n"
                      "control: %llu bytes, of which the busiest process carries %.5f; %llu messages, %.5f; "
                      "its thread "
                      "for them is busy %.4f\nthe graph, sent before: %llu bytes\n",
                number(result.tasks), number(result.edges), number(result.edges_cut),
                std::chrono::duration<double>(result.took).count(), result.efficiency, number(result.bytes),
                result.bytes_share, number(result.messages), result.messages_share, result.control_busy,
                number(result.graph_bytes));
  } catch (const dag::sim::Violation& violation) {
    std::fprintf(stderr, "dag-sim: %s\n", violation.what());
    return exit_failed;
  }
  return 0;
}

bool is_world(std::string_view name) {
#ifdef DAG_SIM_ACTORS
  if (name == "actors") return true;
#endif
  return name == "jobs" || name == "cells" || name == "log";
}

dag::sim::ChaosResult run_case(std::string_view world, const dag::sim::Case& about,
                               dag::sim::ChaosOptions options) {
#ifdef DAG_SIM_ACTORS
  if (world == "actors")
    return dag::sim::actors_chaos(about.seed, options.trace, dag::sim::PlantedAround::nothing, about);
#endif
  if (world == "log")
    return dag::sim::log_chaos(about.seed, dag::consensus::Planted::nothing, options.trace, about);
  options.about = about;
  return dag::sim::chaos(about.seed, options);
}

int shrink(std::string_view world, const dag::sim::Case& about, const dag::sim::ChaosOptions& options) {
  const auto run = [&](const dag::sim::Case& one) { return run_case(world, one, options); };
  if (run(about).violation.empty()) {
    std::printf("nothing is wrong with %s\n", dag::sim::to_string(about).c_str());
    return 0;
  }
  const dag::sim::Case smallest = dag::sim::shrink(about, parts_of(world), run);
  std::printf("%s\n  %s\n", dag::sim::to_string(smallest).c_str(), run(smallest).violation.c_str());
  return exit_failed;
}

int chaos(int argc, char** argv) {
  std::uint64_t first = 1, last = 200;
  std::string_view seed, list;
  std::vector<dag::sim::Case> listed;
  bool json = false, to_shrink = false, sometimes = false;
  std::string_view world = "jobs";
  dag::sim::ChaosOptions options;
  for (int i = 2; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const std::string_view value = i + 1 < argc ? argv[i + 1] : "";
    if (flag == "--json") {
      json = true;
    } else if (flag == "--trace") {
      options.trace = true;
    } else if (flag == "--shrink") {
      to_shrink = true;
    } else if (flag == "--sometimes") {
      sometimes = true;
    } else if (flag == "--world") {
      if (!is_world(value)) return usage("--world is jobs, cells, log or, in a build with actors, actors");
      world = value;
      options.cells = value == "cells";
      ++i;
    } else if (flag == "--seed") {
      seed = argv[++i] == nullptr ? "" : value;
    } else if (flag == "--seeds-in") {
      list = argv[++i] == nullptr ? "" : value;
    } else if (flag == "--seeds") {
      const std::size_t dash = value.find('-');
      if (dash == value.npos || !dag::sim::parse(value.substr(0, dash), first) ||
          !dag::sim::parse(value.substr(dash + 1), last) || last < first) {
        return usage("--seeds wants a range, as 1-2000");
      }
      ++i;
    } else {
      return usage(("unknown flag " + std::string(flag)).c_str());
    }
  }

  if (seed.data() != nullptr) {
    const auto one = dag::sim::parse_case(seed, parts_of(world));
    if (!one) return usage("--seed wants a number, or what --shrink has said of this world");
    listed = {*one};
  } else if (list.data() != nullptr) {
    listed = cases_in(std::string(list), world);
    if (listed.empty()) return usage("--seeds-in wants a file with a seed at the beginning of each line");
  }
  if (!listed.empty()) first = 0, last = listed.size() - 1;
  if (to_shrink && listed.size() != 1) return usage("--shrink wants one --seed");
  if (to_shrink) return shrink(world, listed.front(), options);
  if (sometimes && last - first + 1 < dag::sim::sometimes_seeds)
    return usage("--sometimes wants at least 10000 seeds");

  const auto began = std::chrono::steady_clock::now();
  std::uint64_t failed = 0, events = 0, hash = 0xCBF29CE484222325ULL;
  std::string first_violation;
  std::uint64_t first_failed = 0;
  std::map<std::string, std::uint64_t> seen;
  for (std::uint64_t i = first; i <= last; ++i) {
    const dag::sim::Case about = listed.empty() ? dag::sim::Case{i, {}, 0} : listed[i];
    const dag::sim::ChaosResult result = run_case(world, about, options);
    events += result.events;
    hash = (hash ^ result.trace_hash) * 0x100000001B3ULL;
    for (const auto& [what, count] : result.seen) seen[what] += count;
    if (result.violation.empty()) continue;
    if (failed++ == 0) {
      first_violation = result.violation;
      first_failed = about.seed;
    }
    const std::string name = dag::sim::to_string(about);
    std::fprintf(stderr, "seed %s: %s\n  again: dag-sim chaos --world %s --seed '%s' --trace\n", name.c_str(),
                 result.violation.c_str(), world.data(), name.c_str());
  }
  const std::vector<std::string> missed =
      sometimes ? dag::sim::never_seen(world, seen) : std::vector<std::string>{};
  for (const std::string& what : missed)
    std::fprintf(stderr, "dag-sim: in none of these seeds: %s\n", what.c_str());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const auto seeds = static_cast<unsigned long long>(last - first + 1);
  if (json) {
    std::printf(
        "{\"seeds\": %llu, \"failed\": %llu, \"events\": %llu, \"seconds\": %.3f, \"trace_hash\": "
        "\"%016llx\"",
        seeds, static_cast<unsigned long long>(failed), static_cast<unsigned long long>(events), seconds,
        static_cast<unsigned long long>(hash));
    if (failed > 0) {
      std::printf(", \"first_failed\": %llu, \"violation\": %s",
                  static_cast<unsigned long long>(first_failed), dag::json_string(first_violation).c_str());
    }
    std::printf(", \"seen\": {");
    const char* comma = "";
    for (const auto& [what, count] : seen) {
      std::printf("%s%s: %llu", comma, dag::json_string(what).c_str(),
                  static_cast<unsigned long long>(count));
      comma = ", ";
    }
    std::printf("}}\n");
  } else {
    std::printf("%llu seeds, %llu failed, %llu events, %.1f s (%.0f seeds/s), trace hash %016llx\n", seeds,
                static_cast<unsigned long long>(failed), static_cast<unsigned long long>(events), seconds,
                static_cast<double>(seeds) / seconds, static_cast<unsigned long long>(hash));
  }
  return failed == 0 && missed.empty() ? 0 : exit_failed;
}

int mutants(int argc, char** argv) {
  std::uint64_t seeds = 20'000;
  bool json = false;
  std::string_view world;
  for (int i = 2; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--json") {
      json = true;
    } else if (flag == "--world") {
      world = i + 1 < argc ? argv[++i] : "";
      if (!is_world(world)) return usage("--world names the world whose bugs are to be planted");
    } else if (flag == "--seeds-max") {
      if (!dag::sim::parse(i + 1 < argc ? argv[++i] : "", seeds)) return usage("--seeds-max wants a number");
    } else {
      return usage(("unknown flag " + std::string(flag)).c_str());
    }
  }
  std::vector<dag::sim::Mutant> all = dag::sim::mutants();
#ifdef DAG_SIM_ACTORS
  for (const dag::sim::Mutant& mutant : dag::sim::actors_mutants()) all.push_back(mutant);
#endif
  if (!world.empty()) std::erase_if(all, [&](const auto& mutant) { return mutant.world != world; });
  if (!dag::has_planted_bugs &&
      std::any_of(all.begin(), all.end(), [](const auto& one) { return !one.run; })) {
    std::fprintf(stderr,
                 "dag-sim: this build has no bugs planted in its machines\n"
                 "dag-sim: cmake --preset mutants && cmake --build --preset mutants --target dag-sim\n");
    return 2;
  }
  std::size_t missed = 0;
  const char* comma = json ? "[" : "";
  for (const dag::sim::Mutant& mutant : all) {
    const auto found = dag::sim::find(mutant, seeds);
    missed += found ? 0 : 1;
    const auto seed = static_cast<unsigned long long>(found ? found->seed : 0);
    const std::string what = found ? found->violation.substr(0, found->violation.find('\n')) : "NOT FOUND";
    if (json) {
      std::printf("%s{\"mutant\": \"%s\", \"world\": \"%s\", \"seed\": %llu, \"violation\": %s}", comma,
                  mutant.name.c_str(), mutant.world.c_str(), seed, dag::json_string(what).c_str());
      comma = ",\n ";
    } else {
      std::printf("%-5s  %-24s  seed %6llu  %s\n", mutant.world.c_str(), mutant.name.c_str(), seed,
                  what.c_str());
    }
    std::fflush(stdout);
  }
  if (json) std::printf("]\n");
  if (missed > 0) {
    std::fprintf(stderr, "dag-sim: %zu of %zu are not found in %llu seeds\n", missed, all.size(),
                 static_cast<unsigned long long>(seeds));
  }
  return missed == 0 ? 0 : exit_failed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
    usage(
        "simulates clusters: from seeds, to check what must never happen, or at a pace, to see how they "
        "scale");
    return 0;
  }
  if (argc >= 2 && std::strcmp(argv[1], "chaos") == 0) return chaos(argc, argv);
  if (argc >= 2 && std::strcmp(argv[1], "mutants") == 0) return mutants(argc, argv);
  if (argc >= 2 && std::strcmp(argv[1], "scale") == 0) return scale(argc, argv);
  return usage("say what to do: chaos, mutants or scale");
}
