// Submitting from a client process: one large job (G7), and many small ones.

#include "tools/bench/cluster.hpp"
#include "tools/bench/commands.hpp"

namespace dag::bench {

Section submit(Settings& settings) {
  const std::uint32_t tasks = settings.quick ? 6400 : 1'000'000;
  const std::uint32_t family_tasks = settings.quick ? 64'000 : 10'000'000;
  const Cluster cluster(1);
  Section section{
      "submit",
      "A stencil of width 64 from a client process to a node: " + std::to_string(tasks) +
          " tasks with every edge written out, and " + std::to_string(family_tasks) +
          " as a family, which is one message of the same size however many there are. From the call of "
          "submit "
          "to the first line of the first task, starting the job's worker process included. Taking in the "
          "built graph is counted, building it is not."};
  const Options to_cluster = {{"shape", "stencil"}, {"address", cluster.address()}};
  const auto measure = [&](const std::string& workload, std::uint32_t count,
                           const char* family) -> const Row& {
    Options options = to_cluster;
    options.insert({{"tasks", std::to_string(count)}, {"family", family}});
    return section.rows.emplace_back(settings.measure(workload, "million tasks/s", {libdag},
                                                      {"submit", options}, {"tasks_per_second", 1e-6}));
  };
  for (const bool family : {false, true}) {
    const Row& row = family ? measure("family", family_tasks, "1") : measure("explicit graph", tasks, "0");
    if (family) continue;
    section.verdicts.push_back(
        {"G7", row.workload, "≥ 2 million tasks/s", 2, row.find(libdag)->median(), false});
  }
  return section;
}

Section submits(Settings& settings) {
  const std::uint32_t jobs = settings.quick ? 30 : 300;
  const std::uint32_t kept = settings.quick ? 30 : 1000;
  const Cluster cluster(3);
  Section section{
      "submits",
      std::to_string(jobs) +
          " jobs of one task that returns a number, from a client process to three nodes, each "
          "submitted when the one before has given its result. Worker processes serve one job after the "
          "other. Then the same by a client that keeps the handles of " +
          std::to_string(kept) + " jobs before.",
      {}};
  const auto measure = [&](const std::string& workload, std::uint32_t handles) {
    const Options options = {
        {"jobs", std::to_string(jobs)}, {"kept", std::to_string(handles)}, {"address", cluster.address()}};
    section.rows.push_back(
        settings.measure(workload, "ms/job", {libdag}, {"submits", options}, {"seconds", 1e3 / jobs}));
  };
  measure("small jobs", 0);
  measure("small jobs, handles kept", kept);
  const Row& row = section.rows.front();
  section.verdicts.push_back({"submits", row.workload, "≤ 10 ms/job", 10, row.find(libdag)->median(), true});
  return section;
}

}  // namespace dag::bench
