// G1: the cost of a task that does nothing.

#include <stdexcept>

#include "tools/bench/commands.hpp"
#include "tools/bench/shapes.hpp"

namespace dag::bench {
namespace {

/// Before anything is timed, each runner runs each shape with tasks that compute, and must come to what the
/// shape comes to in order.
void check_results(Settings& settings, const std::vector<std::string_view>& runners, const Options& threads) {
  constexpr std::uint32_t tasks = 5000;
  for (const std::string_view name : Shape::names) {
    const std::string expected = std::to_string(expected_digest(*Shape::by_name(name, tasks)));
    Options options = threads;
    options.insert({{"shape", std::string(name)}, {"tasks", std::to_string(tasks)}});
    settings.say("checked run of " + std::string(name));
    for (const std::string_view runner : runners) {
      const Answer answer = ask(runner, {"check", options});
      const auto digest = answer.words.find("digest");
      if (digest == answer.words.end() || digest->second != expected) {
        throw std::runtime_error(std::string(runner) + " computes another result for " + std::string(name));
      }
    }
  }
}

}  // namespace

Section overhead(Settings& settings) {
  const std::vector<std::string_view> runners =
      settings.runners({libdag, floor_runner, "tbb", "openmp", "starpu"});
  const std::uint32_t tasks = settings.quick ? 2000 : 100'000;
  const int rounds = settings.quick ? 2 : 5;
  const Options threads = {{"threads", std::to_string(settings.threads)}};
  check_results(settings, runners, threads);
  Section section{
      "overhead",
      "Empty tasks, " + std::to_string(tasks) +
          " of them: from the first line that makes the graph until all have ended. Per process "
          "one round to warm up, then " +
          std::to_string(rounds) +
          " that count: `median` is that of the processes' medians, `min` the cheapest round of all, `max` "
          "the "
          "dearest median. `again` is a graph that was built and run "
          "before, submitted once more. Checked before, with 5000 tasks of each shape that compute a hash "
          "over all their edges."};
  const Figure per_task{"total", 1e9 / tasks, {{"build", "build"}, {"submit", "submit"}, {"run", "run"}}};
  for (const std::string_view name : Shape::names) {
    Options options = threads;
    options.insert(
        {{"shape", std::string(name)}, {"tasks", std::to_string(tasks)}, {"rounds", std::to_string(rounds)}});
    const Row& row = section.rows.emplace_back(
        settings.measure(std::string(name), "ns per task", runners, {"overhead", options}, per_task));
    section.judge_ratio("G1", row, floor_runner, 5);
    section.judge_ratio("G1", row, "tbb", 0.4);
  }
  const Figure per_task_again{"total", 1e9 / tasks, {{"submit", "submit"}, {"run", "run"}}};
  Options options = threads;
  options.insert({{"shape", "stencil"},
                  {"tasks", std::to_string(tasks)},
                  {"again", "1"},
                  {"rounds", std::to_string(rounds)}});
  section.rows.push_back(
      settings.measure("stencil again", "ns per task", {libdag}, {"overhead", options}, per_task_again));
  return section;
}

}  // namespace dag::bench
