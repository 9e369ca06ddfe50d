// G18: the cost of a home's decision where a task runs.

#include "tools/bench/commands.hpp"

namespace dag::bench {

Section placement(Settings& settings) {
  Section section{
      "placement",
      "The placer of a home that knows 256 nodes of 16 lanes, asked again and again. "
      "`stays` is a task that is known to be short, with its inputs here; `scores` is a longer one that "
      "waits for 1 MiB which another node holds: it compares that one, two others by chance and itself. "
      "Nobody "
      "reads the reasons."};
  const Options options = {{"nodes", "256"}, {"decisions", settings.quick ? "10000" : "2000000"}};
  struct Wanted {
    const char* workload;
    double limit_ns;
  };
  for (const Wanted& wanted : {Wanted{"stays", 20}, Wanted{"scores", 150}}) {
    const Row& row = section.rows.emplace_back(settings.measure(
        wanted.workload, "ns", std::vector<Participant>{{"placer", {}, {}, std::string(libdag)}},
        {"placement", options}, {wanted.workload, 1e9}));
    section.verdicts.push_back({"G18", row.workload, Verdict::at_most_text(wanted.limit_ns, "ns"),
                                wanted.limit_ns, row.series[0].median()});
  }
  return section;
}

}  // namespace dag::bench
