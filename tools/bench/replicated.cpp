// What it costs that a job outlives its nodes: three copies of its record, each on a disk, against one in
// memory.

#include "tools/bench/cluster.hpp"
#include "tools/bench/commands.hpp"

namespace dag::bench {
namespace {

constexpr std::string_view in_memory = "libdag, one copy in memory";

}  // namespace

Section replicated(Settings& settings) {
  const Cluster one(3, 1), three(3, 3, true);
  Section section{
      "replicated",
      "24 chains of pure tasks and one that needs them all, in the worker processes of three nodes: tasks "
      "per "
      "second from the beginning of the first one until the client has the last one's result, which is "
      "settled "
      "then. `libdag` has three copies of the record, each on a disk; all disks are one file system here."};
  const std::vector<Participant> both = {{libdag, {}, {{"address", one.address()}}, std::string(in_memory)},
                                         {libdag, {}, {{"address", three.address()}}}};
  for (const int microseconds : {100, 1}) {
    const std::string workload = std::to_string(microseconds) + " µs tasks";
    const std::string tasks = settings.quick ? "2400" : microseconds == 100 ? "48000" : "240000";
    const Row& row = section.rows.emplace_back(
        settings.measure(workload, "tasks/s", both,
                         {"settle", {{"tasks", tasks}, {"microseconds", std::to_string(microseconds)}}},
                         {"tasks_per_second", 1, {{"settled after (s)", "settled_after"}}}));
    if (microseconds != 100) continue;
    section.verdicts.push_back({"replicas", workload, "≥ 90 % of one copy in memory", 90,
                                row.find(libdag)->median() / row.find(in_memory)->median() * 100, false});
  }
  return section;
}

}  // namespace dag::bench
