#include "tools/dag/options.hpp"

#include <algorithm>
#include <iostream>

#include "tools/dag/durations.hpp"

namespace dag::tool {
std::string Options::state_directory() const {
  return state_dir.empty() ? detail::state_dir_of_user() : state_dir;
}

SharedOptions add_options(CLI::App& command, bool with_address) {
  auto options = std::make_shared<Options>();
  if (with_address) {
    command.add_option("--address", options->address,
                       "HOST:PORT of a node (default: DAG_ADDRESS, then the cluster that `dag up` started)");
  }
  command.add_option(
      "--state-dir", options->state_dir,
      "directory of the address file and of logs (default: DAG_STATE_DIR, then one of this user)");
  command.add_flag("--json", options->json, "print JSON");
  command.add_flag("-v,--verbose", options->verbose, "print more messages on stderr");
  return options;
}

std::optional<FoundAddress> cluster_of(const Options& options) {
  return detail::find_cluster(options.address, options.state_directory());
}

std::string address_of(const Options& options) {
  const auto found = cluster_of(options);
  if (!found) {
    throw Failure({ErrorCode::peer_unreachable, "no cluster is known",
                   "`dag up` starts one on this machine; --address HOST:PORT or DAG_ADDRESS names another"});
  }
  if (options.verbose) std::cerr << "dag: at " << found->address << ", by " << found->origin << '\n';
  return found->address;
}

std::unique_ptr<detail::Cluster> connect(const Options& options) {
  return detail::connect(address_of(options));
}

void add_patience(CLI::App& command, double& seconds) {
  takes_duration(command.add_option("--patience", seconds,
                                    "how long to try again when the cluster does not answer (30s)"));
}

std::unique_ptr<detail::Cluster> connect_for(const Options& options, JobId job) {
  auto cluster = connect(options);
  const std::vector<NodeInfo> nodes = cluster->nodes();
  const auto found = std::find_if(nodes.begin(), nodes.end(), [job](const NodeInfo& node) {
    return node.life.process.value == job.node() && is_up(node.state);
  });
  if (found == nodes.end() || found == nodes.begin()) return cluster;
  return detail::connect(found->endpoint.control);
}

JobInfo info_of(detail::Cluster& cluster, JobId job) {
  std::vector<JobInfo> jobs = cluster.jobs(job);
  if (jobs.empty()) throw Failure({ErrorCode::job_unknown, "no such job: " + to_string(job)});
  return std::move(jobs.front());
}

std::string shown(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return text;
}

}  // namespace dag::tool
