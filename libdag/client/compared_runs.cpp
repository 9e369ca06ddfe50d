#include "libdag/client/compared_runs.hpp"
#include "libdag/base/counted.hpp"

#include <algorithm>

namespace dag::detail {
namespace {

constexpr std::size_t named_max = 5;

bool alike(const Settlement& one, const Settlement& other) {
  return one.outcome == other.outcome && one.output.same_bytes(other.output);
}

std::string label(const Fragment& graph, std::uint32_t task) {
  return "'" + graph.name(task) + "' (task " + std::to_string(task) + ")";
}

/// " 'load' (task 0) and 'sum' (task 4)", of the first few.
std::string listed(const Fragment& graph, const std::vector<std::uint32_t>& tasks) {
  std::string text;
  const std::size_t named = std::min(tasks.size(), named_max);
  for (std::size_t at = 0; at < named; ++at) {
    if (at > 0) text += at + 1 == tasks.size() ? " and " : ", ";
    text += label(graph, tasks[at]);
  }
  return tasks.size() > named ? text + " and " + std::to_string(tasks.size() - named) + " more" : text;
}

std::string ending(const Settlement& settlement) {
  return std::string(name(settlement.outcome)) + (settlement.error ? ": " + settlement.error->message() : "");
}

}  // namespace

ComparedRuns compare_runs(const Fragment& graph, std::span<const Settlement> here,
                          std::span<const Settlement> again, std::span<const Settlement> elsewhere) {
  std::vector<bool> same(graph.size());
  for (std::uint32_t task = 0; task < graph.size(); ++task) {
    same[task] = alike(here[task], again[task]) && alike(here[task], elsewhere[task]);
  }
  ComparedRuns compared;
  for (std::uint32_t task = 0; task < graph.size(); ++task) {
    const auto before = graph.in_edges(task);
    if (same[task]) {
      ++compared.same;
    } else if (std::all_of(before.begin(), before.end(), [&](EdgeEnd end) { return same[end.task()]; })) {
      (alike(here[task], again[task]) ? compared.differing : compared.varying).push_back(task);
    }
  }
  return compared;
}

std::optional<Error> told_of(const ComparedRuns& compared, const Fragment& graph,
                             std::span<const Settlement> here, std::span<const Settlement> elsewhere) {
  if (compared.differing.empty()) return std::nullopt;
  const std::uint32_t first = compared.differing.front();
  Error error{
      ErrorCode::not_reproducible,
      listed(graph, compared.differing) + (compared.differing.size() == 1 ? " gives" : " give") +
          " another value in a process of its own than here",
      "a kernel sees its arguments, and globals as they were before main made its Session: pass state "
      "as an argument, or set it before the Session"};
  if (here[first].outcome != elsewhere[first].outcome) {
    error.cause = graph.name(first) + " here: " + ending(here[first]) + "\n" + graph.name(first) +
                  " there: " + ending(elsewhere[first]);
  }
  return error;
}

std::string summary(const ComparedRuns& compared) {
  std::string text = counted(compared.same, "task") + (compared.same == 1 ? " gives" : " give") +
                     " the same in a process of " + (compared.same == 1 ? "its" : "their") + " own";
  if (!compared.varying.empty()) {
    text += "; " + counted(compared.varying.size(), "task") +
            (compared.varying.size() == 1 ? " gives" : " give") +
            " another value each time; tasks computed from them were not compared";
  }
  return text;
}

}  // namespace dag::detail
