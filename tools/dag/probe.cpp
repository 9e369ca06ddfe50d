#include "tools/dag/probe.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>

#include "libdag/client/exit_status.hpp"
#include "tools/dag/print.hpp"

namespace dag::tool {
namespace {

struct Probed {
  NodeInfo node;
  std::vector<Duration> answers;  ///< in the order of their length
  std::string problem;            ///< it did not answer
  bool is_ready() const { return problem.empty() && node.not_ready.empty(); }
};

Probed probed(NodeInfo node, std::uint32_t times) {
  Probed result{std::move(node), {}, {}};
  try {
    const auto link = detail::connect(result.node.endpoint.control);
    for (std::uint32_t i = 0; i < times; ++i) {
      const auto asked = std::chrono::steady_clock::now();
      result.node = link->nodes().front();
      result.answers.push_back(std::chrono::steady_clock::now() - asked);
    }
    std::sort(result.answers.begin(), result.answers.end());
  } catch (const Failure& failure) {
    result.answers.clear();
    result.problem = failure.error().what;
  }
  return result;
}

std::string milliseconds(Duration time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", std::chrono::duration<double, std::milli>(time).count());
  return text;
}

std::vector<std::string> row_of(const Probed& one) {
  std::string state = one.problem.empty() ? (one.is_ready() ? "ready" : "") : shown(one.problem);
  for (const std::string& why : one.node.not_ready) state += (state.empty() ? "" : "; ") + shown(why);
  const auto& times = one.answers;
  return {to_string(one.node.life.process), times.empty() ? "-" : milliseconds(times[times.size() / 2]),
          times.empty() ? "-" : milliseconds(times.back()), std::move(state)};
}

nlohmann::json json_of(const Probed& one) {
  const auto seconds = [&](bool longest) -> nlohmann::json {
    if (one.answers.empty()) return nullptr;
    const Duration time = longest ? one.answers.back() : one.answers[one.answers.size() / 2];
    return std::chrono::duration<double>(time).count();
  };
  return {{"node", to_string(one.node.life.process)}, {"ready", one.is_ready()},
          {"not_ready", one.node.not_ready},          {"problem", one.problem},
          {"answer_seconds", seconds(false)},         {"longest_seconds", seconds(true)}};
}

}  // namespace

int probe(const Options& options, std::optional<ProcessId> only, std::uint32_t times) {
  std::vector<NodeInfo> nodes = connect(options)->nodes();
  std::erase_if(
      nodes, [only](const NodeInfo& node) { return only ? node.life.process != *only : !is_up(node.state); });
  if (nodes.empty()) {
    std::cerr << "dag: there is no " << (only ? to_string(*only) : "node")
              << "; `dag node list` lists the nodes\n";
    return exit_unknown;
  }
  std::sort(nodes.begin(), nodes.end(), [](const NodeInfo& a, const NodeInfo& b) { return a.life < b.life; });
  std::vector<Probed> all;
  for (NodeInfo& node : nodes) all.push_back(probed(std::move(node), times));
  if (options.json) {
    auto list = nlohmann::json::array();
    for (const Probed& one : all) list.push_back(json_of(one));
    std::cout << line_of({{"nodes", std::move(list)}});
  } else {
    std::vector<std::vector<std::string>> rows;
    for (const Probed& one : all) rows.push_back(row_of(one));
    std::cout << table({"NODE", "ANSWERS IN", "AT MOST", "STATE"}, rows);
  }
  return std::all_of(all.begin(), all.end(), [](const Probed& one) { return one.is_ready(); })
             ? exit_ok
             : exit_work_failed;
}

}  // namespace dag::tool
