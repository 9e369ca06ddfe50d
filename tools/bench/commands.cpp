#include "tools/bench/commands.hpp"

#include <algorithm>
#include <iostream>

namespace dag::bench {

std::vector<std::string_view> Settings::runners(const std::vector<std::string_view>& candidates) {
  std::vector<std::string_view> taking_part;
  for (const Runner& runner : all_runners()) {
    if (std::find(candidates.begin(), candidates.end(), runner.name) == candidates.end()) continue;
    const bool wanted = peers.empty() || runner.name == libdag ||
                        std::find(peers.begin(), peers.end(), runner.name) != peers.end();
    if (!wanted) continue;
    if (is_built(runner.name)) {
      taking_part.push_back(runner.name);
      continue;
    }
    const bool known = std::any_of(skipped_.begin(), skipped_.end(),
                                   [&](const Skipped& one) { return one.runner == runner.name; });
    if (known) continue;
    skipped_.push_back({std::string(runner.name), std::string(runner.package)});
    say(std::string(runner.name) + " is not built: install " + std::string(runner.package) +
        " (tools/bench/install_peers) and build again; going on without");
  }
  return taking_part;
}

Ask Participant::asked(Ask what) const {
  if (!launcher.empty()) what.launcher = launcher;
  what.options.insert(options.begin(), options.end());
  return what;
}

void Settings::say(const std::string& progress) const { std::cerr << "dag-bench: " << progress << std::endl; }

Row Settings::measure(std::string workload, std::string unit, const std::vector<Participant>& taking_part,
                      const Ask& what, const Figure& figure) {
  Row row{std::move(workload), std::move(unit), {}};
  for (const Participant& one : taking_part) row.series.push_back({one.shown, {}});
  for (int repetition = 1; repetition <= repetitions; ++repetition) {
    say(row.workload + ", repetition " + std::to_string(repetition) + " of " + std::to_string(repetitions));
    for (std::size_t i = 0; i < taking_part.size(); ++i) {
      Series& series = row.series[i];
      const Answer answer = ask(taking_part[i].runner, taking_part[i].asked(what));
      series.values.push_back(answer.number(figure.number) * figure.factor);
      if (const auto least = answer.numbers.find("least " + figure.number); least != answer.numbers.end())
        series.least.push_back(least->second * figure.factor);
      for (const Figure::Part& part : figure.parts) {
        const auto said = answer.numbers.find(part.number);
        if (said != answer.numbers.end())
          series.part(part.shown).values.push_back(said->second * figure.factor);
      }
    }
  }
  return row;
}

Row Settings::measure(std::string workload, std::string unit,
                      const std::vector<std::string_view>& taking_part, const Ask& what,
                      const Figure& figure) {
  std::vector<Participant> participants;
  for (const std::string_view runner : taking_part) participants.push_back({runner});
  return measure(std::move(workload), std::move(unit), participants, what, figure);
}

}  // namespace dag::bench
