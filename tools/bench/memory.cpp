// G8: what a waiting task occupies.

#include "tools/bench/commands.hpp"

namespace dag::bench {

Section memory(Settings& settings) {
  const std::uint32_t tasks = settings.quick ? 20'000 : 1'000'000;
  Section section{
      "memory",
      std::to_string(tasks) +
          " tasks of a random graph, three edges each, wait behind one that does not end; the client "
          "has dropped its graph. What the processes have grown by since before it was made, in bytes "
          "per task. TBB's and the floor's graphs are made and not started."};
  const Figure per_task{"bytes", 1.0 / tasks};
  const Options options = {{"shape", "random"}, {"tasks", std::to_string(tasks)}};
  Options one = options, two = options;
  one.insert({"threads", std::to_string(settings.threads)});
  two.insert({{"threads", "1"}});
  const Row& alone = section.rows.emplace_back(
      settings.measure("one process", "bytes per task", settings.runners({libdag, floor_runner, "tbb"}),
                       {"memory", one}, per_task));
  section.verdicts.push_back({"G8", "one process", "≤ 96 B", 96, alone.find(libdag)->median()});
  const Row& both =
      section.rows.emplace_back(settings.measure("two processes together", "bytes per task", {libdag},
                                                 {"memory", two, {"dag", "run", "-n", "2", "--"}}, per_task));
  section.verdicts.push_back({"G8", "two processes together", "≤ 250 B", 250, both.find(libdag)->median()});
  return section;
}

}  // namespace dag::bench
