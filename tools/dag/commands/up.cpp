// `dag up`, `dag join`, `dag down`: start and end nodes on this host. The address file lists the started
// nodes, so that the other commands find them.

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <random>
#include <set>

#include "libdag/client/exit_status.hpp"
#include "tools/dag/cluster/dagd.hpp"
#include "tools/dag/cluster/ports.hpp"
#include "tools/dag/cluster/process.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/options.hpp"
#include "tools/dag/views/print.hpp"

namespace dag::tool {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto acquainted_within = std::chrono::seconds(30);
constexpr auto end_within = std::chrono::seconds(5);
constexpr auto looks_for_nodes_every = milliseconds(50);
constexpr auto give_up_grace = milliseconds(2000);
constexpr std::uint32_t nodes_max = 256;

/// Flags that both `up` and `join` hand on to dagd.
struct NodeFlags {
  std::string lanes;
  std::string log;
  std::string data;
  std::string replicas;
};

std::shared_ptr<NodeFlags> add_node_flags(CLI::App& command) {
  auto flags = std::make_shared<NodeFlags>();
  command.add_option("--lanes", flags->lanes,
                     "lanes of each worker process (default: all cores of its node)");
  command.add_option("--log", flags->log, "log level of nodes: off, error, warn, info or debug");
  command.add_option(
      "--data", flags->data,
      "directory in which nodes keep jobs between starts, one subdirectory per node (default: none)");
  command.add_option("--replicas", flags->replicas,
                     "nodes that hold the record of a job: 1, 3, 5 or 7 (default: 3)");
  return flags;
}

void take(const NodeFlags& flags, DagdOrder& order) {
  order.lanes = flags.lanes;
  order.log = flags.log;
  order.replicas = flags.replicas;
  if (!flags.data.empty()) {
    order.data = (std::filesystem::absolute(flags.data) / ("n" + std::to_string(order.id))).string();
  }
}

std::string random_name() {
  std::random_device device;
  std::string digits = "1";  // Not zero, which means any.
  for (int i = 0; i < 15; ++i) digits += "0123456789abcdef"[device() % 16];
  return digits;
}

std::set<std::uint32_t> nodes_up(detail::Cluster& cluster) {
  std::set<std::uint32_t> up;
  for (const NodeInfo& node : cluster.nodes()) {
    if (node.state == MemberState::alive) up.insert(node.life.process.value);
  }
  return up;
}

/// Waits until each of these nodes sees `count` nodes.
void wait_until_seen(const StartedNodes& nodes, std::size_t count) {
  const auto deadline = Clock::now() + acquainted_within;
  for (const StartedNode& node : nodes) {
    const auto cluster = detail::connect(node.address);
    for (std::size_t seen = 0; (seen = nodes_up(*cluster).size()) < count; pause_for(looks_for_nodes_every)) {
      if (Clock::now() < deadline) continue;
      throw Failure({ErrorCode::peer_unreachable,
                     "n" + std::to_string(node.id) + " sees " + std::to_string(seen) + " of " +
                         std::to_string(count) + " nodes after 30 s",
                     "the logs of nodes are in the state directory"});
    }
  }
}

/// Runs the work; ends the nodes that it has started when it fails.
template <class Work>
void or_end(StartedNodes& started, Work work) {
  try {
    work();
  } catch (...) {
    std::vector<pid_t> pids;
    for (const StartedNode& node : started) {
      if (node.pid > 0) pids.push_back(node.pid);
    }
    end_all(pids, give_up_grace);
    throw;
  }
}

nlohmann::json started_json(const StartedNodes& nodes) {
  auto list = nlohmann::json::array();
  for (const StartedNode& node : nodes) {
    list.push_back({{"node", "n" + std::to_string(node.id)}, {"address", node.address}, {"pid", node.pid}});
  }
  return list;
}

// ---- up

/// Refuses a data directory in the state directory: `dag down` removes the latter.
void keep_apart(const NodeFlags& flags, const std::string& state_dir) {
  if (flags.data.empty()) return;
  const auto whole = [](const std::string& path) {
    return (std::filesystem::weakly_canonical(path) / "").lexically_normal();
  };
  if (whole(flags.data) == whole(state_dir)) {
    throw Failure({ErrorCode::usage, "--data and --state-dir are the same directory",
                   "name another one: what lies in the state directory is removed by `dag down`"});
  }
}

int up(const Options& options, const NodeFlags& flags, const AddressesAsked& asked, std::uint32_t count) {
  const std::vector<NodeAddresses> addresses = addresses_of_nodes(asked, count);
  block_signals();
  lead_a_session();
  const std::string directory = options.state_directory();
  keep_apart(flags, directory);
  const ClusterLock lock(directory);
  if (const StartedNodes running = running_nodes(directory); !running.empty()) {
    throw Failure({ErrorCode::usage, "a cluster is already up at " + running.front().address,
                   "`dag down` ends it; `dag join " + running.front().address + "` adds a node to it"});
  }
  remove_history(directory);
  StartedNodes nodes;
  const std::string cluster = random_name();
  or_end(nodes, [&] {
    for (std::uint32_t id = 0; id < count; ++id) {
      DagdOrder order;
      order.id = id;
      if (id > 0) order.peers = nodes.front().address;
      order.share = std::to_string(id) + "/" + std::to_string(count);
      order.cluster = cluster;
      order.listen = addresses[id].listen;
      order.http = addresses[id].http;
      order.state_dir = directory;
      take(flags, order);
      start_dagd(order, nodes.emplace_back());
      if (options.verbose) std::cerr << "dag: n" << id << " at " << nodes.back().address << '\n';
    }
    wait_until_seen(nodes, count);
    write_cluster(directory, nodes);
  });
  const std::string& address = nodes.front().address;
  const std::string web = detail::connect(address)->nodes().front().endpoint.web;
  if (options.json) {
    std::cout << json_line({{"address", address}, {"nodes", started_json(nodes)}});
  } else {
    std::cout << "export DAG_ADDRESS=" << address << '\n';
  }
  std::cerr << count << (count == 1 ? " node is up" : " nodes are up") << "; logs in " << directory
            << "\nRun a job:   dag submit --watch JOB"
            << "\nAdd a node:  dag join " << address << "\nStop:        dag down\n";
  if (!web.empty()) std::cerr << "Web UI:      http://" << web << "/\n";
  return exit_ok;
}

// ---- join

int join(const Options& options, const NodeFlags& flags, DagdOrder order) {
  block_signals();
  lead_a_session();
  const std::string directory = options.state_directory();
  keep_apart(flags, directory);
  const ClusterLock lock(directory);
  const std::set<std::uint32_t> known = nodes_up(*detail::connect(order.peers));
  while (known.contains(order.id)) ++order.id;
  order.state_dir = directory;
  take(flags, order);
  StartedNodes all = running_nodes(directory), joined;
  or_end(joined, [&] {
    start_dagd(order, joined.emplace_back());
    wait_until_seen(joined, known.size() + 1);
    all.push_back(joined.front());
    write_cluster(directory, all);
  });
  if (options.json) {
    std::cout << json_line({{"address", joined.front().address}, {"nodes", started_json(joined)}});
  } else {
    std::cout << "n" << joined.front().id << " at " << joined.front().address << '\n';
  }
  std::cerr << known.size() + 1 << " nodes are up\n";
  return exit_ok;
}

// ---- down

/// Asks a node to end; one that does not listen gets SIGTERM.
void ask_to_end(const StartedNode& node) {
  try {
    detail::connect(node.address)->shutdown();
  } catch (const Failure&) {
    if (is_dagd(node.pid)) kill(node.pid, SIGTERM);
  }
}

/// The nodes that still run after the time.
StartedNodes left_after(StartedNodes nodes, Clock::duration limit) {
  const auto deadline = Clock::now() + limit;
  for (;;) {
    std::erase_if(nodes, [](const StartedNode& node) { return !is_dagd(node.pid); });
    if (nodes.empty() || Clock::now() > deadline) return nodes;
    pause_for(looks_for_nodes_every);
  }
}

int down(const Options& options) {
  block_signals();
  const std::string directory = options.state_directory();
  const ClusterLock lock(directory);
  const StartedNodes nodes = running_nodes(directory);
  for (const StartedNode& node : nodes) ask_to_end(node);
  const StartedNodes stubborn = left_after(nodes, end_within);
  for (const StartedNode& node : stubborn) {
    if (!is_dagd(node.pid)) continue;
    std::cerr << "dag: n" << node.id << " did not end within 5 s: killed\n";
    kill(node.pid, SIGKILL);
  }
  if (!left_after(stubborn, end_within).empty()) {
    throw Failure({ErrorCode::internal, "a node cannot be killed", "does its process wait for a disk?"});
  }
  remove_cluster(directory);
  if (options.json) {
    std::cout << json_line({{"ended", started_json(nodes)}, {"killed", started_json(stubborn)}});
  }
  if (nodes.empty()) {
    std::cerr << "no cluster is up\n";
  } else {
    std::cerr << nodes.size() << (nodes.size() == 1 ? " node has" : " nodes have") << " ended\n";
    if (std::filesystem::exists(directory + "/n" + std::to_string(nodes.front().id) + "/journal"))
      std::cerr << "History is kept until the next `dag up`: dag view " << directory << '\n';
  }
  return exit_ok;
}

}  // namespace

