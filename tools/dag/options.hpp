#pragma once
// Shared by the commands that speak to a cluster: its address, and the form of their output.

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libdag/client/cluster.hpp"
#include "tools/dag/cluster/cluster_file.hpp"

namespace dag::tool {

struct Options {
  std::string address;
  std::string state_dir;
  bool json = false;
  bool verbose = false;

  /// --state-dir, DAG_STATE_DIR, or the default.
  std::string state_directory() const;
};
using SharedOptions = std::shared_ptr<Options>;

/// --json, --verbose, --state-dir; and --address, unless the command starts or ends nodes.
SharedOptions add_options(CLI::App& command, bool with_address = true);

using detail::choose_address;
using detail::found_text;
using detail::FoundAddress;

/// The cluster's address; throws Failure(peer_unreachable) with a hint without one. Printed with --verbose.
std::string address_of(const Options& options);
/// The same, but empty when there is none.
std::optional<FoundAddress> cluster_of(const Options& options);
std::unique_ptr<detail::Cluster> connect(const Options& options);

/// --patience of a command that goes on asking.
void add_patience(CLI::App& command, double& seconds);

/// A connection to the node that the job was submitted to, or to another one.
std::unique_ptr<detail::Cluster> connect_for(const Options& options, JobId job);
/// Throws Failure(job_unknown).
JobInfo info_of(detail::Cluster& cluster, JobId job);

/// A value as text of a terminal: no control characters, whatever a user has named a job.
std::string shown(std::string text);

}  // namespace dag::tool
