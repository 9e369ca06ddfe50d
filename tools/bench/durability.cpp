// The durable log: the cost of a record that is on the disk when it counts.

#include "tools/bench/commands.hpp"

namespace dag::bench {

Section durability(Settings& settings) {
  Section section{
      "durability",
      "The log of a node in the working directory: records with 64 bytes of "
      "payload, each batch written and synced before the next one. `raw` writes and syncs the same "
      "bytes one behind the other in a file that is there already, and does nothing else."};
  struct Size {
    std::uint64_t batch, batches;
  };
  for (const Size size : {Size{1, 1000}, Size{64, 1000}, Size{1024, 400}}) {
    const Ask what{"durability",
                   {{"batch", std::to_string(size.batch)},
                    {"batches", std::to_string(settings.quick ? 10 : size.batches)}}};
    section.rows.push_back(settings.measure("batches of " + std::to_string(size.batch), "thousand records/s",
                                            std::vector<Participant>{{"log", {}, {}, std::string(libdag)}},
                                            what, {"log", 1e-3, {{"raw", "raw"}}}));
  }
  const Row& largest = section.rows.back();
  section.verdicts.push_back(
      {"log", largest.workload, "≥ 200 thousand records/s", 200, largest.series[0].median(), false});
  return section;
}

}  // namespace dag::bench
