// `dag node list`, `dag node show N`: the nodes of a cluster, as one of them knows them. `dag node drain N`
// and `dag node undrain N` begin and cancel a drain. `dag node probe [N]` is in probe.hpp.

#include <algorithm>
#include <charconv>
#include <iostream>
#include <map>
#include <thread>

#include "libdag/client/exit_status.hpp"
#include "tools/dag/cluster/drained.hpp"
#include "tools/dag/cluster/probe.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/durations.hpp"
#include "tools/dag/options.hpp"
#include "tools/dag/views/print.hpp"

namespace dag::tool {
namespace {

int list(const Options& options) {
  std::vector<NodeInfo> nodes = connect(options)->nodes();
  std::sort(nodes.begin(), nodes.end(), [](const NodeInfo& a, const NodeInfo& b) { return a.life < b.life; });
  if (options.json) {
    auto all = nlohmann::json::array();
    for (const NodeInfo& node : nodes) all.push_back(to_json(node));
    std::cout << json_line({{"nodes", std::move(all)}});
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

std::vector<NodeInfo>::const_iterator find(const std::vector<NodeInfo>& nodes, ProcessId id) {
  return std::find_if(nodes.begin(), nodes.end(),
                      [id](const NodeInfo& node) { return node.life.process == id; });
}

int say_unknown(ProcessId id) {
  std::cerr << "dag: there is no " << to_string(id) << "; `dag node list` lists the nodes\n";
  return exit_unknown;
}

int show(const Options& options, ProcessId id) {
  std::vector<NodeInfo> said = connect(options)->nodes();
  auto found = find(said, id);
  if (found == said.end()) return say_unknown(id);
  // The node knows more of itself than others do.
  if (found != said.begin() && found->state == MemberState::alive) {
    said = detail::connect(found->endpoint.control)->nodes();
    found = said.begin();
  }
  std::vector<detail::NodeLink> links;
  if (found == said.begin()) links = detail::links_between({{id, said}});
  if (options.json) {
    nlohmann::json fields = to_json(*found);
    fields["links"] = nlohmann::json::array();
    for (const detail::NodeLink& link : links) fields["links"].push_back(to_json(link));
    std::cout << json_line(fields);
  } else {
    std::cout << node_text(*found);
    for (const detail::NodeLink& link : links) std::cout << "  link      " << link_text(link) << '\n';
  }
  return exit_ok;
}

// ---- Draining

/// The interval between two looks.
constexpr auto drain_looked_at_every = std::chrono::milliseconds(500);
/// The node is drained after so many looks in a row that find nothing: a job whose leader has just gone has
/// no leader for a moment, and no node reports it.
constexpr int looks_in_a_row = 5;

/// Asks all nodes what they lead.
class Looks {
 public:
  explicit Looks(const Options& options) : options_(options) { connect_again(); }

  /// Nothing: a node does not answer, so the jobs that it leads are unknown.
  std::optional<LeftAt> at(ProcessId node) {
    try {
      const std::vector<NodeInfo> nodes = first_->nodes();
      if (find(nodes, node) == nodes.end()) return LeftAt{};  // The node has gone.
      std::vector<JobSaid> said;
      for (const NodeInfo& one : nodes) {
        auto& link = links_[one.endpoint.control];
        if (!link) link = detail::connect(one.endpoint.control);
        for (JobInfo& job : link->jobs(std::nullopt)) said.push_back({one.life.process, std::move(job)});
      }
      return left_at(node, nodes, said);
    } catch (const Failure& failure) {
      if (options_.verbose) std::cerr << "dag: " << failure.error().what << std::endl;
      links_.clear();
      connect_again();
      return std::nullopt;
    }
  }

 private:
  void connect_again() { first_ = connect(options_); }

  const Options& options_;
  std::unique_ptr<detail::Cluster> first_;
  std::map<std::string, std::unique_ptr<detail::Cluster>> links_;
};

nlohmann::json names_of(const std::vector<JobId>& jobs) {
  auto names = nlohmann::json::array();
  for (const JobId job : jobs) names.push_back(to_string(job));
  return names;
}

std::string jobs_text_of(const char* what, const std::vector<JobId>& jobs) {
  if (jobs.empty()) return {};
  constexpr std::size_t named_max = 5;
  std::string text = std::string("; ") + what + " of";
  for (std::size_t i = 0; i < std::min(jobs.size(), named_max); ++i) text += " " + to_string(jobs[i]);
  return jobs.size() > named_max ? text + " and " + std::to_string(jobs.size() - named_max) + " more" : text;
}

void say_left(const Options& options, ProcessId id, const LeftAt& left, bool drained) {
  if (options.json) {
    std::cout << json_line({{"node", to_string(id)},
                            {"drained", drained},
                            {"leads", names_of(left.led)},
                            {"processes", names_of(left.processes)},
                            {"copies", names_of(left.copies)}})
              << std::flush;
  } else if (drained) {
    std::cout << to_string(id) << " is drained and can be stopped" << std::endl;
  } else {
    std::cerr << to_string(id) << " is draining" << jobs_text_of("leads the record", left.led)
              << jobs_text_of("has processes", left.processes)
              << jobs_text_of("has copies of the record", left.copies) << std::endl;
  }
}

int set_draining(const Options& options, ProcessId id, bool draining) {
  const std::vector<NodeInfo> nodes = connect(options)->nodes();
  const auto found = find(nodes, id);
  if (found == nodes.end()) return say_unknown(id);
  detail::connect(found->endpoint.control)->drain(draining);
  return exit_ok;
}

int drain(const Options& options, ProcessId id, std::optional<double> limit) {
  const auto began = std::chrono::steady_clock::now();
  if (const int status = set_draining(options, id, true); status != exit_ok) return status;
  Looks looks(options);
  std::optional<LeftAt> told;
  for (int empty = 0;;) {
    const std::optional<LeftAt> left = looks.at(id);
    empty = left && left->nothing() ? empty + 1 : 0;
    const bool drained = empty == looks_in_a_row;
    if (drained || (left && !left->nothing() && told != left)) say_left(options, id, *left, drained);
    if (drained) return exit_ok;
    if (left) told = left;
    if (limit && std::chrono::steady_clock::now() - began > std::chrono::duration<double>(*limit)) {
      throw Failure({ErrorCode::timed_out, to_string(id) + " is not drained within the time limit",
                     "the drain continues; `dag node undrain` cancels it"});
    }
    std::this_thread::sleep_for(drain_looked_at_every);
  }
}

int undrain(const Options& options, ProcessId id) {
  if (const int status = set_draining(options, id, false); status != exit_ok) return status;
  if (options.json) {
    std::cout << json_line({{"node", to_string(id)}, {"draining", false}});
  } else {
    std::cout << to_string(id) << " accepts jobs again\n";
  }
  return exit_ok;
}

constexpr auto stopping_looked_at_every = std::chrono::milliseconds(100);
constexpr Duration stopped_answers_within = std::chrono::milliseconds(500);
constexpr double stop_within_seconds = 30;

bool answers(const std::string& address, ProcessId id) {
  try {
    const auto nodes = detail::connect(address, stopped_answers_within, stopped_answers_within)->nodes();
    return nodes.front().life.process == id;
  } catch (const Failure&) {
    return false;
  }
}

int stop(const Options& options, ProcessId id, double limit_seconds) {
  const std::vector<NodeInfo> nodes = connect(options)->nodes();
  const auto found = find(nodes, id);
  if (found == nodes.end()) return say_unknown(id);
  const std::string address = found->endpoint.control;
  const auto began = std::chrono::steady_clock::now();
  detail::connect(address)->shutdown();
  while (answers(address, id)) {
    if (std::chrono::steady_clock::now() - began > std::chrono::duration<double>(limit_seconds)) {
      throw Failure({ErrorCode::timed_out, to_string(id) + " still answers at " + address,
                     "the node was told to stop; `dag node list` shows whether it has"});
    }
    std::this_thread::sleep_for(stopping_looked_at_every);
  }
  if (options.json) {
    std::cout << json_line({{"node", to_string(id)}, {"stopped", true}});
  } else {
    std::cout << to_string(id) << " has stopped\n";
  }
  return exit_ok;
}

/// A command about one node.
CLI::App* add_about_node(CLI::App& command, const char* name, const char* about,
                         const std::shared_ptr<std::string>& node) {
  auto* one = command.add_subcommand(name, about);
  one->add_option("node", *node, "such as n1 or 1")->required();
  return one;
}

}  // namespace

void add_node(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("node", "list, show, probe, drain and stop the nodes of a cluster");
  command->require_subcommand(1);
  auto* lists = command->add_subcommand("list", "list the nodes");
  const auto options_of_list = add_options(*lists);
  lists->callback([=, &chosen] { chosen = [=] { return list(*options_of_list); }; });
  const auto node = std::make_shared<std::string>();
  auto* shows = add_about_node(*command, "show", "show a node: its address, its devices", node);
  const auto options = add_options(*shows);
  shows->callback([=, &chosen] { chosen = [=] { return show(*options, node_of(*node)); }; });

  auto* probes = command->add_subcommand("probe", "check whether a node, or each node, is ready for clients");
  const auto options_of_probe = add_options(*probes);
  const auto probed = std::make_shared<std::string>();
  const auto times = std::make_shared<std::uint32_t>(10);
  probes->add_option("node", *probed, "n1 or 1 (default: all)");
  probes->add_option("--times", *times, "questions per node")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  probes->footer(
      "Exit status: 0 each node answers and is ready, 1 a node does not or is not, 5 no such node.");
  probes->callback([=, &chosen] {
    chosen = [=] {
      return probe(*options_of_probe, probed->empty() ? std::nullopt : std::optional(node_of(*probed)),
                   *times);
    };
  });

  auto* drains =
      add_about_node(*command, "drain", "move all jobs off a node so that it can be stopped", node);
  const auto options_of_drain = add_options(*drains);
  const auto limit = std::make_shared<std::optional<double>>();
  takes_duration(drains->add_option("--timeout", *limit, "how long to wait, such as 30s or 5m"));
  drains->footer(
      "The node accepts no new jobs and hands its jobs' records to other leaders. Its copies of records move "
      "to\n"
      "nodes without a copy. Processes of jobs on the node end when another node has a process of the job: "
      "their\n"
      "attempts run again and their outputs are made again. A task that may run only once, and runs on the "
      "node\n"
      "then, fails with outcome_unknown. The drain continues when this command is interrupted, until the "
      "node is\n"
      "stopped or undrained.\n"
      "Exit status: 0 the node can be stopped, 4 no other node accepts jobs, 5 no such node, 7 timeout.");
  drains->callback(
      [=, &chosen] { chosen = [=] { return drain(*options_of_drain, node_of(*node), *limit); }; });

  auto* stops = add_about_node(*command, "stop", "stop a node and its processes of jobs", node);
  const auto options_of_stop = add_options(*stops);
  const auto stop_limit = std::make_shared<double>(stop_within_seconds);
  takes_duration(stops->add_option("--timeout", *stop_limit, "how long to wait for its end (30s)"));
  stops->footer(
      "Running attempts of the node are lost and run again on other nodes. To lose none: dag node drain N, "
      "first.\n"
      "Exit status: 0 the node has stopped, 5 no such node, 7 it still answers.");
  stops->callback(
      [=, &chosen] { chosen = [=] { return stop(*options_of_stop, node_of(*node), *stop_limit); }; });

  auto* undrains = add_about_node(*command, "undrain", "cancel a drain: the node accepts jobs again", node);
  const auto options_of_undrain = add_options(*undrains);
  undrains->callback([=, &chosen] { chosen = [=] { return undrain(*options_of_undrain, node_of(*node)); }; });
}

}  // namespace dag::tool