void add_up(CLI::App& app, Chosen& chosen) {
  auto* ups = app.add_subcommand("up", "start a cluster on this machine");
  const auto options_of_up = add_options(*ups, false);
  const auto flags_of_up = add_node_flags(*ups);
  const auto count = std::make_shared<std::uint32_t>(1);
  ups->add_option("--nodes", *count, "number of nodes; they divide the cores")
      ->capture_default_str()
      ->check(CLI::Range(1u, nodes_max));
  const auto asked = std::make_shared<AddressesAsked>();
  ups->add_option(
         "--listen", asked->listen,
         "HOST[:PORT] where node 0 listens; the other nodes take the next ports (default: any ports)")
      ->capture_default_str();
  ups->add_option("--http", asked->http,
                  "HOST[:PORT] where node 0 serves HTTP; the other nodes take the next ports; off: no HTTP");
  ups->add_option("--port-base", asked->port_base,
                  "first port of all nodes: each takes two, to listen and for HTTP")
      ->check(CLI::Range(1u, 65535u));
  ups->footer(
      "Prints a line for the shell: eval \"$(dag up)\". Other commands of this user find the cluster without "
      "it.\n"
      "With --data, nodes take the same ports at the next start if these are free.");
  ups->callback([=, &chosen] { chosen = [=] { return up(*options_of_up, *flags_of_up, *asked, *count); }; });

  auto* joins = app.add_subcommand("join", "add a node on this machine to a cluster that is up");
  const auto options_of_join = add_options(*joins, false);
  const auto flags_of_join = add_node_flags(*joins);
  const auto order = std::make_shared<DagdOrder>();
  joins->add_option("address", order->peers, "HOST:PORT of a node of the cluster")->required();
  joins
      ->add_option("--listen", order->listen,
                   "HOST[:PORT] where the node listens; other hosts must reach it there")
      ->capture_default_str();
  joins->add_option("--http", order->http,
                    "HOST:PORT where the node serves HTTP, or off (default: by its settings)");
  joins->add_option("--share", order->share, "the node's share of this machine's cores, as RANK/SIZE")
      ->capture_default_str();
  joins->callback([=, &chosen] { chosen = [=] { return join(*options_of_join, *flags_of_join, *order); }; });

  auto* downs = app.add_subcommand("down", "end the nodes that `dag up` and `dag join` started here");
  const auto options_of_down = add_options(*downs, false);
  downs->callback([=, &chosen] { chosen = [=] { return down(*options_of_down); }; });
}

}  // namespace dag::tool
