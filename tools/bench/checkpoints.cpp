// The cost of checkpoints, by which a long task could go on after a loss.

#include "tools/bench/task_bench.hpp"

namespace dag::bench {
namespace {

constexpr std::string_view saves_nothing = "libdag, saves nothing";

}  // namespace

Section checkpoints(Settings& settings) {
  Section section{
      "checkpoints",
      "One task in one of two processes that changes all of its state with each step and saves it when the "
      "runtime finds that it pays, `.checkpoint()`: from its first step to its last. `held up`: the seconds "
      "that its saves took of these; the copy for the other process is made behind."};
  Participant without = libdag_in_two();
  without.options["saves"] = "0";
  without.shown = saves_nothing;
  for (const std::uint64_t mebibytes : {16u, 256u}) {
    // Half a minute and more.
    const std::uint64_t steps = settings.quick ? 10 : 960'000 / mebibytes;
    const Row& row = section.rows.emplace_back(settings.measure(
        std::to_string(mebibytes) + " MiB", "s", {without, libdag_in_two()},
        {"checkpoints", {{"bytes", std::to_string(mebibytes << 20)}, {"steps", std::to_string(steps)}}},
        {"total", 1, {{"saves", "saves"}, {"held up", "held_up"}}}));
    const Series& saving = *row.find(libdag);
    section.verdicts.push_back({"saves", row.workload, "≤ 2 % of the time held up", 2,
                                summarise(saving.parts.at(1).values).median / saving.median() * 100});
  }
  return section;
}

}  // namespace dag::bench
