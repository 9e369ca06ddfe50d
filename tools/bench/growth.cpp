// G11: whether a task costs as much in a large graph as in a small one.

#include <algorithm>

#include "tools/bench/commands.hpp"

namespace dag::bench {

Section growth(Settings& settings) {
  const auto runners = settings.runners({libdag, floor_runner, "tbb"});
  const std::vector<std::uint32_t> sizes =
      settings.quick ? std::vector<std::uint32_t>{1000, 4000}
                     : std::vector<std::uint32_t>{10'000, 100'000, 1'000'000, 10'000'000};
  Section section{"growth", "Empty tasks in a stencil of width 64, measured as in `overhead`."};
  std::vector<double> costs;
  for (const std::uint32_t tasks : sizes) {
    Ask what{"overhead",
             {{"threads", std::to_string(settings.threads)},
              {"shape", "stencil"},
              {"tasks", std::to_string(tasks)}}};
    what.limit = std::chrono::seconds(1200);
    const Row& row = section.rows.emplace_back(settings.measure(
        std::to_string(tasks) + " tasks", "ns per task", runners, what, {"total", 1e9 / tasks}));
    costs.push_back(row.find(libdag)->median());
  }
  const auto [least, most] = std::minmax_element(costs.begin(), costs.end());
  section.verdicts.push_back(
      {"G11", "10 thousand to 10 million tasks, dearest to cheapest", "≤ 1.3 ×", 1.3, *most / *least});
  return section;
}

}  // namespace dag::bench
