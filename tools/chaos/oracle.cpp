#include "tools/chaos/oracle.hpp"

#include <sstream>

namespace dag::chaos {

void Said::take(const std::string& line) {
  std::istringstream words(line);
  std::string kind;
  Mark mark;
  words >> kind;
  if (kind == "submitted") {
    words >> job;
  } else if (kind == "refused") {
    refused = true;
  } else if (kind == "settled") {
    std::int64_t at = 0;
    words >> mark.task >> mark.value >> mark.from >> at;
    if (!settled.emplace(mark.task, mark).second)
      wrong.push_back("settled twice: task " + std::to_string(mark.task));
    settled_at.push_back(at);
  } else if (kind == "without") {
    words >> mark.task;
    without.insert(mark.task);
  } else if (kind == "unknown") {
    words >> mark.task;
    unknown[mark.task] = line;
  } else if (kind == "changed") {
    wrong.push_back("a result that was given has " + line);
  } else if (kind == "unpublished") {
    wrong.push_back("a result that was given is not what its file has: " + line);
  } else if (kind == "done") {
    done = true;
  }
}

std::vector<std::string> check(std::uint64_t seed, const std::vector<TaskPlan>& plan, const Said& said,
                               const std::vector<Mark>& ledger) {
  std::vector<std::string> wrong = said.wrong;
  std::map<std::uint64_t, std::size_t> entries;
  const auto value = [&](std::uint32_t task) {
    const auto found = said.settled.find(task);
    return found == said.settled.end() ? 0 : found->second.value;
  };
  const auto from = [&](std::uint64_t task) {
    std::vector<std::uint64_t> inputs;
    for (const std::uint32_t input : plan[task].inputs) inputs.push_back(value(input));
    return from_values(inputs);
  };
  for (const Mark& mark : ledger) {
    ++entries[mark.task];
    if (mark.task >= plan.size() || mark.from != from(mark.task))
      wrong.push_back("stale: an effect of task " + std::to_string(mark.task) +
                      " rests on what was not settled");
  }
  for (std::uint64_t task = 0; task < plan.size(); ++task) {
    const std::string name = "task " + std::to_string(task);
    const Kind kind = plan[task].kind;
    if (kind == Kind::at_most_once && entries[task] > 1) wrong.push_back("ran twice: " + name);
    const auto found = said.settled.find(task);
    if (found == said.settled.end()) {
      // Nobody knows whether an interrupted effect took place.
      const auto why = said.unknown.find(task);
      if (kind != Kind::at_most_once || why == said.unknown.end())
        wrong.push_back("lost: " + name + (why == said.unknown.end() ? "" : ": " + why->second));
      continue;
    }
    if (found->second.from != from(task))
      wrong.push_back("stale: " + name + " rests on what was not settled");
    if (kind != Kind::varying && kind != Kind::staged &&
        found->second.value != value_of(seed, task, found->second.from))
      wrong.push_back("wrong value: " + name);
    if (kind >= Kind::idempotent && entries[task] == 0) wrong.push_back("effect lost: " + name);
  }
  return wrong;
}

}  // namespace dag::chaos
