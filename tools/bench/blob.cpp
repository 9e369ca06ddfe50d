// G12 and G13: a large output for a task in another process, of this host and of another.

#include "tools/bench/task_bench.hpp"

namespace dag::bench {

Section blob(Settings& settings) {
  const std::uint64_t size_bytes = settings.quick ? 1u << 20 : 64u << 20;
  const Options options = {{"bytes", std::to_string(size_bytes)}, {"rounds", "6"}, {"threads", "1"}};
  Section section{
      "blob",
      std::to_string(size_bytes >> 20) +
          " MiB from a task to one in another process of this host: from the last line of the first "
          "to the first line of the second, median of several after one that warms up. MPI: send and "
          "receive; the floor: one TCP stream over loopback. libdag's `digest` is what it costs one core "
          "to read the bytes once more, behind. As to another host: without shared memory, over loopback."};
  std::vector<Participant> runners;
  for (const std::string_view runner : settings.runners({libdag, floor_runner, "mpi"})) {
    runners.push_back(runner == libdag  ? libdag_in_two()
                      : runner == "mpi" ? mpi_in_two()
                                        : Participant{runner});
  }
  Options between_actors = options;  // A call has one place; a plain task could follow its input.
  between_actors["between"] = "actors";
  const Row& row = section.rows.emplace_back(settings.measure("hand-over", "ms", runners, {"blob", options},
                                                              {"blob.p50", 1e3, {{"digest", "digest"}}}));
  section.verdicts.push_back(
      {"G12", row.workload, Verdict::at_most_text(0.1, "ms"), 0.1, row.find(libdag)->median()});

  section.rows.push_back(settings.measure("the same between job actors", "ms", {runners.front()},
                                          {"blob", between_actors}, {"blob.p50", 1e3}));

  std::vector<Participant> far_apart = {{libdag, libdag_without_rings().launcher}};
  for (const std::string_view runner : settings.runners({floor_runner})) far_apart.push_back({runner});
  const Row& far = section.rows.emplace_back(settings.measure(
      "job actors, as to another host", "ms", far_apart, {"blob", between_actors}, {"blob.p50", 1e3}));
  section.judge_ratio("G13", far, floor_runner, 1.25);
  return section;
}

}  // namespace dag::bench
