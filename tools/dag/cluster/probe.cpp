#include "tools/dag/cluster/probe.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>

#include "libdag/client/exit_status.hpp"
#include "tools/dag/views/print.hpp"

namespace dag::tool {
namespace {

struct Probed {
  NodeInfo node;
  std::optional<Duration> usual, longest;  ///< how long answers took
  std::string problem;                     ///< it did not answer
  bool is_ready() const { return problem.empty() && node.not_ready.empty(); }
};

Probed probed(NodeInfo node, std::uint32_t times) {
  Probed result{std::move(node), {}, {}, {}};
  std::vector<Duration> answers;
  try {
    const auto link = detail::connect(result.node.endpoint.control);
    for (std::uint32_t i = 0; i < times; ++i) {
      const auto asked = std::chrono::steady_clock::now();
      result.node = link->nodes().front();
      answers.push_back(std::chrono::steady_clock::now() - asked);
    }
    std::sort(answers.begin(), answers.end());
    result.usual = answers[answers.size() / 2];
    result.longest = answers.back();
  } catch (const Failure& failure) {
    result.problem = failure.error().what;
  }
  return result;
}

std::string milliseconds_text(std::optional<Duration> time) {
  char text[32] = "-";
  if (time)
    std::snprintf(text, sizeof text, "%.1f ms", std::chrono::duration<double, std::milli>(*time).count());
  return text;
}

std::vector<std::string> row_of(const Probed& one) {
  std::string state = one.problem.empty() ? (one.is_ready() ? "ready" : "") : shown(one.problem);
  for (const std::string& why : one.node.not_ready) state += (state.empty() ? "" : "; ") + shown(why);
  return {to_string(one.node.life.process), milliseconds_text(one.usual), milliseconds_text(one.longest),
          std::move(state)};
}

nlohmann::json json_of(const Probed& one) {
  const auto seconds = [](std::optional<Duration> time) {
    return time ? nlohmann::json(std::chrono::duration<double>(*time).count()) : nlohmann::json();
  };
  return {{"node", to_string(one.node.life.process)}, {"ready", one.is_ready()},
          {"not_ready", one.node.not_ready},          {"problem", one.problem},
          {"answer_seconds", seconds(one.usual)},     {"longest_seconds", seconds(one.longest)}};
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
    std::cout << json_line({{"nodes", std::move(list)}});
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
