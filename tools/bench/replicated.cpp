// The cost of records that outlive nodes, and of their journals: the same jobs in two clusters that differ in
// that.

#include "tools/bench/compared.hpp"

namespace dag::bench {

std::vector<Participant> participants(const Compared& clusters) {
  return {{libdag, {}, {{"address", clusters.plain.address()}}, std::string(clusters.without)},
          {libdag, {}, {{"address", clusters.whole.address()}}}};
}

void compare(Settings& settings, Section& section, const Compared& clusters,
             const std::array<Wanted, 2>& workloads, const std::string& goal, const std::string& wanted,
             const std::vector<Participant>& others) {
  std::vector<Participant> all = others;
  for (const Participant& one : participants(clusters)) all.push_back(one);
  for (const Wanted& workload : workloads) {
    const std::string name = std::to_string(workload.microseconds) + " µs tasks";
    const std::string tasks = settings.quick ? "2400" : std::to_string(workload.tasks);
    const std::string microseconds = std::to_string(workload.microseconds);
    const Row& row = section.rows.emplace_back(
        settings.measure(name, "tasks/s", all, {"settle", {{"tasks", tasks}, {"microseconds", microseconds}}},
                         {"tasks_per_second", 1, {{"settled after (s)", "settled_after"}}}));
    if (workload.percent == 0) continue;
    section.verdicts.push_back({goal, name, wanted, workload.percent,
                                row.find(libdag)->median() / row.find(clusters.without)->median() * 100,
                                false});
  }
}

namespace {

/// How long it takes until an end is settled, and how much work there is at most that is not.
void how_far_behind(Settings& settings, Section& section, const Compared& clusters) {
  const std::vector<Participant> both = participants(clusters);
  const std::string rounds = settings.quick ? "4" : "121";
  const Row& ends = section.rows.emplace_back(settings.measure(
      "last end until settled, of each of " + std::to_string(std::stoi(rounds) - 1) + " graphs", "ms", both,
      {"settle", {{"tasks", "480"}, {"microseconds", "100"}, {"rounds", rounds}}},
      {"settled_after", 1e3, {{"p99", "settled_after_p99"}, {"max", "settled_after_max"}}}));
  Series of_ends = *ends.find(libdag);
  section.verdicts.push_back(
      {"replicas", "until settled, p99", "≤ 20 ms", 20, summarise(of_ends.part("p99").values).median});
  const Row& work = section.rows.emplace_back(settings.measure(
      "oldest unsettled work", "ms", both,
      {"settle", {{"tasks", settings.quick ? "2400" : "48000"}, {"microseconds", "100"}, {"marks", "20"}}},
      {"unsettled_max", 1e3, {}}));
  section.verdicts.push_back(
      {"replicas", work.workload, "≤ 1 s", 1000, summarise(work.find(libdag)->values).maximum});
}

}  // namespace

Section replicated(Settings& settings) {
  const Cluster one(3, 1), three(3, 3, true);
  Section section{
      "replicated",
      "24 chains of pure tasks and one that needs them all, in the worker processes of three nodes: tasks "
      "per "
      "second from the beginning of the first one until the client has the last one's result, which is "
      "settled "
      "then. `libdag` has three copies of the record, each on a disk; all disks are one file system here. "
      "Then graphs of 480 tasks one after the other, of whose last end the client hears when it is settled; "
      "and, of every twentieth task of a chain, how long after its end the client hears so."};
  const Compared clusters{"libdag, one copy in memory", one, three};
  compare(settings, section, clusters, {{{100, 48'000, 90}, {1, 240'000}}}, "replicas",
          "≥ 90 % of one copy in memory");
  how_far_behind(settings, section, clusters);
  return section;
}

Section journal(Settings& settings) {
  const Cluster silent(3, 3, true, {"DAG_JOURNAL=false"}), telling(3, 3, true);
  Section section{
      "journal",
      "The jobs of `replicated`, with three copies of the record on a disk. `libdag` keeps of each "
      "task where and how long it ran, and what became of it."};
  compare(settings, section, {"libdag, no journal", silent, telling}, {{{10, 240'000, 97}, {1, 240'000}}},
          "journal", "≥ 97 % of the same without one");
  return section;
}

}  // namespace dag::bench
