// `dag node list`, `dag node show N`: the nodes of a cluster, as one of them knows them.

#include <algorithm>
#include <charconv>
#include <iostream>

#include "libdag/client/exit_status.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/options.hpp"
#include "tools/dag/print.hpp"

namespace dag::tool {
namespace {

int list(const Options& options) {
  std::vector<NodeInfo> nodes = connect(options)->nodes();
  std::sort(nodes.begin(), nodes.end(), [](const NodeInfo& a, const NodeInfo& b) { return a.life < b.life; });
  if (options.json) {
    auto all = nlohmann::json::array();
    for (const NodeInfo& node : nodes) all.push_back(to_json(node));
    std::cout << line_of({{"nodes", std::move(all)}});
  } else {
    std::cout << nodes_text(nodes);
  }
  return exit_ok;
}

ProcessId node_of(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with('n')) digits.remove_prefix(1);
  std::uint32_t id = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
  if (problem != std::errc{} || end != digits.data() + digits.size() || id > 65534) {
    throw Failure({ErrorCode::usage, "'" + shown(std::string(text)) + "' is not a node",
                   "write n1 or 1; `dag node list` lists them"});
  }
  return {id};
}

int show(const Options& options, ProcessId id) {
  auto cluster = connect(options);
  std::vector<NodeInfo> nodes = cluster->nodes();
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [id](const NodeInfo& node) { return node.life.process == id; });
  if (found == nodes.end()) {
    std::cerr << "dag: there is no " << to_string(id) << "; `dag node list` lists the nodes\n";
    return exit_unknown;
  }
  NodeInfo node = *found;
  // It knows more of itself than others do.
  if (found != nodes.begin() && node.state == MemberState::alive) {
    node = detail::connect(node.endpoint.control)->nodes().front();
  }
  std::cout << (options.json ? line_of(to_json(node)) : node_text(node));
  return exit_ok;
}

}  // namespace

void add_node(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("node", "the nodes of a cluster");
  command->require_subcommand(1);
  auto* lists = command->add_subcommand("list", "list them");
  const auto options_of_list = add_options(*lists);
  lists->callback([=, &chosen] { chosen = [=] { return list(*options_of_list); }; });
  auto* shows = command->add_subcommand("show", "show one: its address, its devices");
  const auto options = add_options(*shows);
  const auto node = std::make_shared<std::string>();
  shows->add_option("node", *node, "such as n1 or 1")->required();
  shows->callback([=, &chosen] { chosen = [=] { return show(*options, node_of(*node)); }; });
}

}  // namespace dag::tool
