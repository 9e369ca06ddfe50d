// G9 and G10: from ready to running.

#include "tools/bench/task_bench.hpp"

namespace dag::bench {

Section latency(Settings& settings) {
  const std::string rounds = settings.quick ? "200" : "4000";
  Section section{
      "latency",
      "From the end of a task, read by its kernel, to the first line of one that waited for it. Each "
      "process takes " +
          rounds +
          " samples (a twentieth of that where lanes sleep between) and says "
          "their median; `p99` is the 99th of a hundred. The floor is a raw futex wake."};
  const auto add = [&](const std::string& workload, const std::string& kind,
                       const std::vector<std::string_view>& runners) -> const Row& {
    Ask what{"latency", {{"kind", kind}, {"threads", std::to_string(settings.threads)}, {"rounds", rounds}}};
    if (kind == "process") {
      what.options["threads"] = "1";
      what.launcher = libdag_in_two().launcher;
    }
    return section.rows.emplace_back(
        settings.measure(workload, "µs", runners, what, {kind + ".p50", 1e6, {{"p99", kind + ".p99"}}}));
  };
  const auto judge = [&](const std::string& goal, const Row& row, double p50, double p99) {
    Series series = *row.find(libdag);
    section.verdicts.push_back(
        {goal, row.workload + ", p50", Verdict::at_most_text(p50, "µs"), p50, series.median()});
    section.verdicts.push_back({goal, row.workload + ", p99", Verdict::at_most_text(p99, "µs"), p99,
                                summarise(series.part("p99").values).median});
  };
  judge("G9", add("same lane", "same", {libdag}), 0.5, 5);
  if (settings.threads > 1) {
    judge("G9", add("another lane, awake", "awake", {libdag}), 0.5, 5);
    section.judge_ratio("G10",
                        add("another lane, asleep", "asleep", settings.runners({libdag, floor_runner})),
                        floor_runner, 1.3);
  }
  judge("G9", add("another process", "process", {libdag}), 1.5, 20);
  return section;
}

}  // namespace dag::bench
