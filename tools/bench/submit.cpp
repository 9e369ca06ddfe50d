// G7: submitting from a client process.

#include "tools/bench/cluster.hpp"
#include "tools/bench/commands.hpp"

namespace dag::bench {

Section submit(Settings& settings) {
  const std::uint32_t tasks = settings.quick ? 5000 : 1'000'000;
  const Cluster cluster(1);
  Section section{
      "submit",
      "A graph of " + std::to_string(tasks) +
          " tasks (stencil of width 64), every edge written out, from a client process to a node: from "
          "the call of submit to the first line of the first task, starting the job's worker process "
          "included. Taking in the built graph is counted, building it is not."};
  const Ask what{"submit",
                 {{"shape", "stencil"}, {"tasks", std::to_string(tasks)}, {"address", cluster.address()}}};
  const Row& row = section.rows.emplace_back(
      settings.measure("explicit graph", "million tasks/s", {libdag}, what, {"tasks_per_second", 1e-6}));
  section.verdicts.push_back(
      {"G7", row.workload, "≥ 2 million tasks/s", 2, row.find(libdag)->median(), false});
  return section;
}

}  // namespace dag::bench
