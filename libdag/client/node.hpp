#pragma once
// The client's view of a node: options, and a function that nodes/ defines. Declared here so that the client
// layer needs no header of the layers above; libdag.so links all of them.

#include <cstdint>
#include <memory>
#include <string>

#include "libdag/client/client.hpp"

namespace dag {

struct NodeOptions {
  /// HOST[:PORT] of a node of the shared cluster that runs the job. Empty: the user's cluster
  /// (user_cluster.hpp), else this process or the processes of `dag run`.
  std::string address = {};
  /// Looks for no cluster.
  bool here = false;
  /// Kernels run in worker processes, in whatever form.
  bool isolate = false;
  /// Jobs run in worker processes as well, and the outputs are compared.
  bool check = false;
  /// Threads that run kernels; 0: as many as this node's share of the cores.
  std::uint32_t lanes = 0;
  /// How far a job may spawn ahead of its record; 0: the default in libdag/job/spawn_credit.hpp.
  std::uint64_t spawn_tasks = 0, spawn_bytes = 0;
  /// Processes of a host share rings in memory; without rings all messages go through sockets.
  bool rings = true;
  /// off, error, warn, info or debug; to stderr.
  std::string log_level = "warn";
  /// Tests only: true makes every task supervised, not just those that need it.
  bool supervise_all = false;
};

/// Starts a node in this process: its actors, lanes and links, seen as a client. They end with the object.
/// Throws Failure when it cannot.
std::unique_ptr<detail::Client> start_node(const NodeOptions& options);

}  // namespace dag
