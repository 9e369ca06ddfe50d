// A graph as JSON. Durations in nanoseconds; where nothing is stated, ranks are in units of one task.

#include "libdag/drawing/drawing.hpp"
#include "libdag/graph/data_edges.hpp"
#include "libdag/graph/order.hpp"
#include "libdag/graph/rank.hpp"
#include "libdag/graph/text.hpp"

namespace dag {
namespace {

using detail::Fragment;

std::string json_quoted(const std::string& text) { return json_string(printable(text)); }

const char* kind_name(detail::EdgeKind kind) {
  switch (kind) {
    case detail::EdgeKind::strong:
      return "strong";
    case detail::EdgeKind::weak:
      return "weak";
    case detail::EdgeKind::conditional:
      return "conditional";
  }
  return "unknown";
}

std::string task_json(const Fragment& fragment, const Ranking* ranking, std::uint32_t index) {
  const Policy& policy = fragment.policy(index);
  std::string text = "{\"id\": " + std::to_string(index) + ", \"name\": " + json_quoted(fragment.name(index));
  if (const std::uint32_t actor = fragment.kind(index).actor; actor < fragment.actors.size()) {
    text += ", \"actor\": " + json_quoted(fragment.names[fragment.actors[actor].name]);
  }
  if (policy.takes) text += ", \"takes_ns\": " + std::to_string(policy.takes->count());
  if (ranking != nullptr) {
    text += ", \"starts_at_ns\": " + std::to_string(ranking->starts_at[index].count());
    text += ", \"slack_ns\": " + std::to_string(ranking->slack(index).count());
  }
  return text + "}";
}

std::string became_json(const Became& became, std::uint32_t task) {
  std::string text = ", \"task\": " + json_quoted(became.ids[task]);
  if (!became.outcomes[task].empty()) text += ", \"outcome\": " + json_quoted(became.outcomes[task]);
  return text + ", \"ran_ns\": " + std::to_string(became.ran[task].count());
}

std::string indices_json(const std::vector<std::uint32_t>& indices) {
  std::string text = "[";
  for (std::size_t i = 0; i < indices.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(indices[i]);
  return text + "]";
}

}  // namespace

std::string json(const Fragment& fragment, const std::string& title, const Became* became) {
  const std::vector<std::uint32_t> cycle = find_cycle(fragment);
  Ranking ranking;
  if (cycle.empty()) ranking = became == nullptr ? rank(fragment) : rank(fragment, became->ran);
  std::string text = "{\"name\": " + json_quoted(title) + ",\n \"tasks\": [";
  for (std::uint32_t task = 0; task < fragment.size(); ++task) {
    text += (task > 0 ? ",\n  " : "\n  ") + task_json(fragment, cycle.empty() ? &ranking : nullptr, task);
    if (became != nullptr) text.insert(text.size() - 1, became_json(*became, task));
  }
  text += "],\n \"edges\": [";
  bool first = true;
  std::vector<bool> data;
  for (std::uint32_t task = 0; task < fragment.size(); ++task) {
    const auto in_edges = fragment.in_edges(task);
    mark_data_edges(fragment, task, data);
    for (std::uint32_t i = 0; i < in_edges.size(); ++i) {
      text += first ? "\n  " : ",\n  ";
      first = false;
      text += "{\"from\": " + std::to_string(in_edges[i].task()) + ", \"to\": " + std::to_string(task) +
              ", \"kind\": \"" + kind_name(in_edges[i].kind()) +
              "\", \"data\": " + (data[i] ? "true" : "false") + "}";
    }
  }
  text += "],\n ";
  if (cycle.empty()) {
    text += "\"critical_path\": " + indices_json(ranking.critical_path) +
            ", \"critical_path_ns\": " + std::to_string(ranking.length.count());
  } else {
    text += "\"cycle\": " + indices_json(cycle);
  }
  return text + "}\n";
}

}  // namespace dag
